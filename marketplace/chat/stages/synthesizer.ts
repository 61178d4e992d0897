import type { Stage } from '../stage.ts'
import { askRewrite } from './ask.ts'
import { plannedMaterials, taskOf } from './task.ts'

const NAME = 'Synthesizer'
const TASK =
  'You are the synthesizer. With the last message of the user a draft of the answer is quoted, and maybe research and a plan. Write the ' +
  'complete answer: the draft with everything put right and added that research and plan show to be missing. Only the answer itself, ' +
  'not a word on drafts or changes; code stays complete.'

/** Joins draft, plan and research. */
export const synthesizer: Stage = {
  name: NAME,
  about: 'Brings the draft together with the research and the plan into one answer.',
  makesText: true,
  keeps: 0.35,
  run: (state, context) => {
    const task = taskOf(NAME, TASK, state, context)
    return askRewrite({ roles: ['code', 'general'], task, materials: plannedMaterials(state) }, state, context)
  },
}
