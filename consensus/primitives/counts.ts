/** Adds to the count of a key, and tells the new count; a key whose count is back at zero is forgotten. */
export function addTo<K>(counts: Map<K, number>, key: K, by: number): number {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
  return count
}
