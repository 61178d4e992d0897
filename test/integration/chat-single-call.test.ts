import { afterEach, describe, expect, it } from 'vitest'
import { ChatWorld, type ChatWorldParts } from '../support/chat-world.ts'
import { HOUSE_TEXT } from '../support/upstreams/openai.ts'

const opened: ChatWorld[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((world) => world.close()))
})

async function open(parts: ChatWorldParts = {}): Promise<ChatWorld> {
  const world = await ChatWorld.open(parts)
  opened.push(world)
  return world
}

describe('a chat with one model', () => {
  it('is answered whole, and read along', async () => {
    const world = await open()
    expect((await world.outcome()).choices).toMatchObject([{ message: { content: HOUSE_TEXT }, finishReason: 'stop' }])
    expect((await world.read()).text).toBe(HOUSE_TEXT)
    await world.settled()
  })
})
