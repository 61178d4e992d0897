import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { answerSpeech, type SpeechProfile } from './openai-speech.ts'

/** Everything that the server can do with a question. */
export const CHAT_PROFILES = [
  'ok',
  'split-utf8',
  'slow-first-token',
  'stall',
  'hang',
  'cut',
  'no-end',
  'no-done',
  'done-without-reason',
  'in-band-error',
  'late-error',
  'bad-json-line',
  'bad-json-lines',
  'not-an-event',
  '401',
  '429',
  '400',
  '503',
  '502-html',
  'sse-when-json',
  'json-when-sse',
  'html',
  'empty-content',
  'reasoning-only',
  'tool-calls',
  'usage-missing',
  'wrong-model-echo',
  'huge-delta',
  'duplicate-finish',
  'filtered',
  'length',
  'url-picture',
  'data-picture',
  'no-response-format',
  'new-names',
] as const

/** One of {@link CHAT_PROFILES}. The code of {@link FakeOpenAi} shows what each does. */
export type ChatProfile = (typeof CHAT_PROFILES)[number]

/** A question as it arrived. */
export interface ChatQuestion {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** Makes the text of a good answer. */
export type ChatAnswerer = (question: ChatQuestion) => string

/** Default text of answers. Many of its characters have several bytes, so that packets can end within one. */
export const HOUSE_TEXT = 'Grüße, 你好, 👋🏽 done.'
/** Name of the server's model. */
export const HOUSE_MODEL = 'house-8b'
const KEY = 'sk-house-secret'
const PIECE_CHARS = 3
const SLOW_MS = 150

/**
 * A server that speaks the OpenAI interface as documented (https://platform.openai.com/docs/api-reference/chat/create, .../streaming,
 * .../images/create), and breaks it as real servers do. It listens on 127.0.0.1 and wants the key {@link FakeOpenAi.key}.
 */
export class FakeOpenAi {
  profile: ChatProfile | ((question: ChatQuestion, asked: number) => ChatProfile) = 'ok'
  answer: ChatAnswerer = () => HOUSE_TEXT
  /** What it does with texts to be spoken. Of the values of `profile`, only `401` applies to them, too. */
  speech: SpeechProfile | ((question: ChatQuestion, asked: number) => SpeechProfile) = 'ok'
  /** Texts to be spoken, in order. */
  readonly spoken: string[] = []
  /** Its answer to a request for the list of models. */
  listing = { status: 200, text: JSON.stringify({ object: 'list', data: [{ id: HOUSE_MODEL, object: 'model' }] }) }
  /** Fields that replace those of the message in whole answers. */
  message: Readonly<Record<string, unknown>> = {}
  /** The usage that it reports. */
  usage: Readonly<Record<string, unknown>> | null = USAGE
  /** Pieces of streamed answers. Null: those of the profile. */
  pieces: readonly Readonly<Record<string, unknown>>[] | null = null
  /** How many alternative tokens it reports for each token. */
  others = 0
  /** Text of its errors with the status 400 or 503, and of errors within an answer. Null: the default. */
  words: string | null = null
  picture: Uint8Array = new Uint8Array()
  retryAfter = '0'
  /** Questions in order, without requests for the list of models. */
  readonly questions: ChatQuestion[] = []
  /** Questions under way, and the most at one time. */
  open = 0
  openMax = 0
  /** How many answers the client gave up. */
  abandoned = 0
  readonly key = KEY
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => request.socket.destroy())
    })
  }

  static async open(): Promise<FakeOpenAi> {
    const fake = new FakeOpenAi()
    await new Promise<void>((resolve, reject) => {
      fake.#server.once('error', reject)
      fake.#server.listen(0, '127.0.0.1', resolve)
    })
    return fake
  }

  /** Base URL for clients. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization } = request.headers
    const path = request.url ?? '/'
    const isAllowed = authorization === `Bearer ${this.key}`
    if (path === '/v1/models') {
      if (!isAllowed) return json(response, 401, LOCKED)
      const { status, text } = this.listing
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(text)
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatQuestion['body']
    const question = { path, authorization, body }
    this.questions.push(question)
    this.open += 1
    this.openMax = Math.max(this.openMax, this.open)
    response.once('close', () => {
      this.open -= 1
      if (!response.writableFinished) this.abandoned += 1
    })
    const profile = typeof this.profile === 'function' ? this.profile(question, this.questions.length) : this.profile
    if (!isAllowed || profile === '401') return json(response, 401, LOCKED)
    if (path === '/v1/audio/speech') return this.#speak(question, response)
    if (refuse(profile, response, this)) return
    if (path === '/v1/images/generations') return this.#picture(question, profile, response)
    await this.#chat(question, profile, response)
  }

  #speak(question: ChatQuestion, response: ServerResponse): void {
    this.spoken.push(String(question.body.input))
    const { speech } = this
    const profile = typeof speech === 'function' ? speech(question, this.spoken.length) : speech
    answerSpeech(profile, String(question.body.input), response, this.retryAfter)
  }

  #picture({ body }: ChatQuestion, profile: ChatProfile, response: ServerResponse): void {
    const b64_json = Buffer.from(this.picture).toString('base64')
    const unknown = { error: { message: "Unknown parameter: 'response_format'." } }
    if (profile === 'no-response-format' && body.response_format !== undefined) {
      json(response, 400, unknown)
      return
    }
    const data = {
      'url-picture': { url: 'http://127.0.0.1:1/picture.png' },
      'data-picture': { url: `data:image/png;base64,${b64_json}` },
    }[profile as string] ?? { b64_json }
    json(response, 200, { created: 1, data: [data] })
  }

  async #chat(question: ChatQuestion, profile: ChatProfile, response: ServerResponse): Promise<void> {
    if (profile === 'html') return page(response, 200)
    if (profile === 'no-response-format' && question.body.response_format !== undefined)
      return json(response, 400, { error: { message: "Unknown parameter: 'response_format'." } })
    if (profile === 'new-names' && question.body.max_tokens !== undefined)
      return json(response, 400, { error: { message: NEW_NAMES } })
    const asStream = question.body.stream === true ? profile !== 'json-when-sse' : profile === 'sse-when-json'
    const isBroken = STREAM_ONLY.has(profile)
    const said = {
      asked: question.body,
      message: this.message,
      usage: this.usage,
      pieces: this.pieces,
      words: this.words,
      others: this.others,
    }
    if (asStream || isBroken) return stream(response, profile, this.answer(question), said)
    if (profile === 'hang' || profile === 'stall') return
    if (profile === 'slow-first-token') await setTimeout(SLOW_MS)
    if (profile === 'cut') return void response.socket?.destroy()
    json(response, 200, whole(profile, this.answer(question), said))
  }
}

const NEW_NAMES =
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
const LOCKED = { error: { message: `Incorrect API key provided: ${KEY}`, type: 'invalid_request_error' } }
/** Profiles that break only streams. They answer with a stream even if the question does not ask for one. */
const STREAM_ONLY: ReadonlySet<ChatProfile> = new Set(['no-end', 'bad-json-lines', 'bad-json-line', 'not-an-event'])

function refuse(
  profile: ChatProfile,
  response: ServerResponse,
  { retryAfter, words }: Pick<FakeOpenAi, 'retryAfter' | 'words'>,
): boolean {
  if (profile === '429') json(response, 429, { error: { message: 'slow down' } }, { 'retry-after': retryAfter })
  else if (profile === '400')
    json(response, 400, { error: { message: words ?? 'Your request was rejected by the safety system.' } })
  else if (profile === '503') json(response, 503, { error: { message: words ?? 'overloaded' } })
  else if (profile === '502-html') page(response, 502)
  else return false
  return true
}

function whole(profile: ChatProfile, text: string, { asked, message, usage, words, others }: Said): object {
  const said = contentOf(profile, text)
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: profile === 'wrong-model-echo' ? 'somebody-else' : HOUSE_MODEL,
    ...(profile === 'in-band-error' && { error: { message: words ?? 'the model fell over', code: 500 } }),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', ...said, house_note: 'kept', ...message },
        ...(asked.logprobs === true && { logprobs: logprobsOf(text, others) }),
        finish_reason: profile === 'done-without-reason' ? null : finishOf(profile),
      },
    ],
    ...(profile !== 'usage-missing' && { usage }),
  }
}

/** The question, and what an answer has besides its text. */
interface Said {
  readonly asked: ChatQuestion['body']
  readonly message: object
  readonly usage: FakeOpenAi['usage']
  readonly pieces: FakeOpenAi['pieces']
  readonly words: FakeOpenAi['words']
  readonly others: number
}

const USAGE = { prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 }
const TOOL_CALL = { id: 'call-1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } }

function contentOf(profile: ChatProfile, text: string): Readonly<Record<string, unknown>> {
  if (profile === 'empty-content') return { content: '' }
  if (profile === 'reasoning-only') return { content: '', reasoning_content: 'Let me think.' }
  if (profile === 'tool-calls') return { content: null, tool_calls: [TOOL_CALL] }
  if (profile === 'huge-delta') return { content: 'x'.repeat(3_000_000) }
  return { content: text }
}

/** One token for the whole piece. With alternatives, one for each word. */
function logprobsOf(text: string, others: number): object {
  const likely = (token: string): object => ({
    token,
    logprob: -0.5,
    bytes: others === 0 ? null : [...Buffer.from(token)],
  })
  const content = (others === 0 ? [text] : (text.match(/ ?[^ ]+/g) ?? [])).map((token) => ({
    ...likely(token),
    top_logprobs: Array.from({ length: others }, () => likely(token)),
  }))
  return { content, refusal: null }
}

function finishOf(profile: ChatProfile): string {
  if (profile === 'tool-calls') return 'tool_calls'
  if (profile === 'filtered') return 'content_filter'
  return profile === 'length' ? 'length' : 'stop'
}

async function stream(response: ServerResponse, profile: ChatProfile, text: string, said: Said): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.flushHeaders()
  if (profile === 'hang') return
  if (profile === 'slow-first-token') await setTimeout(SLOW_MS)
  const events = eventsOf(profile, text, said)
  if (profile === 'split-utf8') return inBytes(response, events)
  for (const event of events) response.write(event)
  if (profile === 'stall') return
  if (profile === 'cut') {
    // Waits until the text before the cut is sent.
    await new Promise((resolve) => response.write(': cut\n\n', resolve))
    return void response.socket?.destroy()
  }
  response.end()
}

/** Sends two bytes a packet, with Windows line ends and with comments between events. */
async function inBytes(response: ServerResponse, events: readonly string[]): Promise<void> {
  const text = [': hello\n\n', ...events].join(': keep-alive\n\n').replaceAll('\n', '\r\n')
  const bytes = Buffer.from(text, 'utf8')
  response.socket?.setNoDelay(true)
  for (let at = 0; at < bytes.length; at += 2) {
    await new Promise((resolve) => response.write(bytes.subarray(at, at + 2), resolve))
    if (at % 64 === 0) await setTimeout(0)
  }
  response.end()
}

function eventsOf(
  profile: ChatProfile,
  text: string,
  { asked, usage: told, pieces: given, words, others }: Said,
): readonly string[] {
  const model = profile === 'wrong-model-echo' ? 'somebody-else' : HOUSE_MODEL
  const frame = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model }
  const chunk = (delta: Readonly<Record<string, unknown>>, finish: string | null = null): string => {
    const isLikely = asked.logprobs === true && typeof delta.content === 'string' && delta.content !== ''
    const logprobs = isLikely ? { logprobs: logprobsOf(String(delta.content), others) } : {}
    return event({ ...frame, choices: [{ index: 0, delta, ...logprobs, finish_reason: finish }], usage: null })
  }
  const first = chunk({ role: 'assistant', content: '', house_note: 'kept' })
  const error = event({ error: { message: words ?? 'the model fell over', code: 500 } })
  if (profile === 'in-band-error') return [first, error]
  const pieces = (given ?? piecesOf(profile, text)).map((delta) => chunk(delta))
  const begun = [first, ...(given === null ? pieces.slice(0, 2) : pieces)]
  if (profile === 'late-error') return [...begun, error]
  if (['stall', 'cut', 'no-end'].includes(profile)) return begun
  const counts = (asked.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true
  const isCounted = counts && profile !== 'usage-missing'
  const usage = isCounted ? [event({ ...frame, choices: [], usage: told })] : []
  const finish = profile === 'done-without-reason' ? [] : [chunk({}, finishOf(profile))]
  const again = profile === 'duplicate-finish' ? [chunk({}, 'length')] : []
  const done = profile === 'no-done' ? [] : ['data: [DONE]\n\n']
  const bad = { 'bad-json-line': ['data: {"id":"chat\n\n'], 'not-an-event': ['{"error":"raw"}\n\n'] }[profile as string]
  const twice = profile === 'bad-json-lines' ? ['data: {"id\n\n', 'data: nonsense\n\n'] : []
  return [first, ...(bad ?? twice), ...pieces, ...finish, ...again, ...usage, ...done]
}

function piecesOf(profile: ChatProfile, text: string): readonly Readonly<Record<string, unknown>>[] {
  if (profile === 'tool-calls') {
    const [head, tail] = ['{"at":', '"sky"}']
    const call = { index: 0, id: TOOL_CALL.id, type: 'function', function: { name: 'look', arguments: head } }
    return [{ tool_calls: [call] }, { tool_calls: [{ index: 0, function: { arguments: tail } }] }]
  }
  if (profile === 'empty-content') return []
  if (profile === 'reasoning-only') return [{ reasoning_content: 'Let me ' }, { reasoning_content: 'think.' }]
  if (profile === 'huge-delta') return [{ content: 'x'.repeat(3_000_000) }]
  const characters = [...text]
  return Array.from({ length: Math.ceil(characters.length / PIECE_CHARS) }, (_, i) => ({
    content: characters.slice(i * PIECE_CHARS, (i + 1) * PIECE_CHARS).join(''),
  }))
}

function event(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

function json(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function page(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end('<html><body><h1>Bad gateway</h1></body></html>')
}
