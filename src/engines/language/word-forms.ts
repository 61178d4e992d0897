/** Endings of English word forms, longest first, and the endings of their base forms. */
const ENDINGS: readonly (readonly [ending: string, bases: readonly string[]])[] = [
  ['iest', ['y']],
  ['ness', ['']],
  ['ies', ['y']],
  ['ied', ['y']],
  ['ing', ['', 'e']],
  ['ily', ['y']],
  ['est', ['', 'e']],
  ['ly', ['']],
  ['ed', ['', 'e']],
  ['er', ['', 'e']],
  ['es', ['', 'e']],
  ['s', ['']],
]
/** A base with fewer characters is usually an unrelated word. */
const BASE_CHARS_MIN = 4

/** The entry of a word, or else of its base form. */
export function formOf<Value>(list: ReadonlyMap<string, Value>, word: string): Value | undefined {
  return list.get(word) ?? baseForm(list, word)
}

function baseForm<Value>(list: ReadonlyMap<string, Value>, word: string): Value | undefined {
  for (const [ending, bases] of ENDINGS) {
    if (!word.endsWith(ending)) continue
    for (const base of bases) {
      const candidate = word.slice(0, word.length - ending.length) + base
      const value = candidate.length < BASE_CHARS_MIN ? undefined : list.get(candidate)
      if (value !== undefined) return value
    }
  }
  return undefined
}
