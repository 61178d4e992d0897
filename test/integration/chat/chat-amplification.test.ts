import { afterEach, describe, expect, it } from 'vitest'
import { CONVERSATION_CHARS_MAX } from '../../../marketplace/chat/context-window.ts'
import { ChatWorld, type ChatWorldParts } from '../../support/chat-world.ts'

const MODELS = Array.from({ length: 10 }, (_, i) => ({ id: `house-${i}` }))
const QUESTION = { role: 'user', content: 'Explain how rivers form.' }
const TOO_LONG = { ok: false, fault: { code: 'chat/context-length', detail: { param: 'messages' } } }
/** More tokens than any window here, in little JSON. */
const PADDING = 'word '.repeat(40_000)

let worlds: ChatWorld[] = []

async function open(parts: ChatWorldParts = { backends: [{ models: MODELS }] }): Promise<ChatWorld> {
  const world = await ChatWorld.open(parts)
  worlds.push(world)
  return world
}

afterEach(async () => {
  await Promise.all(worlds.map((world) => world.close()))
  worlds = []
})

describe('what one request makes of many', () => {
  it.each([
    ['an unknown field of a message', { ...QUESTION, of_nobody: PADDING }],
    ['a list in such a field', { ...QUESTION, of_nobody: [{ a: PADDING }] }],
    ['the name of such a field', { ...QUESTION, [PADDING]: 1 }],
    ['a refusal of before', { role: 'assistant', content: 'No.', refusal: PADDING }],
    ['a call of a function of before', { role: 'assistant', content: '', function_call: { arguments: PADDING } }],
    ['a field of a part', { role: 'user', content: [{ type: 'text', text: 'Hello?', of_nobody: PADDING }] }],
    ['a refusal among parts', { role: 'assistant', content: [{ type: 'refusal', refusal: PADDING }] }],
  ])('counts %s, which goes to every model with the others', async (_, message) => {
    const world = await open()
    for (const model of ['model-1', 'model-2', 'model-3', 'model-4'] as const) {
      // model-4 would summarise an earlier turn without its other fields, so the question itself has them.
      const messages = model === 'model-4' ? [{ ...QUESTION, ...message, role: 'user' }] : [message, QUESTION]
      expect([model, await world.ask({ model, messages })]).toMatchObject([model, TOO_LONG])
    }
    expect(world.hits).toEqual([0])
  })

  it('is a few questions where every model refuses the one that came, however many there are', async () => {
    const world = await open({ backends: [{ models: MODELS }, { models: MODELS }, { models: MODELS }] })
    for (const fake of world.fakes) fake.profile = '400'
    const refused = { ok: false, fault: { code: 'chat/refused' } }
    expect(await world.ask({ messages: [QUESTION] })).toMatchObject(refused)
    expect(world.hits).toEqual([4, 0, 0])
    expect(await world.ask({ messages: [QUESTION], count: 8 })).toMatchObject(refused)
    expect(world.hits[0]).toBeLessThanOrEqual(4 + 8 * 4)
  })

  it('is bounded where a conversation is summarised: one that is far too long is refused', async () => {
    const world = await open()
    const turn = (i: number) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: `Turn ${i}. `.repeat(2_000) })
    const turns = (count: number) => [...Array.from({ length: count }, (_, i) => turn(i)), QUESTION]
    const [{ content }] = [turn(10)]
    const most = Math.floor(CONVERSATION_CHARS_MAX / content.length) - 8
    expect(await world.ask({ model: 'model-4', messages: turns(most) })).toMatchObject({ ok: true })
    expect(world.hits[0]).toBeLessThan(250)
    world.fake.questions.length = 0
    expect(await world.ask({ model: 'model-4', messages: turns(most + 20) })).toMatchObject(TOO_LONG)
    expect(world.hits).toEqual([0])
  })
})
