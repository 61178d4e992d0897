import { ok } from '../../../consensus/primitives/result.ts'
import type { Stage } from '../stage.ts'
import { askAside } from './ask.ts'
import { taskOf } from './task.ts'

const NAME = 'Researcher'
const TASK =
  'You are the researcher. Collect from what you know whatever is needed to do what the last message of the user asks: facts, ' +
  'interfaces with their exact names, versions, limits, known traps. Say what you are not sure of. Brief notes, no answer to the user.'

/** Asks the model alone, without a search. */
export const researcher: Stage = {
  name: NAME,
  about: 'Collects from what a model knows the facts, interfaces and traps that matter for the question.',
  keeps: 0.8,
  run: async (state, context) => {
    const task = taskOf(NAME, TASK, state, context)
    const notes = await askAside({ roles: ['general', 'fast'], task, materials: [] }, state, context)
    return notes.ok ? ok({ ...state, research: notes.value.text }) : notes
  },
}
