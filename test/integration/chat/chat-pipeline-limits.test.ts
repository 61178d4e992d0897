import { afterEach, describe, expect, it } from 'vitest'
import type { ChatOutcome } from '../../../marketplace/chat/call.ts'
import { estimatedPrompt } from '../../../marketplace/chat/models/usage.ts'
import {
  ASKING,
  type AskedStage,
  answerOf,
  asking,
  failIn,
  messagesOf,
  orderOf,
  promptOf,
  questionOf,
  reportOf,
  SAID,
  sayingByStage,
  stageOf,
  WORK,
} from '../../support/chat-stages.ts'
import { ChatWorld } from '../../support/chat-world.ts'

const BUDGET_MS = 10_000

let world: ChatWorld
afterEach(() => world.close())

/** A world whose clock advances only by the time that each stage takes. */
async function timed(taking: Partial<Record<AskedStage, number>>): Promise<void> {
  let nowMs = 0
  world = await ChatWorld.open({ means: { budgetMs: BUDGET_MS, clock: { now: () => nowMs } } })
  const say = sayingByStage()
  world.fake.answer = (question) => {
    nowMs += taking[stageOf(question)] ?? 0
    return say(question)
  }
}

const skipped = ({ report }: ChatOutcome): readonly string[] =>
  report.stages.filter(({ ran, reason }) => !ran && reason === 'time').map(({ stage }) => stage)

describe('the time of a call', () => {
  it.for([
    [8_999, []],
    [9_000, []],
    [9_001, ['Quality Evaluator']],
  ] as const)('is not enough for the evaluator under a second: after %i ms', async ([ms, missing]) => {
    await timed({ Executor: ms })
    const { outcome, text, pieces } = await world.read(asking('model-2'))
    if (!outcome.ok) throw new Error(outcome.fault.code)
    expect(skipped(outcome.value)).toEqual(missing)
    expect(text).toBe(SAID.Executor)
    expect(pieces).toHaveLength(1)
    expect('evaluation' in outcome.value.report).toBe(missing.length === 0)
  })

  it('has the executor speak where there is none left for the evaluator', async () => {
    await timed({ Planner: 9_500 })
    const { outcome, text, pieces } = await world.read(asking('model-2'))
    if (!outcome.ok) throw new Error(outcome.fault.code)
    expect(skipped(outcome.value)).toEqual(['Quality Evaluator'])
    expect(questionOf(world, 'Executor').body.stream).toBe(true)
    expect(text).toBe(SAID.Executor)
    expect(pieces.length).toBeGreaterThan(1)
  })

  it.for([
    [{ Executor: 9_500 }, ['Synthesizer', 'Critic', 'Quality Evaluator', 'Reviewer'], SAID.Executor],
    [{ Executor: 7_500 }, ['Synthesizer', 'Critic'], SAID.Reviewer],
    [{ Researcher: 4_000, Executor: 1_000 }, ['Planner'], SAID.Reviewer],
    [{ Synthesizer: 8_000 }, ['Critic'], SAID.Reviewer],
    [{ Synthesizer: 9_500 }, ['Critic', 'Quality Evaluator', 'Reviewer'], SAID.Synthesizer],
  ] as const)('is shared out among the stages of model-3: %o', async ([taking, missing, answer]) => {
    await timed(taking)
    const outcome = await world.outcome(asking('model-3', WORK))
    expect(skipped(outcome)).toEqual(missing)
    expect(answerOf(outcome)).toBe(answer)
    const asked = ASKING.filter((stage) => reportOf(outcome, stage)?.ran)
    expect(orderOf(world)).toEqual(asked)
  })

  it.for(['Planner', 'Quality Evaluator'] as const)(
    'ends a stage that takes more than its share: %s',
    async (stage) => {
      world = await ChatWorld.open({ means: { budgetMs: 3_000 } })
      world.fake.answer = sayingByStage()
      failIn(world.fake, [stage], 'hang')
      const outcome = await world.outcome(asking('model-2'))
      expect(skipped(outcome)).toEqual([stage])
      expect(answerOf(outcome)).toBe(SAID.Executor)
      await world.settled()
    },
  )

  it('that is over without an answer is a timeout', async () => {
    world = await ChatWorld.open({ means: { budgetMs: 1_500 } })
    world.fake.answer = sayingByStage()
    failIn(world.fake, ['Executor'], 'hang')
    const { outcome, pieces } = await world.read(asking('model-2'))
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'chat/timeout' } })
    expect(pieces).toEqual([])
    await world.settled()
  })
})

describe('the window of the models', () => {
  const CONTEXT = 2_000
  const small = (context = CONTEXT) => ChatWorld.open({ backends: [{ models: [{ context }] }] })
  const words = (count: number): string => 'lorem ipsum '.repeat(count / 2).trim()
  const prompts = () => world.fake.questions.map((question) => estimatedPrompt(messagesOf(question)))
  const NO_ROOM = 'the text does not fit the context window of the models'

  it.for([10, 300, 600, 900, 1_100, 1_500])(
    'holds every prompt, whatever the conversation: %i words',
    async (count) => {
      world = await small()
      const long = words(600)
      world.fake.answer = sayingByStage({ Researcher: long, Planner: long, Executor: long, Critic: long })
      const outcome = await world.outcome(asking('model-3', `@code ${words(count)}`))
      for (const tokens of prompts()) expect(tokens + 128).toBeLessThanOrEqual(CONTEXT)
      expect(String(answerOf(outcome))).toMatch(/./)
      const left = outcome.report.stages.filter(({ ran, models }) => !ran && models.length === 0)
      const known = [NO_ROOM, 'there is no code to check', 'there is no critique']
      expect(left.filter(({ reason }) => !known.includes(reason as string))).toEqual([])
      expect(questionOf(world, 'Executor')).toBeDefined()
    },
  )

  it('of a very small model has room for every stage of a short question', async () => {
    world = await small(640)
    world.fake.answer = sayingByStage()
    const outcome = await world.outcome(asking('model-3', '@code sort a list'))
    expect(orderOf(world)).toEqual(ASKING)
    expect(answerOf(outcome)).toBe(SAID.Reviewer)
    for (const tokens of prompts()) expect(tokens + 128).toBeLessThanOrEqual(640)
  })

  it('that is full of the conversation leaves the executor alone with it', async () => {
    world = await small()
    world.fake.answer = () => SAID.Executor
    const content = words(1_860)
    const outcome = await world.outcome(asking('model-2', content))
    const bare = world.fake.questions.map(messagesOf).filter((messages) => messages.length === 1)
    expect(bare).toEqual([[{ role: 'user', content }]])
    expect(answerOf(outcome)).toBe(SAID.Executor)
  })

  it('too small to write a draft anew leaves it as it is, and judges what fits of it', async () => {
    world = await small()
    const draft = `BEGIN ${words(1_800)} END`
    world.fake.answer = sayingByStage({ Executor: draft })
    const outcome = await world.outcome({ ...asking('model-3', WORK), maxTokens: 4_000 })
    expect(answerOf(outcome)).toBe(draft)
    for (const stage of ['Synthesizer', 'Reviewer'])
      expect(reportOf(outcome, stage)).toMatchObject({ ran: false, reason: NO_ROOM })
    expect(promptOf(questionOf(world, 'Critic'))).toMatch(/BEGIN .*\[\d+ characters left out\].* END/s)
    expect(reportOf(outcome, 'Quality Evaluator')).toMatchObject({ ran: true })
  })

  it('is that of the largest model, and the newest turns stay where not all fit', async () => {
    world = await small()
    world.fake.answer = sayingByStage()
    const messages = Array.from({ length: 9 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `turn ${i}: ${words(180)}`,
    }))
    await world.outcome({ model: 'model-2', messages })
    const judged = promptOf(questionOf(world, 'Quality Evaluator'))
    expect(judged).toMatch(/The conversation without its first \d messages:/)
    expect(judged).toContain('turn 8')
    expect(judged).not.toContain('turn 0')
  })
})
