import { type FaultDetail, fault } from '../../../consensus/primitives/fault.ts'
import { type Fields, objectOf } from '../../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type {
  AnswerSchema,
  ChatAnswer,
  ChatRequest,
  DeltaSink,
  Heard,
  HeldBy,
  ModelBackend,
  ModelFacts,
  PictureBytes,
  SpeechQuestion,
} from '../../../marketplace/chat/models/backend.ts'
import { wholeTokensMax } from '../../../marketplace/chat/models/likelihoods.ts'
import { isTimeOver } from '../../../marketplace/chat/models/silence.ts'
import { isOfForm } from '../../../marketplace/ports/trouble.ts'
import { textOf } from '../../adapters/bounded-fetch.ts'
import { connectionWords } from '../../adapters/connection-words.ts'
import { ChatAssembly, formInWords, jsonIn, OF_QUESTION, readJson, saidError, unusableAnswer } from './chat-answer.ts'
import { readChatStream } from './chat-stream.ts'
import { idsListed, LIST_BYTES_MAX } from './model-list.ts'
import { askServer, type ServerAnswer } from './model-server.ts'
import { readSpeech } from './speech-answer.ts'

/** Location of an OpenAI-compatible server. */
export interface OpenAiBackendParts {
  readonly id: string
  /** Including the version: `https://api.example.com/v1`. */
  readonly baseUrl: string
  readonly key: string | null
}

interface Reader {
  readonly sink: DeltaSink
  readonly heard: Heard
  /** Such a reader gets log probabilities piece by piece, so they need not be kept. */
  readonly hasLikelihoods?: true
}

/** Statuses of a server that works but has no list of models. */
const LISTLESS: ReadonlySet<number> = new Set([404, 405, 501])
/** Parsing much JSON blocks the event loop. */
const WHOLE_BYTES_MAX = 4 * 1_048_576
/** A megapixel in base64 is below five megabytes. */
const PICTURE_BYTES_MAX = 16 * 1_048_576
const ERROR_BYTES_MAX = 65_536
/** Name of the length limit for newer models. */
const NEW_NAME = 'max_completion_tokens'
const RETRY_AFTER_MS_MAX = 600_000
const REASON_CHARS_MAX = 160
const PICTURE_SIDE = 1_024
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

const NO_LIST = 'it is not a list of models; is the base address right, with /v1?'
const UNHEARD = (): void => undefined

/** Models behind a server with the OpenAI API (https://platform.openai.com/docs/api-reference/chat). */
export class OpenAiBackend implements ModelBackend {
  readonly id: string
  readonly #baseUrl: string
  readonly #key: string | null
  readonly #newNames = new Set<string>()
  /** Models that were too slow for a complete answer. */
  readonly #slow = new Set<string>()

  constructor({ id, baseUrl, key }: OpenAiBackendParts) {
    this.id = id
    this.#baseUrl = baseUrl
    this.#key = key
  }

  readonly complete = async (
    request: ChatRequest,
    signal: AbortSignal,
    heard: Heard = UNHEARD,
  ): Promise<Result<ChatAnswer>> => {
    const { id } = request.model
    const maxTokens = Math.min(request.maxTokens, wholeTokensMax(request.extra ?? {}))
    const mayCome = mayComeInPieces(request)
    if (mayCome && (maxTokens < request.maxTokens || this.#slow.has(id)))
      return this.#chat(request, inPieces(request), { sink: heard, heard }, signal)
    // A longer answer could not be read, but would be paid for.
    request.tally?.askedFor(maxTokens)
    const answer = await this.#chat({ ...request, maxTokens }, {}, { sink: UNHEARD, heard }, signal)
    // A stream will show whether the model is slow or dead.
    if (mayCome && !answer.ok && isTimeOver(signal)) this.#slow.add(id)
    return answer
  }

  readonly stream = (request: ChatRequest, sink: DeltaSink, signal: AbortSignal): Promise<Result<ChatAnswer>> =>
    this.#chat(request, inPieces(request), { sink, heard: UNHEARD, hasLikelihoods: true }, signal)

  readonly picture = async (
    model: ModelFacts,
    prompt: string,
    signal: AbortSignal,
    heard?: Heard,
  ): Promise<Result<PictureBytes>> => {
    const size = `${PICTURE_SIDE}x${PICTURE_SIDE}`
    const plain = { model: model.id, prompt, n: 1, size }
    const ask = (body: Fields): Promise<Result<Fields>> => this.#pictureJson(body, signal, heard)
    let answer = await ask({ ...plain, response_format: 'b64_json' })
    // Newer models always send base64, and refuse the field.
    if (!answer.ok && answer.fault.detail.status === 400 && /response_format/.test(String(answer.fault.detail.reason)))
      answer = await ask(plain)
    return answer.ok ? this.#pictureIn(answer.value, model.id) : answer
  }

  readonly speech = async (
    question: SpeechQuestion,
    signal: AbortSignal,
    heard?: Heard,
  ): Promise<Result<Uint8Array>> => {
    const { model, text, voice, speed } = question
    const pace = speed === 1 ? {} : { speed }
    const body = { model: model.id, input: text, voice, response_format: 'wav', ...pace }
    const response = await this.#answered('/audio/speech', body, signal)
    return response.ok ? this.#late(await readSpeech(this.id, response.value, heard), signal) : response
  }

  /** A server without a list of models is reachable too. */
  readonly check = async (signal: AbortSignal): Promise<Result<readonly string[] | null>> => {
    const response = await this.#ask('/models', null, signal)
    if (!response.ok) return response
    const { status } = response.value
    if (status === 200) return this.#listIn(response.value, signal)
    response.value.end()
    return LISTLESS.has(status) ? ok(null) : this.#refusal(response.value, '')
  }

  async #listIn(response: ServerAnswer, signal: AbortSignal): Promise<Result<readonly string[] | null>> {
    const text = await textOf(response, LIST_BYTES_MAX).catch(() => undefined)
    if (text === undefined) return this.#late(fail(fault('model/cut', { backend: this.id })), signal)
    // A list that is too long to read is still a list.
    if (text === null) return ok(null)
    const ids = idsListed(text)
    return ids === null ? unusableAnswer(this.id, NO_LIST) : ok(ids)
  }

  async #chat(request: ChatRequest, more: Fields, reader: Reader, signal: AbortSignal): Promise<Result<ChatAnswer>> {
    const ask = (held: HeldBy | null): Promise<Result<ServerAnswer>> =>
      this.#answeredChat(request.model.id, { ...bodyOf(request, held), ...more }, signal)
    let heldBy = formOf(request)
    let response = await ask(heldBy)
    // An answer that only follows instructions must be checked before it is shown, so a stream is not retried here.
    if (heldBy === 'native' && more.stream !== true && !response.ok && isOfForm(response.fault)) {
      heldBy = 'words'
      response = await ask(heldBy)
    }
    if (!response.ok) return response
    const answer = await this.#read(response.value, request, reader, signal)
    return answer.ok && heldBy !== null ? ok({ ...answer.value, heldBy }) : answer
  }

  /**
   * Newer models refuse the old name of the length limit. The question is asked again if the refusal has the new name,
   * unless the question has that name too: the refusal may only repeat it.
   */
  async #answeredChat(model: string, body: Fields, signal: AbortSignal): Promise<Result<ServerAnswer>> {
    const { max_tokens: most, ...others } = body
    const named = { ...others, [NEW_NAME]: most }
    const ask = (asked: Fields): Promise<Result<ServerAnswer>> => this.#answered('/chat/completions', asked, signal)
    if (this.#newNames.has(model)) return ask(named)
    const response = await ask(body)
    if (response.ok || response.fault.detail.status !== 400) return response
    const isNamed = String(response.fault.detail.reason).includes(NEW_NAME)
    if (!isNamed || JSON.stringify(others).toLowerCase().includes(NEW_NAME)) return response
    const renamed = await ask(named)
    if (renamed.ok) this.#newNames.add(model)
    return renamed
  }

  async #read(
    response: ServerAnswer,
    request: ChatRequest,
    { sink, heard, hasLikelihoods }: Reader,
    signal: AbortSignal,
  ): Promise<Result<ChatAnswer>> {
    const assembly = new ChatAssembly(this.id, request.model.id, request.tally, hasLikelihoods !== true)
    const isStream = response.header('content-type')?.toLowerCase().startsWith('text/event-stream') === true
    // A server may stream a complete answer, or answer a stream request completely.
    if (isStream) return this.#late(await readChatStream(this.id, response, assembly, sink), signal)
    const tooLong = (): void => request.tally?.tooLong()
    const whole = await this.#jsonOf(response, { bytesMax: WHOLE_BYTES_MAX, tooLong }, signal, heard)
    if (!whole.ok) return whole
    const piece = assembly.takeWhole(whole.value)
    if (!piece.ok) return piece
    const answer = assembly.end(0)
    if (answer.ok) await sink(piece.value.delta, piece.value.logprobs)
    return answer
  }

  async #pictureJson(body: Fields, signal: AbortSignal, heard?: Heard): Promise<Result<Fields>> {
    const response = await this.#answered('/images/generations', body, signal)
    return response.ok ? this.#jsonOf(response.value, { bytesMax: PICTURE_BYTES_MAX }, signal, heard) : response
  }

  async #jsonOf(
    response: ServerAnswer,
    { bytesMax, tooLong }: { readonly bytesMax: number; readonly tooLong?: () => void },
    signal: AbortSignal,
    heard?: Heard,
  ): Promise<Result<Fields>> {
    const text = await textOf(response, bytesMax, heard).catch(() => undefined)
    if (text === undefined) return this.#late(fail(fault('model/cut', { backend: this.id })), signal)
    const read = text === null ? 'too-much' : readJson(text)
    if (read === 'none') return unusableAnswer(this.id, 'it is not JSON')
    if (read !== 'too-much') return ok(read)
    tooLong?.()
    const reason = text === null ? `it is longer than ${bytesMax} bytes` : 'there is too much in it'
    return unusableAnswer(this.id, reason, OF_QUESTION)
  }

  /** Any status but 200 is a fault. */
  async #answered(path: string, body: Fields, signal: AbortSignal): Promise<Result<ServerAnswer>> {
    const response = await this.#ask(path, body, signal)
    if (!response.ok || response.value.status === 200) return response
    const text = await textOf(response.value, ERROR_BYTES_MAX).catch(() => null)
    return this.#late(this.#refusal(response.value, text ?? ''), signal)
  }

  async #ask(path: string, body: Fields | null, signal: AbortSignal): Promise<Result<ServerAnswer>> {
    const headers = {
      'user-agent': 'farthing',
      accept: 'application/json, text/event-stream, audio/wav',
      ...(body !== null && { 'content-type': 'application/json' }),
      ...(this.#key !== null && { authorization: `Bearer ${this.#key}` }),
    }
    const question = { headers, body: body === null ? null : JSON.stringify(body) }
    try {
      return ok(await askServer(`${this.#baseUrl}${path}`, question, signal))
    } catch (error) {
      return this.#late(fail(fault('model/unreachable', { backend: this.id, reason: connectionWords(error) })), signal)
    }
  }

  /** Messages about keys are not repeated: they may contain the operator's key. */
  #refusal({ status, header }: ServerAnswer, text: string): Result<never> {
    const fields = jsonIn(text)
    const said = objectOf(fields?.error)?.message ?? fields?.error
    const isOfKeys = status === 401 || status === 403
    const words = typeof said === 'string' && !isOfKeys ? `: ${this.#withoutKey(said)}` : ''
    const reason = `status ${status}${words}`.slice(0, REASON_CHARS_MAX)
    const retryAfterMs = pauseOf(header('retry-after'))
    const detail: FaultDetail = { backend: this.id, reason, status, ...(retryAfterMs > 0 && { retryAfterMs }) }
    return fail(fault(status < 500 ? 'model/refused' : 'model/answer', detail))
  }

  /** The abort caused the failure. */
  #late<T>(result: Result<T>, signal: AbortSignal): Result<T> {
    return !result.ok && signal.aborted ? fail(fault('model/timeout', { backend: this.id })) : result
  }

  #withoutKey(text: string): string {
    return this.#key === null ? text : text.replaceAll(this.#key, '***')
  }

  #pictureIn(answer: Fields, asked: string): Result<PictureBytes> {
    if (answer.error !== undefined && answer.error !== null) return saidError(this.id, answer.error)
    const first = Array.isArray(answer.data) ? objectOf(answer.data[0]) : null
    const found = first?.b64_json ?? dataIn(first?.url)
    const base64 = typeof found === 'string' ? found.replaceAll(/\s+/g, '') : ''
    if (!BASE64.test(base64)) return unusableAnswer(this.id, 'it holds no picture')
    const model = typeof answer.model === 'string' && answer.model !== '' ? answer.model : asked
    return ok({ bytes: Buffer.from(base64, 'base64'), model })
  }
}

/**
 * Whether a complete answer may be requested as a stream: only if the server counts tokens then. Tools and native forms
 * are excluded, because servers stream them worst.
 */
function mayComeInPieces(request: ChatRequest): boolean {
  const { model, extra = {} } = request
  const isPlain = formOf(request) !== 'native' && extra.tools === undefined
  return isPlain && model.supports.has('streamUsage')
}

function inPieces({ model }: ChatRequest): Fields {
  return { stream: true, ...(model.supports.has('streamUsage') && { stream_options: { include_usage: true } }) }
}

function bodyOf(
  { model, messages, maxTokens, temperature, jsonSchema, extra }: ChatRequest,
  heldBy: HeldBy | null,
): Fields {
  return {
    ...extra,
    model: model.id,
    messages:
      heldBy === 'words'
        ? [...messages, { role: 'system', content: formInWords(jsonSchema?.schema ?? null) }]
        : messages,
    max_tokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(heldBy === 'native' && { response_format: formatOf(jsonSchema) }),
  }
}

/** Null without a form. */
function formOf({ model, jsonSchema, json }: ChatRequest): HeldBy | null {
  if (jsonSchema === undefined && json !== true) return null
  return model.supports.has('jsonSchema') ? 'native' : 'words'
}

function formatOf(schema: AnswerSchema | undefined): Fields {
  if (schema === undefined) return { type: 'json_object' }
  return { type: 'json_schema', json_schema: { strict: true, ...schema } }
}

/** Other addresses than data URLs are not fetched: a server must not choose what this node requests. */
function dataIn(url: unknown): string | null {
  return typeof url === 'string' ? (/^data:image\/[a-z0-9.+-]+;base64,(.+)$/is.exec(url)?.[1] ?? null) : null
}

/** Milliseconds; 0 if there is none. The header holds seconds or a date (RFC 9110, 10.2.3). */
function pauseOf(header: string | null): number {
  if (header === null) return 0
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.min(RETRY_AFTER_MS_MAX, Math.max(0, ms)) : 0
}
