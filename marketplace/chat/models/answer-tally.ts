import { estimatedTokens } from './tokens.ts'

type Fields = Readonly<Record<string, unknown>>

/** Tokens of a call as counted by the backend. */
export interface TokenCounts {
  readonly promptTokens: number
  readonly completionTokens: number
}

/** Pieces of one word must be counted together, so text is collected up to this length. */
const PENDING_CHARS_MAX = 16_384
/** Base64 of sound and images is far longer than the tokens that a model used for them. */
const BINARY_CHARS_PER_TOKEN = 1_000
const BINARY: ReadonlySet<string> = new Set(['data', 'b64_json'])
const DATA_URL_HEAD_MAX = 256
/** Fields that frame an answer or that servers add. No model wrote them. */
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
/** Fields with reasoning. Servers often send the same reasoning under several names. */
const THOUGHTS = /^(reasoning|thinking|thought)/

/**
 * Counts the tokens of an answer while it comes, in any field: text, refusals, reasoning, tool calls, transcripts. It
 * counts what came, even if the answer is unfinished, unusable or unwanted.
 */
export class AnswerTally {
  #counts: TokenCounts | null = null
  #tokens = 0
  #place = ''
  #pending = ''
  #began = false
  #isTooLong = false
  #longest = Number.POSITIVE_INFINITY

  get began(): boolean {
    return this.#began
  }

  /** Null if the backend sent none. */
  get counts(): TokenCounts | null {
    return this.#counts
  }

  /** Whether the answer was longer than what is read. */
  get isTooLong(): boolean {
    return this.#isTooLong
  }

  /** Most tokens that the backend was asked for. Infinite until {@link askedFor} is called. */
  get longest(): number {
    return this.#longest
  }

  get tokens(): number {
    this.#countPending()
    return Math.ceil(this.#tokens)
  }

  /** `said` is a piece of an answer, or a whole message. */
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

  count(counts: TokenCounts): void {
    this.#began = true
    this.#counts = counts
  }

  askedFor(tokens: number): void {
    this.#longest = tokens
  }

  promptRead(): void {
    this.#began = true
  }

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

/** A model could be made to begin any text like a data URL, so only the field `url` is judged by its beginning. */
function isBinary(key: string, text: string): boolean {
  if (key !== 'url') return BINARY.has(key)
  const head = text.slice(0, DATA_URL_HEAD_MAX).toLowerCase()
  return head.startsWith('data:') && head.slice(0, head.indexOf(',') + 1).endsWith(';base64,')
}

/** Later pieces continue the entry with the same `index`. */
function numberOf(value: unknown): unknown {
  return (value as { readonly index?: unknown } | null)?.index
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value) ?? '').length
}
