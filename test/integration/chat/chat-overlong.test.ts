import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ChatServer } from '../../support/chat-server.ts'

const UNREAD = '!a'.repeat(65_500)
const MANY = 12

let chat: ChatServer

beforeAll(async () => {
  chat = await ChatServer.open()
})
afterAll(() => chat.close())

const said = (count: number, more: object = {}): object[] => [
  ...Array.from({ length: count }, (_, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: 'well', ...more })),
  { role: 'user', content: 'And now?' },
]

describe('a chat that is too long to be counted', () => {
  it.each([
    ['texts', { messages: Array.from({ length: MANY }, () => ({ role: 'user', content: UNREAD })) }],
    ['a field of messages that is not known here', { messages: said(MANY, { x: UNREAD }) }],
    ['names of such fields', { messages: said(MANY, { x: { ['n'.repeat(1_000)]: UNREAD } }) }],
    ['refusals', { messages: said(MANY, { refusal: UNREAD }) }],
    [
      'controls, which are written as six characters',
      { messages: [{ role: 'user', content: '\u0001'.repeat(300_000) }] },
    ],
    ['halves of letters', { messages: [{ role: 'user', content: '\ud800'.repeat(300_000) }] }],
    [
      'tools',
      {
        messages: said(1),
        tools: Array.from({ length: MANY }, (_, i) => ({
          type: 'function',
          function: { name: `tool-${i}`, parameters: { type: 'object', description: UNREAD } },
        })),
      },
    ],
  ])('is refused, whatever makes it so long: %s', async (_, body) => {
    for (const model of ['model-1', 'model-4']) {
      const answer = await chat.post({ model, ...body })
      const { error } = (await answer.json()) as { readonly error: object }
      expect([answer.status, error]).toEqual([400, expect.objectContaining({ code: 'context_length_exceeded' })])
      expect(chat.chats.at(-1)?.usage.totalTokens).toBe(0)
    }
  })
})
