const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const BRACKET = 0x5b
const BRACE = 0x7b
/**
 * Texts are read at gigabytes a second, lists and objects at a few millions a second: a long body is bounded by how many values
 * it has. A conversation of two thousand messages has some ten thousand.
 */
const VALUES_MAX = 100_000
/** Characters outside of texts, and quotes within them: what has more is neither prose nor pictures. */
const STEPS_MAX = 2_097_152
/** A shorter text is parsed soon, whatever is in it. */
const SHORT_CHARS = 262_144

/**
 * Whether a text of JSON can be parsed without holding everything else up: it is short, or has no more than so many values. What is
 * no JSON may be called either.
 */
export function isQuickToParse(text: string, valuesMax = VALUES_MAX): boolean {
  return text.length <= SHORT_CHARS || new Scan(text, valuesMax).isQuick()
}

/** Looks at a text of JSON from its beginning to its end, or until it is too much. */
class Scan {
  readonly #text: string
  readonly #valuesMax: number
  #values = 0
  #steps = 0

  constructor(text: string, valuesMax: number) {
    this.#text = text
    this.#valuesMax = valuesMax
  }

  isQuick(): boolean {
    const text = this.#text
    for (let at = 0; at >= 0 && at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === COMMA || code === BRACKET || code === BRACE) this.#values += 1
      else if (code === QUOTE) at = this.#endOfString(at + 1)
      this.#steps += 1
      if (this.#values > this.#valuesMax || this.#steps > STEPS_MAX) return false
    }
    return true
  }

  /** Index of the quote that ends a string; that of the end where none does. */
  #endOfString(from: number): number {
    const text = this.#text
    for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
      let first = end
      while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first -= 1
      if ((end - first) % 2 === 0) return end
      this.#steps += 1
      if (this.#steps > STEPS_MAX) return end
    }
    return text.length
  }
}
