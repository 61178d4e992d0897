import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { askingBeast, QUESTIONS, resetEnsemble, textIn } from '../../support/chat-ensemble.ts'
import { ChatWorld } from '../../support/chat-world.ts'

const SAID = 'So it is [1], they say [2][9].[3] Look at `a[9]` and b[1].\n\n[5]: https://a.example'
const LEFT = 'So it is , they say . Look at `a[9]` and b[1].\n\n[5]: https://a.example'

let world: ChatWorld
beforeAll(async () => {
  world = await ChatWorld.open()
})
beforeEach(() => {
  resetEnsemble(world)
  world.fake.answer = () => SAID
})
afterAll(() => world.close())

const asking = (content: string) => [{ role: 'user', content }]

describe('marks of sources in an answer that is not grounded', () => {
  it.each(['model-1', 'model-2', 'model-3'] as const)('are taken out: %s', async (model) => {
    const messages = asking('Describe the tides of the sea, and what makes them rise and fall, in a few sentences')
    const outcome = await world.outcome({ model, messages })
    expect(outcome.report).toMatchObject({ grounded: false, citations: [] })
    expect(textIn(outcome)).toBe(LEFT)
    expect((await world.read({ model, messages })).text).toBe(LEFT)
  })

  it.each(['instant', 'fast', 'standard', 'current'] as const)('are taken out: model-4, %s', async (kind) => {
    const outcome = await world.outcome(askingBeast(QUESTIONS[kind]))
    expect(outcome.report).toMatchObject({ grounded: false, citations: [] })
    expect(textIn(outcome)).toBe(LEFT)
    expect((await world.read(askingBeast(QUESTIONS[kind]))).text).toBe(LEFT)
  })

  it('are taken out of each of several answers', async () => {
    const outcome = await world.outcome({ model: 'model-1', messages: asking('Why do tides rise?'), count: 2 })
    expect(outcome.choices.map(({ message }) => message.content)).toEqual([LEFT, LEFT])
  })

  it('stay where the caller brings them', async () => {
    const messages = asking('[1] Tides follow the moon.\n[2] The sun helps.\nWhy do tides rise?')
    for (const model of ['model-1', 'model-2', 'model-4'] as const)
      expect([model, textIn(await world.outcome({ model, messages }))]).toEqual([model, SAID])
  })

  it('stay where the very tokens, or tools, are asked for', async () => {
    const messages = asking('Why do tides rise?')
    const extra = { logprobs: true }
    expect(textIn(await world.outcome({ model: 'model-1', messages, extra }))).toBe(SAID)
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
    const withTools = await world.outcome({ model: 'model-1', messages, usesTools: true, extra: { tools } })
    expect(textIn(withTools)).toBe(SAID)
  })
})
