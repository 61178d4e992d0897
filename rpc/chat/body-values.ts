const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET = 0x5b
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d
/**
 * `JSON.parse` reads texts at gigabytes a second, but lists and objects at a few million a second. So a long body is
 * bounded by its number of values. A conversation of ten thousand messages has about this many.
 */
export const VALUES_MAX = 30_000
/** Maximum of different names. Names cost more than values: a hundred thousand take 90 ms. A conversation has some hundreds. */
export const NAMES_MAX = 2_000
/**
 * Most characters of a name. From 16,384 on V8 hashes texts by their length alone. A thousand names of one such length are
 * all compared with each other, which takes seconds.
 */
export const NAME_CHARS_MAX = 1_024
/** Most steps of a scan: characters outside of strings, and backslashes before quotes. Prose and pictures need fewer. */
const STEPS_MAX = 2_097_152
/** Most steps for each allowed value, if few values are allowed. */
const VALUE_STEPS = 64
/** Characters of the shortest member of an object. */
const MEMBER_CHARS = 4

/**
 * Whether `JSON.parse` of a text is quick enough not to block the process: it has few values and few different names,
 * none of them very long. The text need not be JSON.
 */
export function isQuickToParse(text: string, valuesMax = VALUES_MAX, namesMax = NAMES_MAX): boolean {
  return text.length <= Math.min(valuesMax, namesMax * MEMBER_CHARS) || new Scan(text, valuesMax, namesMax).isQuick()
}

class Scan {
  readonly #text: string
  readonly #valuesMax: number
  readonly #namesMax: number
  readonly #stepsMax: number
  readonly #names = new Set<string>()
  #values = 0
  #steps = 0

  constructor(text: string, valuesMax: number, namesMax: number) {
    this.#text = text
    this.#valuesMax = valuesMax
    this.#namesMax = namesMax
    this.#stepsMax = Math.min(STEPS_MAX, valuesMax * VALUE_STEPS)
  }

  isQuick(): boolean {
    const text = this.#text
    let last = ''
    for (let at = 0; at >= 0 && at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === COMMA || (isOpening(code) && !isClosing(text.charCodeAt(at + 1)))) this.#values += 1
      else if (code === COLON) {
        if (last.length > NAME_CHARS_MAX) return false
        this.#names.add(last)
      } else if (code === QUOTE) {
        const from = at + 1
        at = this.#endOfString(from)
        last = text.slice(from, at)
      }
      this.#steps += 1
      if (this.#values > this.#valuesMax || this.#names.size > this.#namesMax || this.#steps > this.#stepsMax)
        return false
    }
    return true
  }

  /** Index of the quote that ends a string, or the text's length without one. */
  #endOfString(from: number): number {
    const text = this.#text
    for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
      let first = end
      while (first > from && text.charCodeAt(first - 1) === BACKSLASH) {
        first -= 1
        this.#steps += 1
        if (this.#steps > this.#stepsMax) return end
      }
      if ((end - first) % 2 === 0) return end
    }
    return text.length
  }
}

function isOpening(code: number): boolean {
  return code === BRACKET || code === BRACE
}

function isClosing(code: number): boolean {
  return code === BRACKET_END || code === BRACE_END
}
