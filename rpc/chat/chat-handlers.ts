import { fault } from '../../consensus/primitives/fault.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import { type ChatOutcome, type ChatSink, PLATFORM_MODEL_IDS } from '../../marketplace/chat/call.ts'
import { expectedTokens } from '../../marketplace/chat/expected-tokens.ts'
import { NO_USAGE } from '../../marketplace/chat/models/usage.ts'
import { isUnbegun } from '../../marketplace/chat/upstream-fault.ts'
import type { CHAT_MODEL } from '../contract/chat.ts'
import type { Static } from '../contract/schema.ts'
import type { ChatApi, NodeApi } from '../node/node-api.ts'
import type { Answered, ApiRequest, Handler } from '../server/answer.ts'
import { ChatRun } from './chat-run.ts'
import { streamed } from './chat-stream.ts'
import { CompletionEvents, type CompletionHead, completionJson, event, newHead, usageHeaders } from './completion.ts'
import { allowanceHeaders } from './door.ts'
import { chatError } from './errors.ts'
import { Line } from './line.ts'
import { readChatRequest } from './read-request.ts'
import { answerOnTab } from './tab/tab-chat.ts'
import { wantsTab } from './tab/wants-tab.ts'
import { type AskedChat, End, enter } from './visit.ts'

/** Answers a chat, whole or as a stream. */
export const createChatCompletion: Handler<'createChatCompletion'> = async (node, request) => {
  const { chat, clock } = node
  if (chat == null) return fault('chat/off')
  const read = readChatRequest(request.body, {
    tokensMax: chat.tokensMax,
    resumes: request.headers['x-resume'] === 'continue',
  })
  if (!read.ok) return read.fault
  const head = newHead(clock, read.value.call.model)
  const asked = { node, chat, request: request as ApiRequest, read: read.value, head }
  return wantsTab(request) ? answerOnTab(asked) : answerToKey(asked)
}

/** Answers a chat of the holder of a key. Its tokens are counted once, however it ends. */
async function answerToKey({ chat, request, read, head }: AskedChat): Promise<Answered<'createChatCompletion'>> {
  const end = new End(request.signal)
  const visit = enter(chat, request, end, () => expectedTokens(read.call))
  if (!visit.ok) return visit.fault
  const { pass, left, who } = visit.value
  const run = new ChatRun({ chat, requestId: request.requestId, end })
  const leave = (): void => {
    visit.value.leave()
    pass.done(run.usage)
  }
  const answer = async (sink: ChatSink | null): Promise<Result<ChatOutcome>> => {
    const outcome = await run.answer({ ...read.call, who }, sink, end.signal)
    if (!outcome.ok && run.usage === NO_USAGE && isUnbegun(outcome.fault)) pass.cancel()
    return outcome
  }
  if (!read.streams) return whole(await answer(null).finally(leave), head)
  const events = new CompletionEvents(head, read.tellsUsage)
  const line = new Line(events)
  return streamed({
    line,
    ended: answer(line.sink),
    instead: (outcome) => (outcome.ok ? null : outcome.fault),
    headers: () => allowanceHeaders(left()),
    last: (outcome) => ({
      events: outcome.ok ? events.end(outcome.value) : event(chatError(outcome.fault)),
      isWhole: outcome.ok,
    }),
    leave,
  })
}

function whole(outcome: Result<ChatOutcome>, head: CompletionHead): Answered<'createChatCompletion'> {
  if (!outcome.ok) return outcome.fault
  return { status: 200, json: completionJson(head, outcome.value), headers: usageHeaders(outcome.value.usage) }
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
