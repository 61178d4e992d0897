import { modeNotes } from '../modes.ts'
import type { ChatState, StageContext } from '../stage.ts'
import { HANDED_CHARS } from './bounds.ts'
import type { Material } from './prompt.ts'

/** Includes the additions of the current modes. */
export function taskOf(stage: string, task: string, state: ChatState, { call }: Pick<StageContext, 'call'>): string {
  const notes = modeNotes(call.model, state, stage)
  return notes === '' ? task : `${task}\n${notes}`
}

/** The research and the plan so far. */
export function plannedMaterials({ research, plan }: ChatState): readonly Material[] {
  return [
    ...(research === null ? [] : [{ name: 'research', text: research, charsMax: HANDED_CHARS.research }]),
    ...(plan === null ? [] : [{ name: 'plan', text: plan, charsMax: HANDED_CHARS.plan }]),
  ]
}
