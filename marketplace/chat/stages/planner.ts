import { ok } from '../../../consensus/primitives/result.ts'
import type { ModelRole } from '../../ports/models.ts'
import type { Stage } from '../stage.ts'
import { askAside } from './ask.ts'
import { plannedMaterials, taskOf } from './task.ts'

const NAME = 'Planner'
const TASK =
  'You are the planner. Write a short plan of how to answer the last message of the user as well as possible: what exactly is asked, ' +
  'the steps in their order, and what the answer must not miss. A numbered list, no answer to the user.'

/** Plans the answer. */
export function planner({ roles }: { readonly roles: readonly ModelRole[] }): Stage {
  return {
    name: NAME,
    about: 'Plans the answer: what is asked, the steps, and what must not be missed.',
    keeps: 0.6,
    run: async (state, context) => {
      const question = { roles, task: taskOf(NAME, TASK, state, context), materials: plannedMaterials(state) }
      const plan = await askAside(question, state, context)
      return plan.ok ? ok({ ...state, plan: plan.value.text }) : plan
    },
  }
}
