import { fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { AnswerSchema } from '../models/backend.ts'
import { readJsonAnswer } from '../models/json-answer.ts'
import { isSpoken } from '../spoken.ts'
import type { ChatState, Stage, StageContext, Verdict } from '../stage.ts'
import { asChatFault } from '../upstream-fault.ts'
import { askAside, askRewrite } from './ask.ts'
import { HANDED_CHARS, ISSUE_CHARS_MAX, ISSUES_MAX } from './bounds.ts'
import { plannedMaterials, taskOf } from './task.ts'
import { brokenCode } from './validator.ts'

const NAME = 'Quality Evaluator'
const TASK =
  'You are the quality evaluator. An answer to the last message of the user is quoted. Judge whether it can be given as it is: it must ' +
  'do what was asked, be correct as far as you can tell, and respect the instructions it is under. It passes unless something is wrong ' +
  'that the user would mind. Answer with JSON alone: {"passes": true or false, "issues": ["what is wrong and how to put it right", ...]}; ' +
  'no issues where it passes.'
const REVISION_TASK =
  'You revise an answer. With the last message of the user the draft and its issues are quoted. Write the complete answer again with ' +
  'these issues put right. Only the answer itself, not a word on drafts, issues or changes.'

const SCHEMA: AnswerSchema = {
  name: 'verdict',
  schema: {
    type: 'object',
    properties: { passes: { type: 'boolean' }, issues: { type: 'array', items: { type: 'string' } } },
    required: ['passes', 'issues'],
    additionalProperties: false,
  },
}

/** An answer that does not pass is revised once if `revises` allows. An unreadable verdict counts as no evaluation. */
export function qualityEvaluator(revises: (state: ChatState) => boolean): Stage {
  return {
    name: NAME,
    about: 'Judges the answer; what does not pass is revised once.',
    makesText: true,
    keeps: 0,
    run: async (state, context) => {
      const judged = await verdictOn(state, context)
      if (!judged.ok) return judged
      const verdict = judged.value
      const seen = withVerdict(state, verdict, false)
      return verdict.passes || !revises(state) ? ok(seen) : revised(seen, verdict, context)
    },
  }
}

async function verdictOn(state: ChatState, context: StageContext): Promise<Result<Verdict>> {
  const broken = brokenCode(state)
  const materials = [
    { name: 'answer', text: state.text, charsMax: HANDED_CHARS.judged },
    ...(broken === '' ? [] : [{ name: 'findings', text: broken, charsMax: HANDED_CHARS.findings }]),
  ]
  const task = taskOf(NAME, TASK, state, context)
  const said = await askAside({ roles: ['judge', 'general'], task, materials }, state, context, SCHEMA)
  if (!said.ok) return said
  const verdict = readVerdict(said.value.text)
  return verdict === null ? fail(fault('chat/unjudged')) : ok(verdict)
}

/** Null if there is no verdict. */
function readVerdict(text: string): Verdict | null {
  const { passes, issues = [] } = readJsonAnswer(text) ?? {}
  if (typeof passes !== 'boolean' || !Array.isArray(issues)) return null
  const texts = issues.filter((issue) => typeof issue === 'string')
  return { passes, issues: texts.slice(0, ISSUES_MAX).map((issue) => issue.slice(0, ISSUE_CHARS_MAX).toWellFormed()) }
}

/** A revision that fails before its first word leaves the answer unchanged. */
async function revised(state: ChatState, verdict: Verdict, context: StageContext): Promise<Result<ChatState>> {
  let spoke = false
  const { say } = context
  const heard =
    say &&
    ((delta: Readonly<Record<string, unknown>>) => {
      spoke ||= isSpoken(delta)
      return say(delta)
    })
  const materials = [
    { name: 'issues', text: issuesOf(verdict), charsMax: HANDED_CHARS.critique },
    ...plannedMaterials(state),
  ]
  const question = { roles: ['general'] as const, task: REVISION_TASK, materials }
  const made = await askRewrite(question, state, { ...context, say: heard })
  if (made.ok) return made.value.note === undefined ? ok(withVerdict(made.value, verdict, true)) : made
  if (spoke) return made
  return ok({ ...state, note: `not revised: ${faultMessage(asChatFault(made.fault, context.call.model))}` })
}

/** The issues of a verdict as text. */
export function issuesOf({ issues }: Verdict): string {
  return issues.length === 0
    ? 'It does not pass, for reasons that were not given.'
    : issues.map((issue) => `- ${issue}`).join('\n')
}

function withVerdict(state: ChatState, verdict: Verdict, isRevised: boolean): ChatState {
  return { ...state, verdict, facts: { ...state.facts, evaluation: { ...verdict, revised: isRevised } } }
}
