import { estimatedTokens } from './tokens.ts'

type Fields = Readonly<Record<string, unknown>>

/** Tokens of a call as the backend counted them. */
export interface TokenCounts {
  readonly promptTokens: number
  readonly completionTokens: number
}

/** Text that is kept before it is counted: pieces of one word are counted as one. */
const PENDING_CHARS_MAX = 16_384
/** Sound and pictures come in base64, far longer than what a model needed for them. */
const BINARY_CHARS_PER_TOKEN = 1_000
/** Names that hold base64 and no words. */
const BINARY: ReadonlySet<string> = new Set(['data', 'b64_json'])
/** Longest beginning of a data URL, up to its base64. */
const DATA_URL_HEAD_MAX = 256
/** What frames an answer, and what servers add to it: no model made it. */
const FRAME: ReadonlySet<string> = new Set([
  'role',
  'id',
  'index',
  'type',
  'status',
  'format',
  'expires_at',
  'annotations',
])
/** Names under which servers send the same thoughts, often several of them at once. */
const THOUGHTS = /^(reasoning|thinking|thought)/

/**
 * Counts what a model says while it comes, whatever field it is in: text, refusals, thoughts, calls of tools, transcripts. What came
 * counts, whether the answer is finished, usable, or asked for.
 */
export class AnswerTally {
  #counts: TokenCounts | null = null
  #tokens = 0
  #place = ''
  #pending = ''
  #began = false
  #isTooLong = false
  #longest = Number.POSITIVE_INFINITY

  /** Whether anything came of an answer, or went into one. */
  get began(): boolean {
    return this.#began
  }

  /** What the backend says that was used, its last word; null where it said nothing. */
  get counts(): TokenCounts | null {
    return this.#counts
  }

  /** Whether more came than is read: then the longest answer that was asked for counts at least. */
  get isTooLong(): boolean {
    return this.#isTooLong
  }

  /** Tokens of the longest answer that the backend was asked for, where that is less than was wanted. */
  get longest(): number {
    return this.#longest
  }

  /** About how many tokens came. */
  get tokens(): number {
    this.#countPending()
    return Math.ceil(this.#tokens)
  }

  /** Takes a piece of an answer, or a whole message. */
  take(said: Fields): void {
    this.#began = true
    const thoughts = Object.entries(said).filter(([key]) => THOUGHTS.test(key))
    const longest = thoughts.reduce<number>((most, [, value]) => Math.max(most, lengthOf(value)), 0)
    const isRepeated = (key: string): boolean =>
      thoughts.length > 1 &&
      THOUGHTS.test(key) &&
      key !== thoughts.find(([, value]) => lengthOf(value) === longest)?.[0]
    for (const [key, value] of Object.entries(said)) if (!isRepeated(key)) this.#takeValue(key, value, key)
  }

  /** Takes what the backend counted. */
  count(counts: TokenCounts): void {
    this.#began = true
    this.#counts = counts
  }

  /** Notes the longest answer that the backend is asked for. */
  askedFor(tokens: number): void {
    this.#longest = tokens
  }

  /** Notes that the prompt was read, whatever comes of it. */
  promptRead(): void {
    this.#began = true
  }

  /** Notes that more came than is read. */
  tooLong(): void {
    this.#began = true
    this.#isTooLong = true
  }

  #takeValue(key: string, value: unknown, place: string): void {
    if (FRAME.has(key)) return
    if (typeof value === 'string') this.#takeText(key, value, place)
    else if (key === 'arguments' && value !== null && value !== undefined)
      this.#takeText(key, JSON.stringify(value) ?? '', place)
    else if (typeof value === 'number') this.#takeText(key, String(value), place)
    else if (Array.isArray(value))
      for (const [i, one] of value.entries()) this.#takeValue('', one, `${place}.${numberOf(one) ?? i}`)
    else if (value !== null && typeof value === 'object')
      for (const [name, one] of Object.entries(value)) this.#takeValue(name, one, `${place}.${name}`)
  }

  #takeText(key: string, text: string, place: string): void {
    if (isBinary(key, text)) {
      this.#tokens += text.length / BINARY_CHARS_PER_TOKEN
      return
    }
    if (place !== this.#place || this.#pending.length > PENDING_CHARS_MAX) this.#countPending()
    this.#place = place
    this.#pending += text
  }

  #countPending(): void {
    if (this.#pending === '') return
    this.#tokens += estimatedTokens(this.#pending)
    this.#pending = ''
  }
}

/** By its name first: a model can be made to begin its words as data do. */
function isBinary(key: string, text: string): boolean {
  if (key !== 'url') return BINARY.has(key)
  const head = text.slice(0, DATA_URL_HEAD_MAX).toLowerCase()
  return head.startsWith('data:') && head.slice(0, head.indexOf(',') + 1).endsWith(';base64,')
}

/** Number by which a piece of a list is continued. */
function numberOf(value: unknown): unknown {
  return (value as { readonly index?: unknown } | null)?.index
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value) ?? '').length
}
