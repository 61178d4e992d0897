/** Letters of a mistyped name that are looked at: it is a stranger's, and no name of ours is longer. */
const TYPED_CHARS_MAX = 64
/** Names that are listed where none is near: more would not be read. */
const LISTED_MAX = 12
/** Where a typo of one word is still likelier than another word. */
const TYPO = 0.4

/** The names that are most like a mistyped one, nearest first; of a name of several words each may be meant. */
export function likest(mistyped: string, names: readonly string[], most: number): readonly string[] {
  const typed = mistyped.slice(0, TYPED_CHARS_MAX)
  const far = new Map(names.map((name) => [name, remoteness(typed, name)]))
  return names.toSorted((a, b) => (far.get(a) as number) - (far.get(b) as number)).slice(0, most)
}

/** The name that is meant, as far as one can tell: one of three letters may be wrong, letter case counts for nothing; or undefined. */
export function meantName(mistyped: string, names: readonly string[]): string | undefined {
  const typed = mistyped.slice(0, TYPED_CHARS_MAX).toLowerCase()
  const [near] = names
    .map((name) => ({ name, far: distance(typed, name.toLowerCase()) }))
    .filter(({ name, far }) => far <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.far - b.far)
  return near?.name
}

/** Says that there is no such option, member or word, as `what` calls it, and which one may have been meant. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const absent = `there is no ${what} ${name.slice(0, TYPED_CHARS_MAX)}`
  const meant = meantName(name, known)
  if (meant !== undefined) return `${absent}; did you mean ${meant}?`
  return known.length === 0 || known.length > LISTED_MAX ? absent : `${absent}; there are ${known.join(', ')}`
}

/** How unlike a name is: 0 for the same, 1 and more for nothing in common. */
function remoteness(mistyped: string, name: string): number {
  const whole = share(mistyped, name)
  const typed = mistyped.split(' ')
  if (typed.length > 1) return whole
  // A word of a name that is hit well is a better guess than a name that is as short by chance.
  const words = name.split(' ').map((word, i) => share(mistyped, word) + i / 100)
  return Math.min(whole, ...words.filter((far) => far <= TYPO))
}

/** The part of the longer text that has to be changed; a beginning is less far than its missing letters say. */
function share(from: string, to: string): number {
  const changed = distance(from, to) / Math.max(from.length, to.length, 1)
  return from.length > 1 && to.startsWith(from) ? changed / 2 : changed
}

/** Letters to be put in, left out, changed or swapped with the next to make one text of another (Damerau 1964). */
function distance(from: string, to: string): number {
  let [before, row]: [readonly number[], readonly number[]] = [[], Array.from({ length: to.length + 1 }, (_, i) => i)]
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const changed = (row[j] as number) + (from[i] === to[j] ? 0 : 1)
      const isSwapped = j > 0 && from[i] === to[j - 1] && from[i - 1] === to[j]
      const swapped = isSwapped ? (before[j - 1] as number) + 1 : changed
      next.push(Math.min(changed, swapped, (row[j + 1] as number) + 1, (next[j] as number) + 1))
    }
    ;[before, row] = [row, next]
  }
  return row.at(-1) as number
}
