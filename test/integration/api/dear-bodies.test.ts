import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RECEIPT_ENTRIES_MAX } from '../../../consensus/tx/payloads.ts'
import { ARGUMENTS_MAX, MESSAGE_VALUES_MAX } from '../../../rpc/contract/agent-messages.ts'
import type { Route } from '../../../rpc/contract/route.ts'
import { ROUTES } from '../../../rpc/contract/table.ts'
import { MESSAGE_BODY, PLAIN_BODY } from '../../../rpc/server/limits.ts'
import { post, type Reply } from '../../support/api.ts'
import { ApiServer, OPERATOR_TOKEN } from '../../support/api-server.ts'
import { ChatServer } from '../../support/chat-server.ts'

const ACCEPT = { accept: 'application/json, text/event-stream', authorization: `Bearer ${OPERATOR_TOKEN}` }
const DOORS = (Object.values(ROUTES) as readonly Route[]).filter(
  ({ method, body, takesForm }) => method === 'POST' && body !== undefined && takesForm !== true,
)
/** Paths of {@link DOORS}, without those of chats: a node without models has no chats. */
const PATHS = DOORS.filter(({ isOpenAi }) => isOpenAi !== true).map(({ path }) => path)
/** Almost as many characters as every one of these paths accepts. The difference is for the JSON around them. */
const CHARS = 60_000

let server: ApiServer

beforeAll(async () => {
  server = await ApiServer.open()
})
afterAll(async () => {
  await server.close()
  expect(server.errors).toEqual([])
})

const send = (path: string, body: string | object): Promise<Reply> =>
  post(server.url, path.replace('{serviceId}', 'node-price-feed'), body, ACCEPT)
const call = (method: string, params: object): Promise<Reply> =>
  send('/api/mcp', { jsonrpc: '2.0', id: 1, method, params })
const members = (count: number, value: unknown = 1): object =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`name-${i}`, value]))
const codeOf = ({ body }: Reply): unknown => {
  const { code, error } = body as { readonly code?: unknown; readonly error?: { readonly data?: { code?: unknown } } }
  return code ?? error?.data?.code
}

describe('a body with very many JSON values', () => {
  it.each([
    ['numbers', `{"a":[${'1,'.repeat(CHARS / 2)}1]}`],
    ['objects', `{"a":[${'{},'.repeat(CHARS / 3)}1]}`],
    ['names', JSON.stringify(members(CHARS / 20))],
    ['lists in lists', `{"a":${'['.repeat(CHARS / 2)}${']'.repeat(CHARS / 2)}}`],
    ['a name without an end', JSON.stringify({ ['x'.repeat(CHARS / 2)]: 1 })],
    ['blanks', `{"a":[${' '.repeat(PLAIN_BODY.valuesMax * 100)}]}`],
  ])('is refused before it is parsed, at every door: %s', async (_, body) => {
    expect(PATHS.length).toBeGreaterThan(10)
    for (const path of PATHS) {
      const answer = await send(path, body)
      expect([path, answer.status, codeOf(answer)]).toEqual([path, 413, 'too_many_values'])
    }
  })

  it('is also refused by the chat API, in the words of that API', async () => {
    const chat = await ChatServer.open()
    const refused = await chat.post(members(PLAIN_BODY.namesMax * 6))
    const { error } = (await refused.json()) as { readonly error: object }
    await chat.close()
    expect([refused.status, error]).toEqual([400, expect.objectContaining({ param: 'body' })])
    expect(error).toMatchObject({ message: expect.stringContaining('too many values') })
  })

  it('is also refused by the chat API for an endless member name', async () => {
    const chat = await ChatServer.open()
    const refused = await chat.post({ ['x'.repeat(CHARS)]: 1 })
    await chat.close()
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('a name of more than 1024 characters') },
    })
  })

  it('is read with as many values as a door accepts', async () => {
    const list = (length: number): object => ({ a: new Array(length).fill(1), ...members(100) })
    expect(codeOf(await send('/api/v1/tx', list(PLAIN_BODY.valuesMax - 200)))).toBe('invalid_request')
    expect(codeOf(await send('/a2a', list(MESSAGE_BODY.valuesMax - 200)))).not.toBe('too_many_values')
  })

  it('does not include the largest transaction, which is read', async () => {
    const [txId, hash] = ['ab'.repeat(32), 'cd'.repeat(32)]
    const entry = { txId, outcome: 0, resultHash: hash, opener: hash, durationMs: 1 }
    const tx = { kind: 'agent_receipt', payload: { entries: new Array(RECEIPT_ENTRIES_MAX).fill(entry) } }
    expect(codeOf(await send('/api/v1/tx', tx))).toBe('invalid_request')
    const submitted = await call('tools/call', { name: 'submit_transaction', arguments: { tx } })
    expect([submitted.status, submitted.text]).toEqual([200, expect.stringContaining('invalid_request')])
  })
})

describe('a form at a door that accepts no forms', () => {
  // Read as a form, it would be refused for its number of fields.
  const form = 'a=1&'.repeat(40)
  const sent = (path: string): Promise<Reply> =>
    post(server.url, path, form, { ...ACCEPT, 'content-type': 'application/x-www-form-urlencoded' })

  it('is refused by its type at every door, and not read', async () => {
    for (const path of PATHS) {
      const { status } = await sent(path.replace('{serviceId}', 'node-price-feed'))
      expect([path, status]).toEqual([path, 415])
    }
  })

  it('is not read at paths that read no body', async () => {
    expect((await sent('/api/v1/nothing')).status).toBe(404)
  })
})

describe('an MCP message with very many errors for the SDK to report', () => {
  const handshake = (change: object, capabilities: object = {}) => ({
    protocolVersion: '2025-06-18',
    capabilities,
    clientInfo: { name: 'a', version: '1', ...change },
  })
  const modern = (info: object, capabilities: object = {}) => ({
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1', ...info },
    },
  })
  const many = (count: number): readonly unknown[] => new Array(count).fill(1)
  const icon = { src: 'https://icons.example/1.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }

  it.each([
    ['thousands of bad icons', 'initialize', handshake({ icons: many(2_001) })],
    ['some bad icons', 'initialize', handshake({ icons: many(10) })],
    ['more good icons than there is use for', 'initialize', handshake({ icons: new Array(17).fill(icon) })],
    ['bad sizes of an icon', 'initialize', handshake({ icons: [{ ...icon, sizes: many(9) }] })],
    ['bad experiments', 'initialize', handshake({}, { experimental: members(20) })],
    ['good experiments without an end', 'initialize', handshake({}, { experimental: { a: { b: many(300) } } })],
    ['bad icons in a message of the new era', 'tools/list', modern({ icons: many(10) })],
    ['bad experiments in one of the new era', 'tools/list', modern({}, { experimental: members(20) })],
    ['more metadata than there is use for', 'ping', { _meta: members(MESSAGE_VALUES_MAX) }],
    ['more parameters than there is use for', 'ping', members(MESSAGE_VALUES_MAX)],
    ['bad arguments of a prompt', 'prompts/get', { name: 'find_service', arguments: members(10) }],
    ['many arguments of a prompt', 'prompts/get', { name: 'find_service', arguments: members(17, '') }],
    [
      'more arguments than any tool has',
      'tools/call',
      { name: 'node_status', arguments: members(ARGUMENTS_MAX + 1, {}) },
    ],
    ['an address of a resource without an end', 'resources/read', { uri: `node://services/${'x'.repeat(100_000)}` }],
    ['a long name', 'initialize', handshake({}, { experimental: { ['x'.repeat(1_000)]: 1 } })],
  ])('is refused in a few words: %s', async (_, method, params) => {
    const answer = await call(method, params)
    expect([answer.status, codeOf(answer), answer.body]).toEqual([
      200,
      'invalid_request',
      expect.objectContaining({ id: 1, error: expect.objectContaining({ code: -32_602 }) }),
    ])
    expect(answer.text.length).toBeLessThan(2_500)
  })

  it.each([
    ['a notification', { method: 'notifications/progress', params: members(MESSAGE_VALUES_MAX) }],
    ['an answer to nothing', { id: null, result: members(MESSAGE_VALUES_MAX) }],
  ])('is refused where nothing is answered: %s', async (_, message) => {
    const refused = await send('/api/mcp', { jsonrpc: '2.0', ...message })
    expect([refused.status, codeOf(refused)]).toEqual([400, 'invalid_request'])
  })

  it('is answered with as many values as messages of known clients have', async () => {
    const rich = {
      roots: { listChanged: true },
      sampling: { context: {}, tools: {} },
      elicitation: { form: {}, url: {} },
      tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
      experimental: { one: { a: ['b', { c: 1 }] }, two: {} },
      extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
      ownOne: true,
    }
    const info = { title: 'A', websiteUrl: 'https://a.example', description: 'a', icons: [icon, icon] }
    const greeted = await call('initialize', handshake(info, rich))
    expect([greeted.status, greeted.body.result]).toEqual([
      200,
      expect.objectContaining({ serverInfo: expect.any(Object) }),
    ])
    const called = await call('tools/call', {
      name: 'search_services',
      arguments: { query: 'price' },
      _meta: { progressToken: 1, traceparent: 'x', 'x402/payment': { a: many(1_000) } },
    })
    expect([called.status, called.text]).toEqual([200, expect.stringContaining('"services"')])
  })

  it('gets an error that names unknown arguments, however many there are', async () => {
    const strangers = members(20, { a: many(100) })
    const called = await call('tools/call', { name: 'search_services', arguments: { query: 'price', ...strangers } })
    expect([called.status, called.text]).toEqual([200, expect.stringContaining('there is no argument')])
    expect(called.text.length).toBeLessThan(5_000)
  })
})
