import { ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type JsonBody } from '../../support/api.ts'
import { marketOpen } from '../../support/caller.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { mineOnDemand } from '../../support/mine-by-hand.ts'
import { until } from '../../support/processes.ts'
import { nativePayment, signNative } from '../mcp/buyer.ts'

const workshop = new Workshop()
const SOLD = 'node-test-again'
let daemon: RunningDaemon
let endMining: () => Promise<void>

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { mine: 0, env: { TEST_FAST_BLOCKS: '1' } })
  // A quote lasts some tens of blocks. A steady miner could find them while a busy machine signs, so mine on demand.
  endMining = mineOnDemand(daemon.url)
  await marketOpen(daemon.url)
})
afterAll(async () => {
  await endMining()
  await daemon.kill()
})

interface Answer {
  readonly status: number
  readonly text: string
  readonly body: {
    readonly id?: unknown
    readonly result?: JsonBody & {
      readonly id?: string
      readonly status?: { readonly state: string; readonly message: JsonBody }
    }
    readonly error?: { readonly code: number; readonly data?: unknown }
  }
}

/** Sends a message, and repeats it while the node answers that it is overloaded. */
function send(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return until('the node has time', async () => {
    const response = await fetch(`${daemon.url}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    if (response.status === 503 && response.headers.has('retry-after')) return null
    return { status: response.status, text, body: JSON.parse(text) }
  })
}

const request = (method: unknown, params: unknown = {}) => ({ jsonrpc: '2.0', id: 5, method, params })
const say = (text: string, more: object = {}) => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ text }], ...more })

describe('the older generation of A2A', () => {
  it('is spoken in its own words', async () => {
    const parts = [{ kind: 'text', text: `${SOLD} ok:old` }]
    const message = { kind: 'message', messageId: 'm', role: 'user', parts }
    const { result } = (await send(request('message/send', { message }))).body
    expect(result).toMatchObject({
      kind: 'task',
      status: {
        state: 'input-required',
        message: {
          kind: 'message',
          role: 'agent',
          parts: [{ kind: 'text' }],
          metadata: { 'x402.payment.status': 'payment-required' },
        },
      },
    })
    const { txId, secret, raw } = await signNative(daemon.url, SOLD, 'ok:old')
    await ask(daemon.url, '/api/v1/tx', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ raw }),
    })
    const payment = nativePayment({ txId, secret, raw }, 1)
    const paying = { ...message, taskId: result?.id, metadata: { 'x402.payment.payload': payment } }
    const paid = await send(request('message/send', { message: paying, configuration: { blocking: true } }))
    expect(paid.body.result).toMatchObject({
      kind: 'task',
      status: { state: 'completed', message: { metadata: { 'x402.payment.status': 'payment-completed' } } },
      artifacts: [{ parts: [{ kind: 'data', data: { paid: true, result: { echo: 'ok:old' } } }] }],
    })
    const got = await send(request('tasks/get', { id: result?.id }))
    expect(got.body.result).toMatchObject({ kind: 'task', status: { state: 'completed' } })
    expect((await send(request('tasks/cancel', { id: result?.id }))).body.error?.code).toBe(-32_002)
  })

  it('is read by the official client from the same card, once it takes it for an old one', async () => {
    const { body } = await ask<JsonBody>(daemon.url, '/.well-known/agent.json')
    const { supportedInterfaces: _, ...old } = body
    const options = { legacyCompat: { enabled: true } }
    const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory(options)], ...options } as never)
    const { DefaultAgentCardResolver } = await import('@a2a-js/sdk/client')
    const card = new DefaultAgentCardResolver(options).normalizeAgentCard(old)
    const client = await factory.createFromAgentCard(card)
    expect(client.protocolVersion).toMatch(/^0\.3/)
    const parts = [{ content: { $case: 'text', value: SOLD }, filename: '', mediaType: '' }]
    const message = { messageId: 'm', contextId: '', taskId: '', role: 1, parts, extensions: [], referenceTaskIds: [] }
    const task = await client.sendMessage({ message } as never)
    expect(task).toMatchObject({ status: { message: { metadata: { 'x402.payment.status': 'payment-required' } } } })
  })
})

describe('errors', () => {
  it.each([
    ['malformed JSON', 400, -32_700, '{', {}],
    ['no body', 400, -32_700, '', {}],
    ['a batch', 200, -32_600, [], {}],
    ['no id', 200, -32_600, { jsonrpc: '2.0', method: 'GetTask' }, {}],
    ['another JSON-RPC', 200, -32_600, { jsonrpc: '1.0', id: 1, method: 'GetTask' }, {}],
    ['an unknown method', 200, -32_601, request('Nothing'), {}],
    ['no message', 200, -32_602, request('SendMessage'), {}],
    ['a message without parts', 200, -32_602, request('SendMessage', { message: say('x', { parts: [] }) }), {}],
    ['a message of an agent', 200, -32_602, request('SendMessage', { message: say('x', { role: 'ROLE_AGENT' }) }), {}],
    ['no id of a task', 200, -32_602, request('GetTask', {}), {}],
    ['an unknown task', 200, -32_001, request('GetTask', { id: 'none' }), {}],
    ['an unknown payment', 200, -32_001, request('GetTask', { id: 'ab'.repeat(32) }), {}],
    [
      'a message to an unknown task',
      200,
      -32_001,
      request('SendMessage', { message: say('x', { taskId: 'none' }) }),
      {},
    ],
    ['push notifications', 200, -32_003, request('CreateTaskPushNotificationConfig'), {}],
    ['streams', 200, -32_004, request('SendStreamingMessage', { message: say('x') }), {}],
    ['an unknown version', 200, -32_009, request('GetTask', { id: 'none' }), { 'a2a-version': '2.0' }],
    ['another content type', 415, -32_000, 'x', { 'content-type': 'text/plain' }],
    ['too long a body', 413, -32_000, 'x'.repeat(1_100_000), {}],
  ])('of %s', async (_, status, code, body, headers) => {
    const refused = await send(body, headers)
    expect([refused.status, refused.body.error?.code]).toEqual([status, code])
    if (code <= -32_001 && code >= -32_009)
      expect(refused.body.error?.data).toMatchObject([{ reason: expect.any(String), domain: 'a2a-protocol.org' }])
  })

  it.each(['1.0', '1', '0.3', '0.3.0', ''])('never of version "%s"', async (version) => {
    const message = say('network statistics')
    const answered = await send(request('SendMessage', { message }), version === '' ? {} : { 'a2a-version': version })
    expect(answered.body.result).toHaveProperty('message')
  })

  it('are never those of the node, whatever is sent', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`) as object
    const odd = [
      null,
      true,
      -1,
      1e308,
      '',
      'x'.repeat(70_000),
      '\ud800',
      [],
      [[]],
      {},
      deep,
      { constructor: 1 },
      '__proto__',
    ]
    for (const value of odd) {
      const bodies = [
        value,
        { ...request('SendMessage'), id: value },
        request(value),
        ...['SendMessage', 'message/send', 'GetTask', 'tasks/cancel'].flatMap((method) => [
          request(method, value),
          request(method, { id: value, message: value, configuration: value }),
          request(method, { message: say('x', { parts: value }) }),
          request(method, { message: say('x', { parts: [value, { text: value }, { data: value }] }) }),
          request(method, { message: say(SOLD, { taskId: value, contextId: value, metadata: value }) }),
          request(method, { message: say('x', { parts: [{ data: { serviceId: SOLD, request: value } }] }) }),
          request(method, { message: say(SOLD, { metadata: { 'x402.payment.payload': value } }) }),
          request(method, {
            message: say(SOLD, { metadata: { 'x402.payment.payload': { scheme: 'native-x402', payload: value } } }),
          }),
        ]),
      ]
      for (const body of bodies) {
        const answered = await send(JSON.stringify(body))
        expect(answered.status, JSON.stringify(body).slice(0, 300)).toBeLessThan(500)
        expect('result' in answered.body || 'error' in answered.body).toBe(true)
        expect(answered.body.error?.code).not.toBe(-32_603)
        expect(answered.text).not.toMatch(/node_modules|\.ts:\d|\\n +at /)
      }
    }
    expect(daemon.log.filter(({ msg }) => msg === 'error while answering')).toEqual([])
  })
})
