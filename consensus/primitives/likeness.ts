/** Names by how like they are to a mistyped one, nearest first; those alone of which at most `lettersMax` letters would have to change. */
export function likest(
  mistyped: string,
  names: readonly string[],
  lettersMax = Number.POSITIVE_INFINITY,
): readonly string[] {
  const far = new Map(names.map((name) => [name, distance(mistyped, name)]))
  return names
    .filter((name) => (far.get(name) as number) <= lettersMax)
    .toSorted((a, b) => (far.get(a) as number) - (far.get(b) as number))
}

/** Letters to be put in, left out or changed to make one text of another (Levenshtein 1965). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const changed = (row[j] as number) + (letter === to[j] ? 0 : 1)
      next.push(Math.min(changed, (row[j + 1] as number) + 1, (next[j] as number) + 1))
    }
    row = next
  }
  return row.at(-1) as number
}
