import type { ModelUsage } from '../ports/models.ts'
import type { ChatCall, ChatModelId } from './call.ts'
import { isOverlong, promptTokens } from './context-window.ts'
import { isSingleCall } from './single-call.ts'

/** Clients often allow far more tokens than they use. */
export const ANSWER_TOKENS_EXPECTED_MAX = 4_096
/** How often the stages of a model are expected to read the conversation and write as much as an answer. */
const ROUNDS: Readonly<Record<ChatModelId, number>> = { 'model-1': 1, 'model-2': 3, 'model-3': 8, 'model-4': 6 }

/** A rough estimate over all stages. A conversation that is too long will be refused, so it is not counted. */
export function expectedTokens(call: ChatCall): number {
  const { promptTokens: read, completionTokens: written } = mostUsage({
    ...call,
    maxTokens: Math.min(call.maxTokens, ANSWER_TOKENS_EXPECTED_MAX),
  })
  return read + written
}

/** The same with as long an answer as the caller allows. */
export function mostUsage(call: ChatCall): Pick<ModelUsage, 'promptTokens' | 'completionTokens'> {
  const { model, maxTokens, count } = call
  const rounds = isSingleCall(call) ? count : ROUNDS[model]
  const prompt = isOverlong(call) ? 0 : promptTokens(call)
  return { promptTokens: rounds * prompt, completionTokens: rounds * maxTokens }
}
