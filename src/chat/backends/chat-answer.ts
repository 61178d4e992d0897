import { type FaultDetail, fault } from '../../../consensus/primitives/fault.ts'
import { type Fields, objectOf } from '../../../consensus/primitives/fields.ts'
import { isDeeperThan } from '../../../consensus/primitives/nesting.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { AnswerTally, TokenCounts } from '../../../marketplace/chat/models/answer-tally.ts'
import type { ChatAnswer } from '../../../marketplace/chat/models/backend.ts'
import { isQuickToParse } from '../../../rpc/chat/body-values.ts'

/** A piece of an answer. */
export interface AnswerPiece {
  readonly delta: Fields
  /** Log probabilities of the tokens. */
  readonly logprobs: unknown
}

/** Ten times the largest existing windows: a higher count is wrong. */
const COUNT_MAX = 100_000_000
/** Most JSON values of an answer. `wholeTokensMax` keeps answers with log probabilities below it. */
const VALUES_MAX = 200_000
/** In UTF-16 units, over all fields. */
const TEXT_CHARS_MAX = 1_000_000
const REASON_CHARS_MAX = 160
const MODEL_CHARS_MAX = 100
const TOOL_CALLS_MAX = 128
/** The answer is serialised for the caller, which fails on very deep nesting. */
const LEVELS_MAX = 64
const TOO_DEEP = `it has more than ${LEVELS_MAX} levels`
const TOO_LONG = 'it is too long'

/** `too-much` if parsing would block the event loop, `none` if there is no object. */
export function readJson(text: string): Fields | 'too-much' | 'none' {
  // Some servers send a long HTML page instead of an answer: it need not be scanned.
  if (!/^\s*\{/.test(text)) return 'none'
  if (!isQuickToParse(text, VALUES_MAX)) return 'too-much'
  try {
    return objectOf(JSON.parse(text)) ?? 'none'
  } catch {
    return 'none'
  }
}

/** Parses a JSON object. */
export function jsonIn(text: string): Fields | null {
  const read = readJson(text)
  return typeof read === 'string' ? null : read
}

/** Marks faults that a question can cause: otherwise one caller could block a backend for all. */
export const OF_QUESTION = { ofQuestion: true } as const

/** The fault of an unusable answer. */
export function unusableAnswer(backend: string, reason: string, detail: FaultDetail = {}): Result<never> {
  return fail(fault('model/answer', { backend, reason: reason.slice(0, REASON_CHARS_MAX), ...detail }))
}

/** Such messages are not repeated: they may contain the operator's key. */
const OF_KEYS = /key|token|auth|credential|secret/i

/**
 * The fault of an error object of an OpenAI-compatible server, in a body or a stream. A numeric code is taken as the
 * HTTP status.
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

/** For models that cannot be forced into a form. Null means any JSON object. */
export function formInWords(schema: Fields | null): string {
  if (schema === null) return 'Answer with one JSON object alone, without any other text.'
  return `Answer with JSON alone, without any other text, that follows this JSON schema: ${JSON.stringify(schema)}`
}

/** Assembles an answer from its pieces, or from a whole. */
export class ChatAssembly {
  readonly #backend: string
  readonly #asked: string
  readonly #tally: AnswerTally | undefined
  #message: Record<string, unknown> = {}
  #chars = 0
  #model: string | null = null
  #finishReason: string | null = null
  /** Index of the requested answer; undefined before its first piece. */
  #index: unknown
  #usage: TokenCounts | null = null
  #toolCalls: Record<string, unknown>[] = []
  readonly #keepsLikelihoods: boolean
  #logprobs: Record<string, unknown> | null = null

  /** `tally` gets everything that comes, also answers that were not requested. */
  constructor(backend: string, asked: string, tally?: AnswerTally, keepsLikelihoods = true) {
    this.#keepsLikelihoods = keepsLikelihoods
    this.#backend = backend
    this.#asked = asked
    this.#tally = tally
  }

  get finishReason(): string | null {
    return this.#finishReason
  }

  /** The piece of a stream's chunk; null if it has none. */
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

  tooMuch(reason = TOO_LONG): Result<never> {
    this.#tally?.tooLong()
    return unusableAnswer(this.#backend, reason, OF_QUESTION)
  }

  /** An answer without an end is `model/cut`, an empty one is `model/answer`. */
  end(skipped: number): Result<ChatAnswer> {
    const backend = this.#backend
    if (this.#finishReason === null) return fail(fault('model/cut', { backend }))
    if (this.#finishReason === 'error') return unusableAnswer(backend, 'it ended with an error')
    const { content, refusal } = this.#message
    const text = [content, refusal].find((said) => typeof said === 'string' && said !== '') as string | undefined
    // A reader of the list takes every entry for a call, so gaps are removed.
    if (this.#toolCalls.length > 0) this.#message.tool_calls = Object.values(this.#toolCalls)
    const isEmpty = (text ?? '').trim() === '' && this.#toolCalls.length === 0
    // A prompt can cause this: it asks for nothing, is filtered, or leaves no room after the reasoning.
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

  /** Some servers do not number from 0. */
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

  /** Counts all text, even if it is not for the caller. */
  #count({ choices }: Fields): void {
    if (this.#tally === undefined || !Array.isArray(choices)) return
    for (const choice of choices.map(objectOf)) {
      const said = objectOf(choice?.delta ?? choice?.message)
      if (said !== null) this.#tally.take(said)
    }
  }

  /** The first finish reason counts. */
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

  /** Appends texts, merges tool calls by index, replaces other fields. False if the answer is too long. */
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

function numberIn(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
}

/** JSON text. Some servers send the object itself. */
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
