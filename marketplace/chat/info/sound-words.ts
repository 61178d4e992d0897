const SAID_CHARS_MAX = 3_000
const END_MARKS = /[.,:;!?]+$/
const URLS = /\bhttps?:\/\/[^\s<>"'`()[\]“”]+/giu
/** Dots within a word do not count, as in `stream_options.include_usage`. */
const HOSTS =
  /(?<![\p{L}\p{N}_.-])(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?![\p{L}\p{N}_-])(?::\d+)?(?:\/[^\s<>"'`()[\]“”]*)?|(?<![\p{N}.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:\/[^\s<>"'`()[\]“”]*)?/giu
const PATHS = /(?<![\p{L}\p{N}_/.])\/[\p{L}\p{N}_.{][^\s<>"'`()[\]“”]*/giu
/** A number with separators, and the word that it belongs to: `1,000`, `0.25`, `model-2`, `x402`. */
const NUMBERS = /(?:\p{L}[\p{L}_]*-?)?\p{Nd}+(?:[.,]\p{Nd}+)*/giu
const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/
/** Numbers of list items, which the model may choose. */
const LIST_MARKS = /^[ \t]*\d{1,2}[.)][ \t]+/gm
const SPACED_NAME = /\bmodel (?=\d)/giu

/**
 * Whether an answer of a model may be shown: it says something, and every address and number in it occurs in the given
 * texts.
 */
export function isSound(said: string, given: readonly string[]): boolean {
  if (said === '' || said.length > SAID_CHARS_MAX || /\bUNKNOWN\b/.test(said)) return false
  const known = new Set(given.flatMap((text) => namesIn(text)).flatMap(partsOf))
  return namesIn(said.replace(LIST_MARKS, '')).every((name) => known.has(name))
}

/** Digits within an address do not count again. */
function namesIn(text: string): readonly string[] {
  const names: string[] = []
  let rest = text.toLowerCase().replace(SPACED_NAME, 'model-')
  for (const pattern of [URLS, HOSTS, PATHS])
    rest = rest.replace(pattern, (name) => {
      names.push(trimmed(name))
      return ' '
    })
  for (const [name] of rest.matchAll(NUMBERS)) names.push(GROUPED.test(name) ? name.replaceAll(',', '') : name)
  return names
}

/** With and without scheme, the host, and the path. */
function partsOf(name: string): readonly string[] {
  if (!/^https?:\/\//.test(name) || !URL.canParse(name)) return [name]
  const { origin, host, hostname } = new URL(name)
  const path = name.slice(name.indexOf(host) + host.length)
  return [name, name.replace(/^https?:\/\//, ''), origin, host, hostname, trimmed(path)]
}

function trimmed(address: string): string {
  return address.replace(END_MARKS, '').replace(/\/$/, '')
}
