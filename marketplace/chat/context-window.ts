import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { ChatCall, ChatModelId } from './call.ts'
import { type ChatModels, canAnswer } from './desk.ts'
import type { ModelSupport } from './models/backend.ts'
import { estimatedPrompt } from './models/usage.ts'
import { isSingleCall, needsOf } from './single-call.ts'

/** Window of each model in tokens, where a backend has as much. model-4 compresses what is longer. */
export const WINDOW_TOKENS: Readonly<Record<ChatModelId, number>> = {
  'model-1': 32_000,
  'model-2': 32_000,
  'model-3': 32_000,
  'model-4': 200_000,
}

/**
 * UTF-16 units of a conversation at most, with all that goes to its model beside, whatever its tokens: some seven for each token of the
 * largest window. A longer one would be hundreds of questions for its summaries alone, most of which the window has no room for, and
 * counting its tokens would hold everything else up.
 */
export const CONVERSATION_CHARS_MAX = 1_500_000
/** UTF-16 units that are written at most for several answers at once: each is asked for with the whole conversation. */
const WRITTEN_CHARS_MAX = 8_000_000

/** About as many as English has: by that a caller is told how long a refused conversation is, without counting it. */
const CHARS_PER_TOKEN = 4

/** Room for an answer that there must be, where as much is wanted. */
const ANSWER_TOKENS_MIN = 128

/**
 * Window that a model has on this node: that of its description, or of the largest model behind it where that is smaller. `needs`:
 * what a model behind it must be able to do.
 */
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

/** Whether a conversation is longer than that. All texts count that go to a model, but for addresses of pictures. */
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

/** UTF-16 units of a text as JSON has it: a control character takes two or six, half of a surrogate pair six. */
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

/** Whether a code unit is half of a surrogate pair. */
function isHalf(code: number): boolean {
  return code >= 0xd800 && code < 0xe000
}

/** Whether the other half stands beside it. */
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

/** Rough number of tokens of what a model is asked with: the conversation, its tools, and the form of its answer. */
export function promptTokens({ messages, extra, form }: ChatCall): number {
  return estimatedPrompt(messages, extra, form.is === 'schema' ? form.schema : undefined)
}

/**
 * Why a chat does not fit the window of its model; null where it does, and for the pipeline of model-4, which makes it fit where it
 * is not too long for that.
 */
export function fitsWindow(call: ChatCall, models: Pick<ChatModels, 'facts'>): Fault | null {
  const { model, maxTokens } = call
  const chars = charsOf(call)
  if (chars > charsMax(call)) return tooLongFor(model, Math.ceil(chars / CHARS_PER_TOKEN), models)
  if (model === 'model-4' && !isSingleCall(call)) return null
  const tokens = promptTokens(call)
  const window = windowOf(model, models, needsOf(call))
  // Where no model at all can do it, a shorter conversation would not help.
  if (window === 0 || tokens + Math.min(maxTokens, ANSWER_TOKENS_MIN) <= window) return null
  return tooLongFor(model, tokens, models, needsOf(call))
}

/** Refuses a conversation with so many tokens, and says whose the window is. The fault is `chat/context-length`. */
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
