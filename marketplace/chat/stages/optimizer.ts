import type { ChatState, Stage } from '../stage.ts'
import { askRewrite } from './ask.ts'
import { HANDED_CHARS } from './bounds.ts'
import { taskOf } from './task.ts'

const NAME = 'Optimizer'
const TASK =
  'You are the optimizer. With the last message of the user a draft of the answer and a critique of it are quoted. Write the complete ' +
  'answer again with everything put right that the critique is right about, and improved where it is slow, long-winded or hard to read. ' +
  'Only the answer itself, not a word on drafts or changes; code stays complete.'

/** Rewrites the draft by the critique. */
export const optimizer: Stage = {
  name: NAME,
  about: 'Rewrites the draft so that it meets the critique.',
  makesText: true,
  keeps: 0.15,
  skip: ({ critique }) =>
    critique === null ? 'there is no critique' : critique === '' ? 'the critic found nothing' : null,
  run: (state, context) => {
    const task = taskOf(NAME, TASK, state, context)
    return askRewrite({ roles: ['code', 'general'], task, materials: critiqued(state) }, state, context)
  },
}

function critiqued({ critique }: ChatState) {
  return [{ name: 'critique', text: critique ?? '', charsMax: HANDED_CHARS.critique }]
}
