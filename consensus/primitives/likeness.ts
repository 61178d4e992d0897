/** Letters of a mistyped name that are looked at: it is a stranger's, and no name of ours is longer. */
const TYPED_CHARS_MAX = 64
/** Names that are listed where none is near: more would not be read. */
const LISTED_MAX = 12

/** The names that are most like a mistyped one, nearest first. */
export function likest(mistyped: string, names: readonly string[], most: number): readonly string[] {
  const far = new Map(names.map((name) => [name, distance(mistyped, name)]))
  return names.toSorted((a, b) => (far.get(a) as number) - (far.get(b) as number)).slice(0, most)
}

/** The name that a mistyped one was meant to be; undefined where none is near. */
export function meantName(mistyped: string, names: readonly string[]): string | undefined {
  const typed = mistyped.slice(0, TYPED_CHARS_MAX)
  const [nearest] = likest(typed, names, 1)
  const same = names.find((name) => name.toLowerCase() === typed.toLowerCase())
  if (same !== undefined || nearest === undefined) return same
  return distance(typed, nearest) <= Math.ceil(nearest.length / 3) ? nearest : undefined
}

/** Says that there is no such option, member or word, as `what` calls it, and which one may have been meant. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const absent = `there is no ${what} ${name.slice(0, TYPED_CHARS_MAX)}`
  const meant = meantName(name, known)
  if (meant !== undefined) return `${absent}; did you mean ${meant}?`
  return known.length === 0 || known.length > LISTED_MAX ? absent : `${absent}; there are ${known.join(', ')}`
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
