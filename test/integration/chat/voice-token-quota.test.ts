import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { estimatedTokens } from '../../../marketplace/chat/models/tokens.ts'
import { ChatServer } from '../../support/chat-server.ts'
import { SPEAKING_BACKEND } from '../../support/voices.ts'

const LONG = 'One of many sentences that all say the same thing. '.repeat(45).trim()

let server: ChatServer

beforeAll(async () => {
  server = await ChatServer.open({ backends: [{ ...SPEAKING_BACKEND, limits: { timeoutMs: 60_000 } }] })
})

afterEach(async () => {
  await server.settled()
  server.world.fake.spoken.splice(0)
  expect(server.errors).toEqual([])
})

afterAll(() => server.close())

async function post(path: string, body: object, owner: string): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${await server.newKey(owner)}` }
  const response = await fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers })
  await response.arrayBuffer()
  await server.settled()
  return response.status
}

it.each([
  ['the third part is none', 'not-wav', 3, 2],
  ['the third part is empty', 'empty', 3, 2],
  ['the second part breaks off', 'cut', 2, 1],
  ['the second part is shorter than it says', 'short', 2, 2],
  ['the second part is unlike the first', 'other-rate', 2, 2],
  ['the first part is longer than is read', 'huge', 1, 1],
  ['the first part is none', 'not-wav', 1, 0],
] as const)('a text that fails counts as its parts that were spoken: %s', async (name, profile, at, parts) => {
  const { fake } = server.world
  fake.speech = (_, asked) => (asked === at ? profile : 'ok')
  const status = await post('/v1/audio/speech', { model: 'model-voice', voice: 'alloy', input: LONG }, name)
  expect([status, fake.spoken.length]).toEqual([502, at])
  const { promptTokens } = server.keys.usedToday(name)
  expect(promptTokens).toBe(parts === 0 ? 0 : estimatedTokens(fake.spoken.slice(0, parts).join('')))
})

it('an answer whose speech fails counts as what was said, and as the parts that were spoken', async () => {
  const { fake } = server.world
  fake.answer = () => LONG
  fake.usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  fake.speech = (_, asked) => (asked === 3 ? 'not-wav' : 'ok')
  const asked = { messages: [{ role: 'user', content: 'Hello?' }] }
  expect(await post('/api/v1/voice', asked, 'part')).toBe(502)
  const { promptTokens, completionTokens } = server.keys.usedToday('part')
  expect(completionTokens).toBeGreaterThanOrEqual(estimatedTokens(LONG))
  const spoken = estimatedTokens(fake.spoken.slice(0, 2).join(''))
  fake.spoken.splice(0)
  fake.speech = (_, asked) => (asked === 1 ? 'not-wav' : 'ok')
  expect(await post('/api/v1/voice', asked, 'none')).toBe(502)
  expect(promptTokens).toBe(server.keys.usedToday('none').promptTokens + spoken)
})
