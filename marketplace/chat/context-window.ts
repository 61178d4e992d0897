import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { ChatCall, ChatModelId } from './call.ts'
import { type ChatModels, canAnswer } from './desk.ts'
import type { ModelSupport } from './models/backend.ts'
import { estimatedPrompt } from './models/usage.ts'
import { isSingleCall, needsOf } from './single-call.ts'

/** In tokens, if a backend is large enough. model-4 compresses longer conversations. */
export const WINDOW_TOKENS: Readonly<Record<ChatModelId, number>> = {
  'model-1': 32_000,
  'model-2': 32_000,
  'model-3': 32_000,
  'model-4': 200_000,
}

/**
 * Most UTF-16 units of a conversation with everything that is sent with it: 7.5 for each token of the largest window. A
 * longer conversation would need too many summaries, and counting its tokens would block the event loop.
 */
export const CONVERSATION_CHARS_MAX = 1_500_000
/** Most UTF-16 units of all requests for the `count` answers of a chat: each request carries the whole conversation. */
const WRITTEN_CHARS_MAX = 8_000_000

/** Typical of English. Tells the length of a refused conversation without counting its tokens. */
const CHARS_PER_TOKEN = 4

/** A caller that wants less than this needs less room. */
const ANSWER_TOKENS_MIN = 128

/** The nominal window, or that of the largest model behind it if smaller. Only models with the abilities `needs` count. */
export function windowOf(
  model: ChatModelId,
  models: Pick<ChatModels, 'facts'>,
  needs: readonly ModelSupport[] = [],
): number {
  const contexts = models.facts
    .flatMap((backend) => backend.models)
    .filter((one) => canAnswer(one, needs))
    .map(({ context }) => context)
  return Math.min(WINDOW_TOKENS[model], Math.max(0, ...contexts))
}

/** All texts that go to a model count, but no image addresses. */
export function isOverlong(call: Pick<ChatCall, 'messages' | 'extra' | 'count'>): boolean {
  return charsOf(call) > charsMax(call)
}

function charsMax({ count }: Pick<ChatCall, 'count'>): number {
  return Math.min(CONVERSATION_CHARS_MAX, WRITTEN_CHARS_MAX / count)
}

function charsOf({ messages, extra }: Pick<ChatCall, 'messages' | 'extra'>): number {
  const bare = messages.map(({ content, ...others }) => [others, withoutPictures(content)])
  let sum = 0
  const take = (value: unknown): void => {
    if (sum > CONVERSATION_CHARS_MAX) return
    if (typeof value === 'string') sum += charsWritten(value)
    else if (value !== null && typeof value === 'object')
      for (const [name, one] of Object.entries(value)) {
        if (!Array.isArray(value)) sum += name.length
        take(one)
      }
  }
  take([bare, extra])
  return sum
}

/** In JSON, about: a tab or line end counts two, another control character or an unpaired surrogate six. */
function charsWritten(text: string): number {
  if (text.length > CONVERSATION_CHARS_MAX) return text.length
  const isWhole = text.isWellFormed()
  let chars = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 32) chars += code === 9 || code === 10 || code === 13 ? 1 : 5
    else if (!isWhole && isHalf(code) && !isPair(text, i)) chars += 5
  }
  return chars
}

/** Whether a code unit is a surrogate. */
function isHalf(code: number): boolean {
  return code >= 0xd800 && code < 0xe000
}

/** Whether the surrogate at this index stands beside the other half of its pair. */
function isPair(text: string, at: number): boolean {
  const first = text.charCodeAt(at) < 0xdc00 ? at : at - 1
  return (text.codePointAt(first) ?? 0) > 0xffff
}

function withoutPictures(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return content.map((part) =>
    part?.type === 'image_url' ? { ...part, image_url: { ...part.image_url, url: null } } : part,
  )
}

/** Includes the tools, and the JSON schema of the answer. */
export function promptTokens({ messages, extra, form }: ChatCall): number {
  return estimatedPrompt(messages, extra, form.is === 'schema' ? form.schema : undefined)
}

/** Null if the chat fits its window, if no model has the needed abilities, or if the pipeline of model-4 will compress it. */
export function fitsWindow(call: ChatCall, models: Pick<ChatModels, 'facts'>): Fault | null {
  const { model, maxTokens } = call
  const chars = charsOf(call)
  if (chars > charsMax(call)) return tooLongFor(model, Math.ceil(chars / CHARS_PER_TOKEN), models)
  if (model === 'model-4' && !isSingleCall(call)) return null
  const tokens = promptTokens(call)
  const window = windowOf(model, models, needsOf(call))
  // If no model has the needed abilities, a shorter conversation would not help.
  if (window === 0 || tokens + Math.min(maxTokens, ANSWER_TOKENS_MIN) <= window) return null
  return tooLongFor(model, tokens, models, needsOf(call))
}

/** `chat/context-length`, with the window that is exceeded. */
export function tooLongFor(
  model: ChatModelId,
  tokens: number,
  models: Pick<ChatModels, 'facts'>,
  needs: readonly ModelSupport[] = [],
): Fault {
  const window = windowOf(model, models, needs)
  const bound = window < WINDOW_TOKENS[model] ? 'as the largest model behind it does' : 'the most on this platform'
  return fault('chat/context-length', { param: 'messages', model, tokens, window, bound })
}
