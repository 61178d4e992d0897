/**
 * Adds to the count of a key and returns the new count. A key at zero is removed, so the map cannot grow without bound.
 */
export function addTo<K>(counts: Map<K, number>, key: K, by: number): number {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
  return count
}
