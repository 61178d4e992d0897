import { afterEach, describe, expect, it } from 'vitest'
import { answerOf, asking, FAILED, orderOf, sayingByStage, WORK } from '../../support/chat-stages.ts'
import { ChatWorld } from '../../support/chat-world.ts'
import { CHAT_PROFILES } from '../../support/upstreams/openai.ts'

/** Servers that never end are covered by the tests of time limits. */
const ENDLESS = ['hang', 'stall']
const PROFILES = CHAT_PROFILES.filter((profile) => !ENDLESS.includes(profile))
const CASES = (['model-2', 'model-3'] as const).flatMap((model) => PROFILES.map((profile) => [model, profile] as const))
/** Most questions of a pipeline, and most attempts for each. */
const ASKED_MAX = { 'model-2': 4, 'model-3': 9 }
const ATTEMPTS_MAX = 3

describe('servers that behave in every way', () => {
  let world: ChatWorld
  afterEach(() => world.close())

  it.for(CASES)('%s over %s ends with one text, or a fault', async ([model, profile]) => {
    world = await ChatWorld.open()
    world.fake.profile = profile
    world.fake.answer = sayingByStage({ 'Quality Evaluator': FAILED })
    const { outcome, text } = await world.read(asking(model, WORK))
    expect(orderOf(world).length).toBeLessThanOrEqual(ASKED_MAX[model] * ATTEMPTS_MAX)
    if (outcome.ok) {
      expect(text).toBe(answerOf(outcome.value))
      expect(text).not.toBe('')
    } else if (profile === '400') expect(outcome.fault.code).toBe('chat/refused')
    else expect(outcome.fault.code).toMatch(/^chat\/(upstream|no-backend|busy|timeout)$/)
    await world.settled()
  })

  it.for(['model-2', 'model-3'] as const)('%s goes on over another one where the first is broken', async (model) => {
    world = await ChatWorld.open({ backends: [{}, {}] })
    world.fakes.forEach((fake) => {
      fake.answer = sayingByStage()
    })
    world.fake.profile = '503'
    const outcome = await world.outcome(asking(model, WORK))
    const asked = outcome.report.stages.filter(({ models }) => models.length > 0)
    expect(asked.every(({ ran }) => ran)).toBe(true)
    expect(asked).toHaveLength(model === 'model-2' ? 3 : 8)
    expect(world.hits[1]).toBe(asked.length)
  })
})
