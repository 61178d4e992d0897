import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChatAnswer, ChatRequest } from '../../../marketplace/chat/models/backend.ts'
import { OpenAiBackend } from '../../../src/chat/backends/openai-backend.ts'
import { HOUSE } from '../../support/chat-world.ts'

/** An object that cannot be converted to a text or a number. */
const WORDLESS = { toString: 1, valueOf: 1 }
const REQUEST: ChatRequest = { model: HOUSE, messages: [{ role: 'user', content: 'Hello?' }], maxTokens: 64 }

let body = ''
let server: Server
let backend: OpenAiBackend

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', body.startsWith('data:') ? 'text/event-stream' : 'application/json')
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  backend = new OpenAiBackend({ id: 'hostile', baseUrl: `http://127.0.0.1:${port}/v1`, key: null })
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function asked(text: string) {
  body = text
  return backend.complete(REQUEST, AbortSignal.timeout(10_000))
}

const whole = (message: object): string => JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] })
const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`
const calling = (call: object): object => ({ role: 'assistant', tool_calls: [call] })
const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)

describe('a server with hostile answers', () => {
  it.each([
    ['an index that is an object', whole(calling({ index: WORDLESS, id: 'a', function: { name: 'x' } }))],
    ['an error whose message is an object', JSON.stringify({ error: { message: WORDLESS } })],
    ['an error whose code is an object', JSON.stringify({ error: { message: 'no', code: WORDLESS } })],
    ['an error within a stream whose message is an object', event({ error: { message: WORDLESS } })],
    ['an index within a stream', event({ choices: [{ delta: calling({ index: WORDLESS }) }] })],
    ['an answer that cannot be written again', whole({ role: 'assistant', content: 'Hi', x: nested(1_000) })],
    ['a piece that cannot be written again', event({ choices: [{ delta: { content: 'Hi', x: nested(1_000) } }] })],
    ['millions of values', `{"choices":[{"message":{"content":"Hi","x":[${'{},'.repeat(600_000)}1]}}]}`],
  ])('is a fault of its answer: %s', async (_, text) => {
    expect(await asked(text)).toMatchObject({ ok: false, fault: { code: 'model/answer' } })
  })

  it('is understood where the arguments of a tool are the object that they stand for', async () => {
    const args = { city: 'Ulm', more: WORDLESS }
    const answer = await asked(whole(calling({ id: 'a', type: 'function', function: { name: 'x', arguments: args } })))
    const { message } = (answer as { readonly value: ChatAnswer }).value
    expect(message.tool_calls).toMatchObject([{ function: { name: 'x', arguments: JSON.stringify(args) } }])
  })

  it('leaves no gaps among calls of tools', async () => {
    const call = (index: number) => ({
      index,
      id: `c${index}`,
      type: 'function',
      function: { name: 'x', arguments: '{}' },
    })
    const calls = [2, 7].map((index) => event({ choices: [{ delta: { tool_calls: [call(index)] } }] }))
    const end = event({ choices: [{ delta: {}, finish_reason: 'tool_calls' }] })
    const answer = await asked(`${calls.join('')}${end}data: [DONE]\n\n`)
    const { message } = (answer as { readonly value: ChatAnswer }).value
    expect(JSON.parse(JSON.stringify(message.tool_calls))).toMatchObject([{ id: 'c2' }, { id: 'c7' }])
  })

  it('gives one answer where it makes several', async () => {
    const piece = (index: number | undefined, content: string): string =>
      event({ choices: [{ index, delta: { content } }] })
    const end = event({ choices: [{ index: 3, delta: {}, finish_reason: 'stop' }] })
    const pieces = [piece(3, 'a'), piece(0, 'x'), piece(3, 'b'), piece(undefined, 'c')]
    expect(await asked(`${pieces.join('')}${end}data: [DONE]\n\n`)).toMatchObject({ ok: true, value: { text: 'abc' } })
  })

  it('is not believed how much it used', async () => {
    const used = (tokens: number): string =>
      JSON.stringify({
        choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: tokens, completion_tokens: 1 },
      })
    expect(await asked(used(9_000_000))).toMatchObject({ value: { usage: { promptTokens: 9_000_000 } } })
    expect(await asked(used(Number.MAX_SAFE_INTEGER))).toMatchObject({ ok: true, value: { usage: null } })
  })

  it('hands on every piece of a stream that is there at once', async () => {
    const pieces = Array.from({ length: 1_000 }, (_, i) => event({ choices: [{ delta: { content: `${i},` } }] }))
    const end = event({ choices: [{ delta: {}, finish_reason: 'stop' }] })
    const answer = await asked(`${pieces.join('')}${end}data: [DONE]\n\n`)
    const text = Array.from({ length: 1_000 }, (_, i) => `${i},`).join('')
    expect(answer).toMatchObject({ ok: true, value: { text, finishReason: 'stop' } })
  })
})
