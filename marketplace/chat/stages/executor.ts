import type { ModelRole } from '../../ports/models.ts'
import type { Stage } from '../stage.ts'
import { askAnswer } from './ask.ts'
import { plannedMaterials, taskOf } from './task.ts'

const NAME = 'Executor'
const TASK =
  'You are the executor. Answer the last message of the user completely, in its language. Where a plan or research is quoted with it, ' +
  'use what is right in it and do not mention it.'
const CODE_TASK = `${TASK} Where code is asked for, write code that runs, in fenced blocks that name their language.`

/** Options of an executor. */
export interface ExecutorParts {
  readonly roles: readonly ModelRole[]
  readonly forCode: boolean
}

/** Writes the answer according to the plan. */
export function executor({ roles, forCode }: ExecutorParts): Stage {
  return {
    name: NAME,
    about: 'Writes the answer, following the plan.',
    makesText: true,
    isEssential: true,
    run: (state, context) => {
      const task = taskOf(NAME, forCode ? CODE_TASK : TASK, state, context)
      return askAnswer({ roles, task, materials: plannedMaterials(state) }, state, context)
    },
  }
}
