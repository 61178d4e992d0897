import { ok } from '../../../consensus/primitives/result.ts'
import type { ChatState, Stage, StageContext } from '../stage.ts'
import { cutText } from './instruct.ts'
import { JUDGE_PROMPT } from './prompts.ts'
import { notOfTier } from './route-stage.ts'
import { withText } from './speak.ts'
import { vote } from './vote.ts'

/** The judge needs room to reason before it decides. */
const JUDGE_TOKENS = 1_024
/** In an answer of at most this many characters, any number is taken for the index. */
const BARE_CHARS_MAX = 40
const BEST = /\bbest\W{0,4}(\d{1,3})/gi
const SOLUTION_CHARS_MAX = 8_000
const PROBLEM_CHARS_MAX = 8_000

/** Chooses among the samples of the deep tier. */
export const voteStage: Stage = {
  name: 'Self-consistency voting',
  about: 'Three samples of the deep tier vote by their final answers; where none has a majority a judge decides.',
  makesText: true,
  skip: (state) => notOfTier('deep', state) ?? (state.drafts.length < 2 ? 'there is one sample only' : null),
  run: async (state, context) => {
    const { groups, winner } = vote(state.drafts)
    const judged = winner === null ? await judge(state, context) : null
    const chosen = winner ?? judged ?? 0
    const by = winner !== null ? 'majority' : judged !== null ? 'judge' : 'order'
    const facts = {
      ...state.facts,
      vote: { samples: state.drafts.length, agreeing: groups.map(({ length }) => length), by },
    }
    const text = state.drafts[chosen] ?? state.text
    return ok({ ...withText(state, context, { text, finishReason: state.finishReason }), facts })
  },
}

/** Null if the judge fails or names none. */
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
  const index = indexNamed(answered.value.text)
  return index >= 0 && index < drafts.length ? index : null
}

/** From the last "Best: N", or from a short answer. -1 if there is none. */
function indexNamed(text: string): number {
  const named =
    [...text.matchAll(BEST)].at(-1)?.[1] ?? (text.length <= BARE_CHARS_MAX ? /\d{1,3}/.exec(text)?.[0] : undefined)
  return named === undefined ? -1 : Number(named)
}
