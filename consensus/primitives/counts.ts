/** Returns the new count. A key at zero is removed, so the map does not grow without bound. */
export function addTo<K>(counts: Map<K, number>, key: K, by: number): number {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
  return count
}
