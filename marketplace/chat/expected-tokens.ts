import type { ChatCall, ChatModelId } from './call.ts'
import { isOverlong, promptTokens } from './context-window.ts'
import { isSingleCall } from './single-call.ts'

/** Tokens that one answer is expected to have at most: clients name numbers that hardly any answer comes near. */
export const ANSWER_TOKENS_EXPECTED_MAX = 4_096
/** About how often the stages of a model read the conversation and write as much as an answer, where all of them run. */
const ROUNDS: Readonly<Record<ChatModelId, number>> = { 'model-1': 1, 'model-2': 3, 'model-3': 8, 'model-4': 6 }

/**
 * Tokens that a chat is expected to use in all, rather too many than too few: they are held back for it until it is over. One that is
 * refused for its length is not read for that.
 */
export function expectedTokens(call: ChatCall): number {
  const { model, maxTokens, count } = call
  const rounds = isSingleCall(call) ? count : ROUNDS[model]
  const prompt = isOverlong(call) ? 0 : promptTokens(call)
  return rounds * (prompt + Math.min(maxTokens, ANSWER_TOKENS_EXPECTED_MAX))
}
