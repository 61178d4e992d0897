import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { estimatedPrompt } from '../models/usage.ts'
import type { ChatCall, ChatModelId } from './call.ts'
import { type ChatModels, TEXT_ROLES } from './desk.ts'

/** Window of each model in tokens, where a backend has as much. model-4 compresses what is longer. */
export const WINDOW_TOKENS: Readonly<Record<ChatModelId, number>> = {
  'model-1': 32_000,
  'model-2': 32_000,
  'model-3': 32_000,
  'model-4': 200_000,
}

/** Window that a model has on this node: that of its description, or of the largest model behind it where that is smaller. */
export function windowOf(model: ChatModelId, models: Pick<ChatModels, 'facts'>): number {
  const contexts = models.facts
    .flatMap((backend) => backend.models)
    .filter(({ roles }) => roles.some((role) => TEXT_ROLES.includes(role)))
    .map(({ context }) => context)
  return Math.min(WINDOW_TOKENS[model], Math.max(0, ...contexts))
}

/** Why a chat does not fit the window of its model; null where it does, and for model-4, which makes it fit. */
export function fitsWindow({ model, messages, maxTokens }: ChatCall, models: Pick<ChatModels, 'facts'>): Fault | null {
  const tokens = estimatedPrompt(messages)
  const window = windowOf(model, models)
  if (model === 'model-4' || tokens + Math.min(maxTokens, 128) <= window) return null
  return fault('chat/context-length', { param: 'messages', model, tokens, window })
}
