/** Characters that are looked at of the words of a model. */
const SAID_CHARS_MAX = 3_000
/** Marks of sentences at the end of an address. */
const END_MARKS = /[.,:;!?]+$/
const URLS = /\bhttps?:\/\/[^\s<>"'`()[\]“”]+/giu
/** Names of hosts with a port and a path where they have some: not those within a word, as in `stream_options.include_usage`. */
const HOSTS =
  /(?<![\p{L}\p{N}_.-])(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?![\p{L}\p{N}_-])(?::\d+)?(?:\/[^\s<>"'`()[\]“”]*)?|(?<![\p{N}.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:\/[^\s<>"'`()[\]“”]*)?/giu
const PATHS = /(?<![\p{L}\p{N}_/.])\/[\p{L}\p{N}_.{][^\s<>"'`()[\]“”]*/giu
/** A number with its separators, and with the word that it is a part of: `1,000`, `0.25`, `model-2`, `x402`. */
const NUMBERS = /(?:\p{L}[\p{L}_]*-?)?\p{Nd}+(?:[.,]\p{Nd}+)*/giu
const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/
/** Numbers of the lines of a list are the model's own. */
const LIST_MARKS = /^[ \t]*\d{1,2}[.)][ \t]+/gm
const SPACED_NAME = /\bmodel (?=\d)/giu

/**
 * Whether the words of a model may be handed on: they say something, and name no address and no number that the given texts do not
 * have as a whole.
 */
export function isSound(said: string, given: readonly string[]): boolean {
  if (said === '' || said.length > SAID_CHARS_MAX || /\bUNKNOWN\b/.test(said)) return false
  const known = new Set(given.flatMap((text) => namesIn(text)).flatMap(partsOf))
  return namesIn(said.replace(LIST_MARKS, '')).every((name) => known.has(name))
}

/** Addresses and numbers in a text, each as a whole: what is a part of an address is no number. */
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

/** An address under every name that it goes by: with its scheme and without, its host, and its path. */
function partsOf(name: string): readonly string[] {
  if (!/^https?:\/\//.test(name) || !URL.canParse(name)) return [name]
  const { origin, host, hostname } = new URL(name)
  const path = name.slice(name.indexOf(host) + host.length)
  return [name, name.replace(/^https?:\/\//, ''), origin, host, hostname, trimmed(path)]
}

function trimmed(address: string): string {
  return address.replace(END_MARKS, '').replace(/\/$/, '')
}
