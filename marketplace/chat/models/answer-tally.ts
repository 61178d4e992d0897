import { estimatedTokens } from './tokens.ts'

type Fields = Readonly<Record<string, unknown>>

/** Tokens of a call by the backend's count. */
export interface TokenCounts {
  readonly promptTokens: number
  readonly completionTokens: number
}

/** Most text collected before it is counted: pieces of one word must be counted together. */
const PENDING_CHARS_MAX = 16_384
/** Sound and images are sent as base64, which is far longer than the tokens that a model used for them. */
const BINARY_CHARS_PER_TOKEN = 1_000
/** Fields that hold base64. */
const BINARY: ReadonlySet<string> = new Set(['data', 'b64_json'])
/** Longest head of a data URL, before its base64. */
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

  /** Whether anything of an answer came, or its prompt was read. */
  get began(): boolean {
    return this.#began
  }

  /** The last count of the backend. Null if it sent none. */
  get counts(): TokenCounts | null {
    return this.#counts
  }

  /** Whether the answer exceeded what is read. Then the longest requested answer counts at least. */
  get isTooLong(): boolean {
    return this.#isTooLong
  }

  /** Most tokens that the backend was asked for. Infinite until {@link askedFor} is called. */
  get longest(): number {
    return this.#longest
  }

  /** Estimated tokens so far. */
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

  /** Takes the backend's count. */
  count(counts: TokenCounts): void {
    this.#began = true
    this.#counts = counts
  }

  /** Records the longest answer that the backend is asked for. */
  askedFor(tokens: number): void {
    this.#longest = tokens
  }

  /** Records that the model read the prompt. */
  promptRead(): void {
    this.#began = true
  }

  /** Records that the answer exceeded what is read. */
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

/** Decided by the field name, and for `url` also by the head: a model could be made to begin other texts like a data URL. */
function isBinary(key: string, text: string): boolean {
  if (key !== 'url') return BINARY.has(key)
  const head = text.slice(0, DATA_URL_HEAD_MAX).toLowerCase()
  return head.startsWith('data:') && head.slice(0, head.indexOf(',') + 1).endsWith(';base64,')
}

/** The `index` of a list's entry, by which a later piece continues the same entry. Undefined if it has none. */
function numberOf(value: unknown): unknown {
  return (value as { readonly index?: unknown } | null)?.index
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value) ?? '').length
}
