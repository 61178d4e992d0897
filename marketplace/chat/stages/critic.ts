import { ok } from '../../../consensus/primitives/result.ts'
import type { Stage } from '../stage.ts'
import { askAside } from './ask.ts'
import { HANDED_CHARS } from './bounds.ts'
import { taskOf } from './task.ts'

const NAME = 'Critic'
/** The answer if the critic found nothing. */
const NOTHING = 'NOTHING'
const TASK =
  'You are the critic. A draft of the answer to the last message of the user is quoted. List what is wrong with it, the worst first: ' +
  'errors, gaps, bugs, risks, what was asked for and is missing. Each with its place and how to put it right; no praise. ' +
  `If nothing is wrong, answer with the word ${NOTHING} alone.`

/** Looks for faults in the draft. */
export const critic: Stage = {
  name: NAME,
  about: 'Lists what is wrong with the draft, and how to put it right.',
  keeps: 0.3,
  run: async (state, context) => {
    const materials = [{ name: 'draft', text: state.text, charsMax: HANDED_CHARS.judged }]
    const task = taskOf(NAME, TASK, state, context)
    const said = await askAside({ roles: ['reason', 'judge'], task, materials }, state, context)
    if (!said.ok) return said
    return ok({ ...state, critique: isNothing(said.value.text) ? '' : said.value.text })
  },
}

function isNothing(text: string): boolean {
  return text.length < 2 * NOTHING.length && text.replaceAll(/[^a-z]/gi, '').toUpperCase() === NOTHING
}
