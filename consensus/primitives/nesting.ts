/** A loop, since even a small body can be nested too deep for recursion. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  const left: { readonly value: unknown; readonly level: number }[] = [{ value, level: 0 }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value: outer, level } = next
    if (outer === null || typeof outer !== 'object') continue
    if (level > levels) return true
    for (const inner of Array.isArray(outer) ? outer : Object.values(outer))
      if (inner !== null && typeof inner === 'object') left.push({ value: inner, level: level + 1 })
  }
  return false
}
