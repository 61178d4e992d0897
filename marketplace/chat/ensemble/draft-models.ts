import type { ModelRole } from '../../ports/models.ts'
import { type ChatModels, TEXT_ROLES } from '../desk.ts'
import type { ChatMessage } from '../models/backend.ts'
import { estimatedPrompt } from '../models/usage.ts'

/** Most models that are asked for a draft. */
export const DRAFTS_MAX = 10
/** Least room for an answer that a model must have, in tokens. */
const ANSWER_TOKENS_MIN = 256

/** A model that can write a draft. */
export interface DraftModel {
  readonly backend: string
  readonly model: string
  /** Only roles that answer in text. */
  readonly roles: readonly ModelRole[]
}

/** In the order of their backends. A model on two backends counts once, by its id, which is not verified. */
export function draftModels(
  { facts }: Pick<ChatModels, 'facts'>,
  messages: readonly ChatMessage[],
): readonly DraftModel[] {
  const tokens = estimatedPrompt(messages) + ANSWER_TOKENS_MIN
  const found = new Map<string, DraftModel>()
  for (const { name, usable, models } of facts)
    for (const { id, roles, context } of models) {
      const texts = TEXT_ROLES.filter((role) => roles.includes(role))
      if (usable && texts.length > 0 && tokens <= context && !found.has(id))
        found.set(id, { backend: name, model: id, roles: texts })
    }
  return [...found.values()].slice(0, DRAFTS_MAX)
}
