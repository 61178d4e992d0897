import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { ModelSupport } from '../models/backend.ts'
import { estimatedTokens } from '../models/tokens.ts'
import { estimatedPrompt } from '../models/usage.ts'
import type { ChatCall, ChatModelId } from './call.ts'
import { textOfMessage } from './conversation.ts'
import { type ChatModels, TEXT_ROLES } from './desk.ts'
import { isSingleCall, needsOf } from './single-call.ts'

/** Window of each model in tokens, where a backend has as much. model-4 compresses what is longer. */
export const WINDOW_TOKENS: Readonly<Record<ChatModelId, number>> = {
  'model-1': 32_000,
  'model-2': 32_000,
  'model-3': 32_000,
  'model-4': 200_000,
}

/**
 * UTF-16 units of a conversation at most, whatever its tokens: some seven for each token of the largest window. A longer one would be
 * hundreds of questions for its summaries alone, most of which the window has no room for.
 */
export const CONVERSATION_CHARS_MAX = 1_500_000

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
    .filter(({ roles }) => roles.some((role) => TEXT_ROLES.includes(role)))
    .filter(({ supports }) => needs.every((need) => supports.has(need)))
    .map(({ context }) => context)
  return Math.min(WINDOW_TOKENS[model], Math.max(0, ...contexts))
}

/**
 * Why a chat does not fit the window of its model; null where it does, and for the pipeline of model-4, which makes it fit where it
 * is not too long for that.
 */
export function fitsWindow(call: ChatCall, models: Pick<ChatModels, 'facts'>): Fault | null {
  const { model, messages, maxTokens, extra } = call
  const texts = messages.map(textOfMessage)
  if (texts.reduce((sum, { length }) => sum + length, 0) > CONVERSATION_CHARS_MAX) {
    // Of the whole at once, which is looked at here and there.
    const about = estimatedTokens(texts.join('\n'))
    return tooLongFor(model, about, models)
  }
  if (model === 'model-4' && !isSingleCall(call)) return null
  const tokens = estimatedPrompt(messages, extra)
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
