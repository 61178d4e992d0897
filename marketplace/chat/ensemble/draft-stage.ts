import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { DeskQuestion } from '../desk.ts'
import type { PoolAnswer } from '../models/pool.ts'
import type { ChatState, Stage, StageContext } from '../stage.ts'
import { draftModels } from './draft-models.ts'
import { gather } from './gather.ts'
import { withInstruction } from './instruct.ts'
import { draftPrompt, SAMPLE_PROMPT, SHORT_PROMPT } from './prompts.ts'
import { routeOf } from './route-stage.ts'
import { askForText, type SpokenQuestion, withText } from './speak.ts'
import type { Task } from './tiers.ts'

/** Used if fewer than two models can write a draft. */
const SAMPLED_TEMPERATURES = [0.3, 0.7, 1]
/** Number of samples of the deep tier, and their temperature. */
const SAMPLES = 3
const SAMPLE_TEMPERATURE = 0.7
/** After this share of the remaining time, one draft is enough to go on. */
const TIME_SHARE = 0.3

interface Asked {
  readonly questions: readonly DeskQuestion[]
  /** All drafts answer the same question, so they differ by chance or temperature and not by model. */
  readonly sampled: boolean
}

/** Writes the drafts: several models or several samples at once. */
export const draftStage: Stage = {
  name: 'Parallel draft generation',
  about:
    'Asks up to 10 different models for a draft at once; samples of one model where there is no other, and in the deep tier; one model alone in the instant and fast tiers and for images.',
  makesText: true,
  isEssential: true,
  run: (state, context) => {
    const { tier, task } = routeOf(state)
    if (task === 'images') return byOneThatSees(state, context)
    if (tier === 'deep') return together(state, context, samplesOf(state, context))
    return tier === 'standard'
      ? together(state, context, draftsOf(state, context, task))
      : byOne(state, context, { roles: ['fast'], messages: withInstruction(state.messages, SHORT_PROMPT) })
  },
}

async function byOne(state: ChatState, context: StageContext, question: SpokenQuestion): Promise<Result<ChatState>> {
  const answered = await askForText(state, context, question)
  if (!answered.ok) return answered
  const { state: said, answer } = answered.value
  return ok({
    ...said,
    facts: { ...said.facts, drafts: { asked: 1, answered: 1, models: [answer.model], sampled: false } },
  })
}

/** One model that sees images is asked: others would answer without seeing them. */
async function byOneThatSees(state: ChatState, context: StageContext): Promise<Result<ChatState>> {
  const { messages } = state
  const answered = await byOne(state, context, { roles: ['vision'], needs: ['vision'], messages })
  if (!answered.ok) return answered
  const { facts } = answered.value
  return ok({ ...answered.value, facts: { ...facts, ensemble: 'not used: one model that sees images answers' } })
}

async function together(
  state: ChatState,
  context: StageContext,
  { questions, sampled }: Asked,
): Promise<Result<ChatState>> {
  const answers = await gather(questions, context.remainingMs() * TIME_SHARE, context)
  if (!answers.ok) return answers
  const usable = wholeOnes(answers.value)
  const [first] = usable
  if (first === undefined) return fail(fault('model/none', { reason: 'no model was asked' }))
  const models = [...new Set(answers.value.map(({ model }) => model))]
  const drafts = { asked: questions.length, answered: answers.value.length, models, sampled }
  const said = withText(state, context, first)
  return ok({ ...said, drafts: usable.map(({ text }) => text), facts: { ...state.facts, drafts } })
}

function draftsOf({ messages }: ChatState, { call, means }: StageContext, task: Task): Asked {
  const models = draftModels(means.models, messages)
  const { maxTokens, temperature } = call
  const given = withInstruction(messages, draftPrompt(task))
  const [only] = models
  if (models.length < 2) {
    const one = only === undefined ? {} : { only: { backend: only.backend, model: only.model } }
    const roles = only?.roles ?? ['general', 'code', 'reason']
    const questions = SAMPLED_TEMPERATURES.map((at) => ({ roles, messages: given, maxTokens, temperature: at, ...one }))
    return { questions, sampled: true }
  }
  const questions = models.map(({ backend, model, roles }) => ({
    roles,
    only: { backend, model },
    messages: given,
    maxTokens,
    ...(temperature !== null && { temperature }),
  }))
  return { questions, sampled: false }
}

function samplesOf({ messages }: ChatState, { call }: StageContext): Asked {
  const question: DeskQuestion = {
    roles: ['reason', 'general'],
    messages: withInstruction(messages, SAMPLE_PROMPT),
    maxTokens: call.maxTokens,
    temperature: SAMPLE_TEMPERATURE,
    extra: call.extra,
  }
  return { questions: Array.from({ length: SAMPLES }, () => question), sampled: true }
}

/** All answers if none is complete. */
function wholeOnes(answers: readonly PoolAnswer[]): readonly PoolAnswer[] {
  const whole = answers.filter(({ finishReason }) => finishReason !== 'length')
  return whole.length > 0 ? whole : answers
}
