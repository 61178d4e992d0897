import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ChatPiece } from '../../../marketplace/chat/call.ts'
import {
  ASKED_STAGES,
  ASKING,
  type AskedStage,
  answerOf,
  asking,
  FAILED,
  failIn,
  orderOf,
  reportOf,
  reset,
  SAID,
  sayingByStage,
  stageOf,
  TEN,
  WORK,
} from '../../support/chat-stages.ts'
import { ChatWorld, callOf } from '../../support/chat-world.ts'
import { until } from '../../support/processes.ts'

let world: ChatWorld
beforeAll(async () => {
  world = await ChatWorld.open()
})
afterAll(() => world.close())
beforeEach(() => reset(world.fake))

describe('a stage that fails', () => {
  const LEFT = ASKING.filter((stage) => stage !== 'Executor')
  const ANSWER: Partial<Record<AskedStage, string>> = { Reviewer: SAID.Optimizer }

  it.for(LEFT)('is left out of model-3, and said to be: %s', async (stage) => {
    failIn(world.fake, [stage])
    const { outcome, text } = await world.read(asking('model-3', WORK))
    if (!outcome.ok) throw new Error(outcome.fault.code)
    expect(text).toBe(ANSWER[stage] ?? SAID.Reviewer)
    expect(answerOf(outcome.value)).toBe(text)
    expect(reportOf(outcome.value, stage)).toMatchObject({
      ran: false,
      reason: 'the model behind model-3 failed: it gave no usable answer',
      models: [],
    })
    const without = stage === 'Critic' ? [stage, 'Optimizer', 'Validator'] : [stage, 'Validator']
    const ran = outcome.value.report.stages.filter((one) => one.ran).map((one) => one.stage)
    expect(ran).toEqual(TEN.filter((one) => !without.includes(one)))
  })

  it.for(['Planner', 'Quality Evaluator'] as const)('is left out of model-2: %s', async (stage) => {
    failIn(world.fake, [stage])
    const outcome = await world.outcome(asking('model-2'))
    expect(answerOf(outcome)).toBe(SAID.Executor)
    expect(outcome.report.stages.filter(({ ran }) => !ran).map((one) => one.stage)).toEqual([stage])
    expect(outcome.report).toHaveProperty(stage === 'Planner' ? 'evaluation' : 'pipeline')
  })

  it('is one that calls tools that were not offered', async () => {
    failIn(world.fake, ['Planner', 'Critic', 'Reviewer'], 'tool-calls')
    const { outcome, text } = await world.read(asking('model-3', WORK))
    if (!outcome.ok) throw new Error(outcome.fault.code)
    expect(text).toBe(SAID.Synthesizer)
    for (const stage of ['Planner', 'Critic', 'Reviewer']) expect(reportOf(outcome.value, stage)?.ran).toBe(false)
  })

  it('leaves an answer where all fail but the executor', async () => {
    failIn(
      world.fake,
      ASKED_STAGES.filter((stage) => stage !== 'Executor'),
    )
    const { outcome, text } = await world.read(asking('model-3', WORK))
    expect(outcome.ok).toBe(true)
    expect(text).toBe(SAID.Executor)
  })

  it.for(['model-2', 'model-3'] as const)('and is the executor leaves no answer: %s', async (model) => {
    failIn(world.fake, ['Executor'])
    const { outcome, pieces } = await world.read(asking(model, WORK))
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'chat/upstream' } })
    expect(pieces).toEqual([])
    expect(orderOf(world).at(-1)).toBe('Executor')
  })

  it('in the middle of its words ends the call', async () => {
    failIn(world.fake, ['Reviewer'], 'cut')
    const { outcome, text } = await world.read(asking('model-3', WORK))
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'chat/upstream' } })
    expect(SAID.Reviewer.startsWith(text) && text.length > 0).toBe(true)
    world.fake.answer = sayingByStage({ 'Quality Evaluator': FAILED })
    failIn(world.fake, ['Revision'], 'late-error')
    const revision = await world.read(asking('model-2'))
    expect(revision.outcome).toMatchObject({ ok: false, fault: { code: 'chat/upstream' } })
    expect(SAID.Revision.startsWith(revision.text) && revision.text.length > 0).toBe(true)
  })
})

describe('a caller who reads along', () => {
  it('reads the last stage in pieces, and nothing of those before', async () => {
    const { outcome, pieces, text } = await world.read(asking('model-3', WORK))
    expect(outcome.ok && answerOf(outcome.value)).toBe(text)
    expect(text).toBe(SAID.Reviewer)
    expect(pieces.length).toBeGreaterThan(3)
    expect(world.fake.questions.filter(({ body }) => body.stream === true).map(stageOf)).toEqual(['Reviewer'])
  })

  it('is told that there will be something once a model has answered', async () => {
    const { readyAt } = await world.read(asking('model-3', WORK))
    expect(readyAt).toBe(0)
    failIn(world.fake, ['Researcher', 'Planner', 'Executor'])
    expect((await world.read(asking('model-3', WORK))).readyAt).toBeNull()
  })

  it.for([
    ['model-3', 'Reviewer', WORK],
    ['model-2', 'Revision', 'How are you?'],
  ] as const)('reads pieces of %s before the end', async ([model, stage, question]) => {
    world.fake.answer = sayingByStage({ 'Quality Evaluator': FAILED })
    failIn(world.fake, [stage], 'stall')
    const caller = new AbortController()
    let heard = ''
    const take = ({ delta }: ChatPiece): void => {
      heard += textIn(delta)
    }
    const sink = { ready: () => undefined, take }
    const call = callOf(asking(model, question))
    const answering = world.platform.answer(call, sink, caller.signal)
    await until('a piece came', () => heard !== '')
    expect(SAID[stage].startsWith(heard)).toBe(true)
    caller.abort()
    expect(await answering).toMatchObject({ ok: false, fault: { code: 'chat/aborted' } })
    await world.settled()
  })

  it('reads a draft that passes in one piece', async () => {
    const { pieces, text } = await world.read(asking('model-2'))
    expect(text).toBe(SAID.Executor)
    expect(pieces).toHaveLength(1)
  })
})

const textIn = (delta: object): string => (delta as { readonly content?: string }).content ?? ''

describe('a caller who leaves', () => {
  it.for(ASKING.map((stage, i) => [stage, i] as const))(
    'in the %s ends it, and asks no further',
    async ([stage, i]) => {
      failIn(world.fake, [stage], 'hang')
      const caller = new AbortController()
      const reading = world.read(asking('model-3', WORK), caller.signal)
      await until('the stage asks', () => world.fake.questions.length === i + 1 && world.fake.open === 1)
      const { abandoned } = world.fake
      caller.abort()
      const { outcome, pieces } = await reading
      expect(outcome).toMatchObject({ ok: false, fault: { code: 'chat/aborted' } })
      expect(pieces).toEqual([])
      await world.settled()
      expect(world.fake.abandoned).toBe(abandoned + 1)
      expect(orderOf(world)).toEqual(ASKING.slice(0, i + 1))
    },
  )
})
