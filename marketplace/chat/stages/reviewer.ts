import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ChatState, Stage, StageContext } from '../stage.ts'
import { askRewrite } from './ask.ts'
import { HANDED_CHARS } from './bounds.ts'
import type { Material } from './prompt.ts'
import { issuesOf } from './quality-evaluator.ts'
import { taskOf } from './task.ts'
import { brokenCode, checkCode, hasCode, withFindings } from './validator.ts'

const NAME = 'Reviewer'
const TASK =
  'You are the reviewer, and the last to touch the answer. With the last message of the user the draft is quoted, and maybe issues that ' +
  'were found in it and findings of a parser on its code. Write the final answer: put right what is wrong, and leave what is right as it ' +
  'is, word by word. Only the answer itself, not a word on drafts, issues or changes; code stays complete.'

/** Writes the final answer, streamed if there is a reader. */
export const reviewer: Stage = {
  name: NAME,
  about: 'Writes the final answer, with what the evaluator and the parsers found put right.',
  makesText: true,
  keeps: 0,
  run: async (state, context) => {
    const task = taskOf(NAME, TASK, state, context)
    const made = await askRewrite({ roles: ['code', 'general'], task, materials: found(state) }, state, context)
    return made.ok ? checkedAgain(made.value, context) : made
  },
}

function found(state: ChatState): readonly Material[] {
  const broken = brokenCode(state)
  const { verdict } = state
  return [
    ...(verdict === null || verdict.passes
      ? []
      : [{ name: 'issues', text: issuesOf(verdict), charsMax: HANDED_CHARS.critique }]),
    ...(broken === '' ? [] : [{ name: 'findings', text: broken, charsMax: HANDED_CHARS.findings }]),
  ]
}

/** The findings are about the final answer if it can be parsed again, else about the draft. */
async function checkedAgain(state: ChatState, context: StageContext): Promise<Result<ChatState>> {
  if (!hasCode(state.text)) return ok(state)
  const checked = await checkCode(state.text, context)
  return ok(checked.ok ? withFindings(state, 'answer', checked.value) : state)
}
