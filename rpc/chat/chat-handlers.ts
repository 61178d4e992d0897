import { randomUUID } from 'node:crypto'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import { type ChatOutcome, type ChatSink, PLATFORM_MODEL_IDS } from '../../marketplace/chat/call.ts'
import { expectedTokens } from '../../marketplace/chat/expected-tokens.ts'
import { NO_USAGE } from '../../marketplace/chat/models/usage.ts'
import { isUnbegun } from '../../marketplace/chat/upstream-fault.ts'
import type { ModelUsage } from '../../marketplace/ports/models.ts'
import type { CHAT_MODEL } from '../contract/chat.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { Static } from '../contract/schema.ts'
import type { ChatApi, NodeApi } from '../node/node-api.ts'
import type { Answered, ApiRequest, FeedOut, Handler, PlainAnswer } from '../server/answer.ts'
import { CompletionEvents, type CompletionHead, completionJson, event, usageHeaders } from './completion.ts'
import { allowanceHeaders } from './door.ts'
import { chatError } from './errors.ts'
import { Line } from './line.ts'
import { type ChatRequest, readChatRequest } from './read-request.ts'
import { answerOnTab } from './tab/tab-chat.ts'
import { wantsTab } from './tab/wants-tab.ts'
import { End, enter, type Visit } from './visit.ts'

/** Answers a chat, whole or as a stream. */
export const createChatCompletion: Handler<'createChatCompletion'> = async (node, request) => {
  const { chat, clock } = node
  if (chat == null) return fault('chat/off')
  if (wantsTab(request)) return answerOnTab(node, chat, request as ApiRequest)
  const read = readChatRequest(request.body, {
    tokensMax: chat.tokensMax,
    resumes: request.headers['x-resume'] === 'continue',
  })
  if (!read.ok) return read.fault
  const end = new End(request.signal)
  const visit = enter(chat, request, end, () => expectedTokens(read.value.call))
  if (!visit.ok) return visit.fault
  const { model } = read.value.call
  const head = { id: `chatcmpl-${randomUUID().replaceAll('-', '')}`, created: Math.floor(clock.now() / 1_000), model }
  const talk = new Talk(read.value, visit.value, { chat, request, end })
  return read.value.streams ? streamed(talk, head, read.value) : whole(talk, head)
}

interface TalkMeans {
  readonly chat: ChatApi
  readonly request: ApiRequest
  readonly end: End
}

/** The tokens of a chat are counted once, however it ends. */
class Talk {
  readonly #request: ChatRequest
  readonly #visit: Visit
  readonly #means: TalkMeans
  readonly #beganMs = performance.now()
  #firstPieceMs: number | null = null
  #usage: ModelUsage = NO_USAGE

  constructor(request: ChatRequest, visit: Visit, means: TalkMeans) {
    this.#request = request
    this.#visit = visit
    this.#means = means
  }

  get headers(): Readonly<Record<string, string>> {
    return allowanceHeaders(this.#visit.left())
  }

  async run(sink: ChatSink | null): Promise<Result<ChatOutcome>> {
    const { chat, request, end } = this.#means
    let status = 500
    try {
      const told = sink === null ? null : this.#timed(sink)
      const call = { ...this.#request.call, who: this.#visit.who }
      const answered = await chat.platform.answer(call, told, end.signal, (spent) => {
        this.#usage = spent
      })
      const outcome = answered.ok ? answered : fail(end.faultOf(answered.fault))
      status = outcome.ok ? 200 : httpFault(outcome.fault.code).status
      if (!outcome.ok && this.#usage === NO_USAGE && isUnbegun(outcome.fault)) this.#visit.pass.cancel()
      return outcome
    } finally {
      const seconds = (performance.now() - this.#beganMs) / 1_000
      const firstPieceSeconds = this.#firstPieceMs === null ? null : this.#firstPieceMs / 1_000
      const { model } = this.#request.call
      chat.onChat({ requestId: request.requestId, model, status, seconds, firstPieceSeconds, usage: this.#usage })
    }
  }

  /** A stream calls this once its reader has the answer, which takes memory until then. */
  leave(): void {
    this.#visit.leave()
    this.#visit.pass.done(this.#usage)
  }

  #timed(sink: ChatSink): ChatSink {
    return {
      ready: sink.ready,
      take: (piece) => {
        this.#firstPieceMs ??= performance.now() - this.#beganMs
        return sink.take(piece)
      },
    }
  }
}

async function whole(talk: Talk, head: CompletionHead): Promise<Answered<'createChatCompletion'>> {
  const outcome = await talk.run(null).finally(() => talk.leave())
  if (!outcome.ok) return outcome.fault
  return { status: 200, json: completionJson(head, outcome.value), headers: usageHeaders(outcome.value.usage) }
}

/** Headers wait until an answer has begun: an earlier failure has its own HTTP status. */
async function streamed(talk: Talk, head: CompletionHead, { tellsUsage }: ChatRequest): Promise<PlainAnswer | Fault> {
  const events = new CompletionEvents(head, tellsUsage)
  const line = new Line(events)
  const outcome = talk.run({ ready: () => line.open(), take: (piece) => line.take(piece) })
  const early = await Promise.race([line.opened, outcome]).catch((error: unknown) => {
    talk.leave()
    throw error
  })
  if (early !== 'opened' && !early.ok) {
    talk.leave()
    return early.fault
  }
  const write = async (out: FeedOut): Promise<boolean> => {
    try {
      await line.attach(out)
      const end = await outcome
      await line.rest()
      await out.write(end.ok ? events.end(end.value) : event(chatError(end.fault)))
      return end.ok
    } finally {
      talk.leave()
    }
  }
  return { feed: { headers: { ...talk.headers, 'content-type': 'text/event-stream; charset=utf-8' }, write } }
}

/** All models of the platform. */
export const listChatModels: Handler<'listChatModels'> = (node) => {
  if (node.chat == null) return fault('chat/off')
  const { chat } = node
  const data = PLATFORM_MODEL_IDS.map((id) => modelJson(node, chat, id))
  return { status: 200, json: { object: 'list', data } }
}

/** One model of the platform. */
export const getChatModel: Handler<'getChatModel'> = (node, { params }) => {
  if (node.chat == null) return fault('chat/off')
  const id = PLATFORM_MODEL_IDS.find((one) => one === params.id)
  if (id !== undefined) return { status: 200, json: modelJson(node, node.chat, id) }
  const models = PLATFORM_MODEL_IDS.join(', ')
  return fault('chat/model-not-found', { param: 'model', model: params.id.slice(0, 200), models })
}

function modelJson(
  node: NodeApi,
  { platform }: ChatApi,
  id: (typeof PLATFORM_MODEL_IDS)[number],
): Static<typeof CHAT_MODEL> {
  const readiness = platform.readiness(id)
  const standing = readiness.available
    ? { available: true }
    : { available: false, reason: readiness.reason, requires: readiness.requires }
  const created = Math.floor(node.startedAtMs / 1_000)
  return { id, object: 'model', created, owned_by: 'farthing', x_platform: standing }
}
