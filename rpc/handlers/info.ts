import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { PLATFORM_MODEL_IDS } from '../../marketplace/chat/call.ts'
import type { PlatformFacts } from '../../marketplace/chat/info/platform-info.ts'
import type { ModelInfo } from '../../marketplace/chat/info/shapes.ts'
import { chatPage, noChatPage } from '../chat/pages/chat-page.ts'
import { chatSite } from '../chat/site.ts'
import type { NodeApi } from '../node/node-api.ts'
import { type ApiRequest, answer, type Handler } from '../server/answer.ts'
import { pageAnswer } from '../web/layout.ts'

/** The index at the base address of the API. */
export const getApiIndex: Handler<'getApiIndex'> = ({ version, chat }, { baseUrl }) => {
  const base = `${baseUrl}/api/v1`
  const ofChat = {
    chat: `${baseUrl}/chat`,
    info: `${base}/info`,
    models: `${base}/models`,
  }
  return answer({
    name: 'Farthing',
    version,
    documents: {
      openapi: `${baseUrl}/openapi.json`,
      status: `${base}/status`,
      blocks: `${base}/blocks`,
      services: `${baseUrl}/services.json`,
      llms: `${baseUrl}/llms.txt`,
      ...(chat != null && ofChat),
    },
  })
}

/** The facts about the chat platform and all its models. */
export const getChatInfo: Handler<'getChatInfo'> = (node, request) => withFacts(node, request, ({ info }) => info)

/** Facts about all models. */
export const listChatModelInfos: Handler<'listChatModelInfos'> = (node, request) =>
  withFacts(node, request, ({ info: { models } }) => ({ models }))

/** Facts about one model. */
export const getChatModelInfo: Handler<'getChatModelInfo'> = (node, request) => {
  if (node.chat == null) return fault('chat/off')
  const { id } = request.params
  const isKnown = PLATFORM_MODEL_IDS.some((one) => one === id)
  if (!isKnown) {
    const models = PLATFORM_MODEL_IDS.join(', ')
    return fault('chat/model-not-found', { model: id.slice(0, 64), models, suggestions: PLATFORM_MODEL_IDS })
  }
  return withFacts(node, request, ({ info }) => info.models.find((model) => model.id === id) as ModelInfo)
}

/** The models side by side, and the operator's facts about other products. */
export const getChatComparison: Handler<'getChatComparison'> = (node, request) =>
  withFacts(node, request, ({ info: { comparison_vs_external, models } }) => ({
    comparison_vs_external,
    models: models.map(compared),
  }))

/** Answers a question about the platform. */
export const askChatInfo: Handler<'askChatInfo'> = async (node, request) => {
  const { chat } = node
  if (chat == null) return fault('chat/off')
  const { question } = request.body
  return answer(await chat.info.answer(question, chatSite(node, request.baseUrl), request.signal))
}

/** The page of the chat platform, or a 404 page if this node has none. */
export const getChatPage: Handler<'getChatPage'> = (node, { baseUrl }) => {
  const { chat } = node
  if (chat == null) return pageAnswer(noChatPage(baseUrl), 404)
  return pageAnswer(chatPage(chat.info.facts(chatSite(node, baseUrl)), baseUrl))
}

function withFacts<T extends object>(
  node: NodeApi,
  { baseUrl }: Pick<ApiRequest, 'baseUrl'>,
  show: (facts: PlatformFacts) => T,
): { readonly status: 200; readonly json: T } | Fault {
  const { chat } = node
  return chat == null ? fault('chat/off') : answer(show(chat.info.facts(chatSite(node, baseUrl))))
}

function compared({
  tagline: _tagline,
  pipeline: _pipeline,
  how_it_works: _how,
  unavailable_reason: _reason,
  requires: _requires,
  tiers: _tiers,
  ...facts
}: ModelInfo) {
  return facts
}
