import { ok } from '../../../consensus/primitives/result.ts'
import type { ChatState, Stage, StageContext } from '../stage.ts'
import { cutText } from './instruct.ts'
import { JUDGE_PROMPT } from './prompts.ts'
import { routeOf } from './route-stage.ts'
import { withText } from './speak.ts'
import { vote } from './vote.ts'

const JUDGE_TOKENS = 16
const SOLUTION_CHARS_MAX = 8_000
const PROBLEM_CHARS_MAX = 8_000

/** Decides between the samples of the deep tier. */
export const voteStage: Stage = {
  name: 'Self-consistency voting',
  about: 'Three samples of the deep tier vote by their final answers; where none has a majority a judge decides.',
  makesText: true,
  skip: (state) => {
    const { tier } = routeOf(state)
    if (tier !== 'deep') return `not in the ${tier} tier`
    return state.drafts.length < 2 ? 'there is one sample only' : null
  },
  run: async (state, context) => {
    const { groups, winner } = vote(state.drafts)
    const judged = winner === null ? await judge(state, context) : null
    const chosen = winner ?? judged ?? 0
    const by = winner !== null ? 'majority' : judged !== null ? 'judge' : 'order'
    const facts = {
      ...state.facts,
      vote: { samples: state.drafts.length, agreeing: groups.map(({ length }) => length), by },
    }
    return ok({ ...withText(state, state.drafts[chosen] ?? state.text, state.finishReason), facts })
  },
}

/** Index of the solution that a judge takes for right; null where it fails or names none. */
async function judge({ question, drafts }: ChatState, { desk, signal }: StageContext): Promise<number | null> {
  const solutions = drafts.map((text, index) => ({ index, text: cutText(text, SOLUTION_CHARS_MAX) }))
  const problem = cutText(question, PROBLEM_CHARS_MAX)
  const answered = await desk.ask(
    {
      roles: ['judge', 'reason', 'general'],
      messages: [
        { role: 'system', content: JUDGE_PROMPT },
        { role: 'user', content: JSON.stringify({ problem, solutions }) },
      ],
      maxTokens: JUDGE_TOKENS,
      temperature: 0,
    },
    signal,
  )
  if (!answered.ok) return null
  const named = /\d{1,3}/.exec(answered.value.text.slice(0, 200))
  const index = named === null ? -1 : Number(named[0])
  return index >= 0 && index < drafts.length ? index : null
}
