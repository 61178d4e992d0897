/** What people call a thing that a command names otherwise. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['price', ['services', 'swap']],
  ['prices', ['services', 'swap']],
  ['quote', ['call', 'swap']],
  ['buy', ['call', 'swap']],
  ['pay', ['call', 'wallet send']],
  ['trade', ['swap']],
  ['exchange', ['swap']],
  ['send', ['wallet send', 'token transfer']],
  ['transfer', ['wallet send', 'token transfer']],
  ['balance', ['wallet balance', 'wallet holdings']],
  ['transaction', ['tx']],
  ['settings', ['config print']],
  ['run', ['start']],
])
/** Where a typo of one word is still likelier than another word. */
const TYPO = 0.4

/** The names that are most like a mistyped one, nearest first; of a name of several words each may be meant. */
export function likest(mistyped: string, names: readonly string[], most: number): readonly string[] {
  const meant = SYNONYMS.get(mistyped.toLowerCase())?.filter((name) => names.includes(name)) ?? []
  if (meant.length > 0) return meant.slice(0, most)
  const far = new Map(names.map((name) => [name, remoteness(mistyped, name)]))
  return names.toSorted((a, b) => (far.get(a) as number) - (far.get(b) as number)).slice(0, most)
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
