/** The names that are most like a mistyped one, nearest first. */
export function likest(mistyped: string, names: readonly string[], most: number): readonly string[] {
  const far = new Map(names.map((name) => [name, distance(mistyped, name)]))
  return names.toSorted((a, b) => (far.get(a) as number) - (far.get(b) as number)).slice(0, most)
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

/** The name that is meant, as far as one can tell: one of three letters may be wrong, letter case counts for nothing; or undefined. */
export function meantName(mistyped: string, names: readonly string[]): string | undefined {
  const asked = mistyped.toLowerCase()
  const [near] = names
    .map((name) => ({ name, far: distance(asked, name.toLowerCase()) }))
    .filter(({ name, far }) => 3 * far <= Math.max(name.length, 3))
    .sort((a, b) => a.far - b.far)
  return near?.name
}
