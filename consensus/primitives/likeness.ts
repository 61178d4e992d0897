/** Characters of a mistyped name that are compared. The name is untrusted, and a long one would take long. */
const TYPED_CHARS_MAX = 64
const LISTED_MAX = 12
/** Up to this share of changed letters, a word counts as a typo of another word. */
const TYPO = 0.4

/** Nearest first. The mistyped word may be one word of a longer name. */
export function likest(mistyped: string, names: readonly string[], most: number): readonly string[] {
  const typed = mistyped.slice(0, TYPED_CHARS_MAX)
  const far = new Map(names.map((name) => [name, remoteness(typed, name)]))
  return names.toSorted((a, b) => (far.get(a) as number) - (far.get(b) as number)).slice(0, most)
}

/** One letter may be wrong, or a third of the name; case does not matter. */
export function meantName(mistyped: string, names: readonly string[]): string | undefined {
  const typed = mistyped.slice(0, TYPED_CHARS_MAX).toLowerCase()
  const [near] = names
    .map((name) => ({ name, far: distance(typed, name.toLowerCase()) }))
    .filter(({ name, far }) => far <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.far - b.far)
  return near?.name
}

/** Says that there is no such `what` (an option, a member, a word), and suggests the name that may have been meant. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const absent = `there is no ${what} ${name.slice(0, TYPED_CHARS_MAX)}`
  const meant = meantName(name, known)
  if (meant !== undefined) return `${absent}; did you mean ${meant}?`
  return known.length === 0 || known.length > LISTED_MAX ? absent : `${absent}; there are ${known.join(', ')}`
}

/** How far a name is from the typed one: 0 if the name or its first word is the same, 1 if nothing of it is kept. */
function remoteness(mistyped: string, name: string): number {
  const whole = share(mistyped, name)
  const typed = mistyped.split(' ')
  if (typed.length > 1) return whole
  // A close match to one word is a better guess than a short name that is close by chance.
  const words = name.split(' ').map((word, i) => share(mistyped, word) + i / 100)
  return Math.min(whole, ...words.filter((far) => far <= TYPO))
}

/** The share of the longer text that must change. It is halved if `to` begins with `from`: missing ends are no typos. */
function share(from: string, to: string): number {
  const changed = distance(from, to) / Math.max(from.length, to.length, 1)
  return from.length > 1 && to.startsWith(from) ? changed / 2 : changed
}

/** Edit distance (Damerau 1964): letters to insert, delete, change, or swap with the next one. */
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
