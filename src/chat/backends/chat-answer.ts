import { type FaultDetail, fault } from '../../../consensus/primitives/fault.ts'
import { type Fields, objectOf } from '../../../consensus/primitives/fields.ts'
import { isDeeperThan } from '../../../consensus/primitives/nesting.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { AnswerTally, TokenCounts } from '../../../marketplace/chat/models/answer-tally.ts'
import type { ChatAnswer } from '../../../marketplace/chat/models/backend.ts'
import { isQuickToParse } from '../../../rpc/chat/body-values.ts'

/** An object of JSON. */

/** A piece of an answer. */
export interface AnswerPiece {
  readonly delta: Fields
  /** How likely its tokens were; undefined where that did not come. */
  readonly logprobs: unknown
}

/** Tokens that one question can have: ten times the largest windows there are. What is more was not counted. */
const COUNT_MAX = 100_000_000
/** Values of a long text of JSON: a thousand tokens with the likelihood of twenty others each are some hundred thousand. */
const VALUES_MAX = 200_000
/** Longest text that an answer may have. */
const TEXT_CHARS_MAX = 1_000_000
const REASON_CHARS_MAX = 160
const MODEL_CHARS_MAX = 100
const TOOL_CALLS_MAX = 128
/** Answers are written again for whoever asked, which ends with an error where things are in things without an end. */
const LEVELS_MAX = 64
const TOO_DEEP = `it has more than ${LEVELS_MAX} levels`
const TOO_LONG = 'it is too long'

/** The object that a text of JSON holds; `too-much` where reading it would hold others up, `none` where it holds none. */
export function readJson(text: string): Fields | 'too-much' | 'none' {
  // A long page in place of an answer is none.
  if (!/^\s*\{/.test(text)) return 'none'
  if (!isQuickToParse(text, VALUES_MAX)) return 'too-much'
  try {
    return objectOf(JSON.parse(text)) ?? 'none'
  } catch {
    return 'none'
  }
}

/** The object that a text of JSON holds; null where it holds none that can be read. */
export function jsonIn(text: string): Fields | null {
  const read = readJson(text)
  return typeof read === 'string' ? null : read
}

/** Detail of a fault that a question can bring about: callers could else have a backend left alone for everybody. */
export const OF_QUESTION = { ofQuestion: true } as const

/** The fault of an answer that cannot be used. */
export function unusableAnswer(backend: string, reason: string, detail: FaultDetail = {}): Result<never> {
  return fail(fault('model/answer', { backend, reason: reason.slice(0, REASON_CHARS_MAX), ...detail }))
}

/** What is said of keys is not repeated: it may hold ours. */
const OF_KEYS = /key|token|auth|credential|secret/i

/**
 * The fault of an error object, as OpenAI-compatible servers put it into a body or into a stream: its code is a status where it is
 * a number.
 */
export function saidError(backend: string, error: unknown): Result<never> {
  const fields = objectOf(error)
  const said = fields?.message ?? error
  const message = typeof said === 'string' ? said : 'an error without a message'
  const code = numberIn(fields?.code ?? fields?.status)
  const isStatus = Number.isInteger(code) && code >= 400 && code <= 599
  return unusableAnswer(
    backend,
    OF_KEYS.test(message) ? 'an error that has to do with keys or tokens' : message,
    isStatus ? { status: code } : { inShort: 'it is an error' },
  )
}

/** The form of an answer in words, for models that cannot be held to it; null is any JSON object. */
export function formInWords(schema: Fields | null): string {
  if (schema === null) return 'Answer with one JSON object alone, without any other text.'
  return `Answer with JSON alone, without any other text, that follows this JSON schema: ${JSON.stringify(schema)}`
}

/** Puts an answer together from its pieces, or from a whole. */
export class ChatAssembly {
  readonly #backend: string
  readonly #asked: string
  readonly #tally: AnswerTally | undefined
  #message: Record<string, unknown> = {}
  #chars = 0
  #model: string | null = null
  #finishReason: string | null = null
  /** Number of the one answer that was asked for; undefined before its first piece. */
  #index: unknown
  #usage: TokenCounts | null = null
  #toolCalls: Record<string, unknown>[] = []
  readonly #keepsLikelihoods: boolean
  #logprobs: Record<string, unknown> | null = null

  /** `tally` hears of all that comes, other answers than the one that was asked for among it. */
  constructor(backend: string, asked: string, tally?: AnswerTally, keepsLikelihoods = true) {
    this.#keepsLikelihoods = keepsLikelihoods
    this.#backend = backend
    this.#asked = asked
    this.#tally = tally
  }

  /** Why the answer ended; null while it goes on. */
  get finishReason(): string | null {
    return this.#finishReason
  }

  /** Takes a chunk of a stream and gives the piece in it, null where it has none; or the error that it is. */
  takeChunk(chunk: Fields): Result<AnswerPiece | null> {
    if (chunk.error !== undefined && chunk.error !== null) return saidError(this.#backend, chunk.error)
    this.#takeFrame(chunk)
    if (isDeeperThan(LEVELS_MAX, chunk)) return this.tooMuch(TOO_DEEP)
    this.#count(chunk)
    const choice = this.#choiceIn(chunk)
    const delta = objectOf(choice?.delta)
    if (delta !== null && !this.#add(delta)) return unusableAnswer(this.#backend, TOO_LONG, OF_QUESTION)
    const logprobs = this.#finish(choice)
    return ok(delta === null ? null : { delta, logprobs })
  }

  /** Takes a whole answer and gives it as one piece. */
  takeWhole(whole: Fields): Result<AnswerPiece> {
    if (whole.error !== undefined && whole.error !== null) return saidError(this.#backend, whole.error)
    this.#takeFrame(whole)
    if (isDeeperThan(LEVELS_MAX, whole)) return this.tooMuch(TOO_DEEP)
    this.#count(whole)
    const choice = this.#choiceIn(whole)
    const message = objectOf(choice?.message)
    if (message === null) return unusableAnswer(this.#backend, 'it has no message')
    if (!this.#add(message)) return unusableAnswer(this.#backend, TOO_LONG, OF_QUESTION)
    return ok({ delta: message, logprobs: this.#finish(choice) })
  }

  /** The fault of an answer of which more came than is read, and counted piece by piece. */
  tooMuch(reason = TOO_LONG): Result<never> {
    this.#tally?.tooLong()
    return unusableAnswer(this.#backend, reason, OF_QUESTION)
  }

  /** The finished answer. One that was not finished is cut, and one that says nothing is none. */
  end(skipped: number): Result<ChatAnswer> {
    const backend = this.#backend
    if (this.#finishReason === null) return fail(fault('model/cut', { backend }))
    if (this.#finishReason === 'error') return unusableAnswer(backend, 'it ended with an error')
    const { content, refusal } = this.#message
    const text = [content, refusal].find((said) => typeof said === 'string' && said !== '') as string | undefined
    // Without the places that a server left out: whoever reads the list takes each for a call.
    if (this.#toolCalls.length > 0) this.#message.tool_calls = Object.values(this.#toolCalls)
    const isEmpty = (text ?? '').trim() === '' && this.#toolCalls.length === 0
    // A prompt can ask for nothing, be filtered, or leave no room after the thoughts on it.
    if (isEmpty) {
      const inShort = 'it is empty'
      return unusableAnswer(backend, `${inShort} (${this.#finishReason})`, { ...OF_QUESTION, inShort })
    }
    return ok({
      message: this.#message,
      text: text ?? '',
      model: this.#model ?? this.#asked,
      finishReason: this.#finishReason,
      ...(this.#logprobs !== null && { logprobs: this.#logprobs }),
      usage: this.#usage,
      skipped,
    })
  }

  /** Its piece in a chunk. Some servers number from elsewhere than 0; pieces of other answers, which nobody asked for, are left out. */
  #choiceIn({ choices }: Fields): Fields | null {
    if (!Array.isArray(choices)) return null
    this.#index ??= objectOf(choices[0])?.index
    return choices.map(objectOf).find((choice) => (choice?.index ?? this.#index) === this.#index) ?? null
  }

  #takeFrame({ model, usage }: Fields): void {
    if (typeof model === 'string' && model !== '') this.#model = model.slice(0, MODEL_CHARS_MAX)
    const counts = countsOf(usage)
    if (counts === null) return
    this.#usage = counts
    this.#tally?.count(counts)
  }

  /** Counts what is said in a piece or a whole, also where it is not for the caller. */
  #count({ choices }: Fields): void {
    if (this.#tally === undefined || !Array.isArray(choices)) return
    for (const choice of choices.map(objectOf)) {
      const said = objectOf(choice?.delta ?? choice?.message)
      if (said !== null) this.#tally.take(said)
    }
  }

  /** Takes what a choice says beside its text. Of several reasons the first is the one. */
  #finish(choice: Fields | null): unknown {
    const reason = choice?.finish_reason
    if (typeof reason === 'string' && reason !== '') this.#finishReason ??= reason.slice(0, MODEL_CHARS_MAX)
    const logprobs = objectOf(choice?.logprobs)
    if (logprobs === null) return undefined
    if (!this.#keepsLikelihoods) return logprobs
    this.#logprobs ??= {}
    for (const [key, value] of Object.entries(logprobs)) {
      const before = this.#logprobs[key]
      if (Array.isArray(before) && Array.isArray(value)) for (const one of value) before.push(one)
      else this.#logprobs[key] = Array.isArray(value) ? [...value] : value
    }
    return logprobs
  }

  /** Adds the fields of a piece: texts are continued, tool calls by their index, anything else is replaced. */
  #add(piece: Fields): boolean {
    for (const [key, value] of Object.entries(piece)) {
      if (key === 'tool_calls') {
        if (!this.#addToolCalls(value)) return false
      } else if (typeof value === 'string' && key !== 'role') {
        this.#chars += value.length
        if (this.#chars > TEXT_CHARS_MAX) return false
        const before = this.#message[key]
        this.#message[key] = (typeof before === 'string' ? before : '') + value
      } else if (value !== null || this.#message[key] === undefined) this.#message[key] = value
    }
    return true
  }

  #addToolCalls(calls: unknown): boolean {
    for (const call of Array.isArray(calls) ? calls : []) {
      const fields = objectOf(call)
      if (fields === null) continue
      const index = numberIn(fields.index ?? this.#toolCalls.length)
      if (!Number.isInteger(index) || index < 0 || index >= TOOL_CALLS_MAX) return false
      const { index: _, function: named, ...rest } = fields
      const before = this.#toolCalls[index] ?? {}
      const called = objectOf(before.function)
      const more = objectOf(named)
      const added = argumentsIn(more?.arguments)
      const text = `${called?.arguments ?? ''}${added}`
      this.#chars += added.length
      if (this.#chars > TEXT_CHARS_MAX) return false
      this.#toolCalls[index] = { ...before, ...rest, function: { ...called, ...more, arguments: text } }
    }
    return true
  }
}

/** The number that a value is or says; what is neither a number nor a text is none. */
function numberIn(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
}

/** Arguments of a tool: a text of JSON, as which some servers send the object itself. */
function argumentsIn(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function countsOf(usage: unknown): TokenCounts | null {
  const fields = objectOf(usage)
  const [promptTokens, completionTokens] = [fields?.prompt_tokens, fields?.completion_tokens]
  return isCount(promptTokens) && isCount(completionTokens) ? { promptTokens, completionTokens } : null
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= COUNT_MAX
}
