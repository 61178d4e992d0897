import { ok } from '../../../consensus/primitives/result.ts'
import type { CodeFindings } from '../../ports/chat-tasks.ts'
import { windowOf } from '../context-window.ts'
import { estimatedPrompt } from '../models/usage.ts'
import type { ChatState, Stage, StageContext } from '../stage.ts'
import { checkCode, withFindings } from '../stages/validator.ts'
import { cutText, quoted, withInstruction } from './instruct.ts'
import { polishPrompt, synthesisPrompt } from './prompts.ts'
import { notOfTier, routeOf } from './route-stage.ts'
import { askForText } from './speak.ts'

const DRAFT_CHARS_MIN = 600
const CHARS_PER_TOKEN = 3
/** With less time than this, the answer is not polished. */
const POLISH_MS_MIN = 2_000
const PROBLEMS_MAX = 10
const FENCE = /^[ \t]{0,12}(?:```|~~~)/m

/** Joins the drafts into one answer. */
export const synthesisStage: Stage = {
  name: 'Deep-thinking synthesis',
  about: 'A model that reasons compares the drafts, decides where they disagree, and writes one answer.',
  makesText: true,
  keeps: 0.1,
  skip: (state) => notOfTier('standard', state) ?? (state.drafts.length < 2 ? 'there is one draft only' : null),
  run: async (state, context) => {
    const chars = draftRoom(state, context)
    const drafts = quoted(
      'drafts',
      state.drafts.map((draft) => cutText(draft, chars)),
    )
    const messages = withInstruction(state.messages, synthesisPrompt(drafts))
    const said = await askForText(state, context, { roles: ['reason', 'general'], messages })
    return said.ok ? ok(said.value.state) : said
  },
}

/** The code is never run. */
export const codeStage: Stage = {
  name: 'Code validation',
  about:
    'Parses the code blocks of the answer, for questions about code; what is broken is repaired in the polish pass.',
  keeps: 0.05,
  skip: (state) => {
    if (routeOf(state).task !== 'code') return 'the question is not about code'
    return notOfTier('standard', state) ?? (FENCE.test(state.text) ? null : 'there is no code in the answer')
  },
  run: async (state, context) => {
    const checked = await checkCode(state.text, context)
    if (!checked.ok) return checked
    const issues = problemsIn(checked.value)
    const told = withFindings(state, 'draft', checked.value)
    return ok({ ...told, verdict: { passes: issues.length === 0, issues } })
  },
}

/** Edits the answer once more. */
export const polishStage: Stage = {
  name: 'Polish pass',
  about: 'A model goes over language and order of the answer once more, and repairs code that did not parse.',
  makesText: true,
  skip: (state, { remainingMs }) =>
    notOfTier('standard', state) ?? (remainingMs() < POLISH_MS_MIN ? 'there is no time left for it' : null),
  run: async (state, context) => {
    const messages = withInstruction(
      state.messages,
      polishPrompt(quoted('answer', state.text), state.verdict?.issues ?? []),
    )
    const said = await askForText(state, context, { roles: ['general', 'reason'], messages })
    return said.ok ? ok(said.value.state) : said
  },
}

function problemsIn({ blocks }: CodeFindings): readonly string[] {
  const broken = blocks.filter(({ verdict }) => verdict === 'broken')
  return broken
    .slice(0, PROBLEMS_MAX)
    .map(({ language, line, problem }) => `${language} block at line ${line}: ${problem ?? ''}`)
}

/** Characters for each draft, beside the conversation and the answer. */
function draftRoom({ messages, drafts }: ChatState, { call, means }: StageContext): number {
  const window = windowOf('model-4', means.models)
  const room = window - estimatedPrompt(messages) - Math.min(call.maxTokens, Math.floor(window / 4)) - DRAFT_CHARS_MIN
  return Math.max(DRAFT_CHARS_MIN, Math.floor((room * CHARS_PER_TOKEN) / drafts.length))
}
