import { beforeAll, describe, expect, it } from 'vitest'
import { ask, post, type Reply } from '../support/api.ts'
import { marketOpen } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { askRaw } from '../support/raw-http.ts'

const workshop = new Workshop()
const DOORS = ['/api/mcp', '/a2a']
const ACCEPT = { accept: 'application/json, text/event-stream' }
const SERVICE = 'node-test-again'
const REQUEST_ID = /^[0-9a-f-]{36}$/

let daemon: RunningDaemon

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' }, flags: ['--rpc-rate-mcp', '400'] })
  await marketOpen(daemon.url)
})

interface Spoken {
  readonly id?: unknown
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Readonly<Record<string, unknown>>
  }
}

const said = (id: unknown, method: string, params: unknown = {}) => ({ jsonrpc: '2.0', id, method, params })

function speak(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply<Spoken>> {
  return post<Spoken>(daemon.url, path, body, { ...ACCEPT, ...headers })
}

const message = (parts: readonly object[], more: object = {}) => ({
  message: { messageId: 'm', role: 'user', parts, ...more },
})

/** JSON text nested so deep that a recursive reader overflows its stack. */
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

/** Expects a refusal by the server: a protocol error whose data has the code and the request id of the error envelope. */
function expectRefusal({ status, headers, body }: Reply<Spoken>, id: unknown, code: string, httpStatus: number): void {
  const requestId = headers.get('x-request-id')
  expect(requestId).toMatch(REQUEST_ID)
  expect([status, body.id]).toEqual([httpStatus, id])
  expect(body.error?.data).toMatchObject({ code, requestId })
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
}

describe.each(DOORS)('%s', (path) => {
  it('names every request, in answers and in refusals, and answers the message that it refuses', async () => {
    const good = await speak(path, path === '/a2a' ? said('a', 'GetTask', { id: 'none' }) : said('a', 'tools/list'))
    expect(good.headers.get('x-request-id')).toMatch(REQUEST_ID)
    expect([good.status, good.body.id, good.headers.get('cache-control')]).toEqual([200, 'a', 'no-store'])
    expectRefusal(await speak(path, '{'), null, 'malformed_json', 400)
    expectRefusal(await speak(path, ''), null, 'malformed_json', 400)
    expectRefusal(await speak(path, 'x'.repeat(1_048_577)), null, 'body_too_large', 413)
    expectRefusal(await speak(path, '<a/>', { 'content-type': 'text/xml' }), null, 'unsupported_media_type', 415)
    if (path !== '/api/mcp') return
    for (const id of ['a', 7]) {
      const refused = await speak(path, said(id, 'ping'), { origin: 'https://evil.example' })
      expectRefusal(refused, id, 'forbidden_origin', 403)
      expectRefusal(await speak(`${path}?net=other`, said(id, 'ping')), id, 'unsupported_network', 400)
    }
  })

  it('gives the id back as it came, and refuses what is no id', async () => {
    const method = path === '/a2a' ? 'GetTask' : 'nothing/like/this'
    for (const id of ['', 'x'.repeat(10_000), '__proto__', 0, -1, 9_007_199_254_740_991])
      expect((await speak(path, said(id, method))).body.id, String(id).slice(0, 20)).toBe(id)
    for (const id of [null, true, {}, [1]]) {
      const { status, body } = await speak(path, said(id, method))
      expect(status).toBeLessThan(500)
      expect([body.result, body.id ?? null]).toEqual([undefined, null])
    }
  })

  it('has other methods of HTTP refused, and says which one is served', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      const reply = await askRaw(daemon.url, { method, path })
      expect([method, reply.status, reply.headers.get('allow')]).toEqual([method, 405, 'POST'])
      expect(reply.headers.get('x-request-id')).toMatch(REQUEST_ID)
    }
    expect((await askRaw(daemon.url, { method: 'POST', path: `${path}/more` })).status).toBe(404)
  })

  it('takes no batch, and is not hurt by one', async () => {
    const many = Array.from({ length: 5_000 }, (_, i) => said(i, 'tools/list'))
    const { status, body } = await speak(path, many)
    expect(status).toBeLessThan(500)
    expect([body.result, body.error?.code]).toEqual([undefined, -32_600])
  })
})

describe('input that is nested beyond any depth', () => {
  const deep = nested(200_000)
  const a2a = (parts: string, metadata = '{}') =>
    `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"user","parts":${parts},"metadata":${metadata}}}}`
  const tool = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`

  it.each([
    ['/a2a', 'the service', a2a(`[{"data":{"serviceId":${deep}}}]`)],
    ['/a2a', 'a service that has a text of its own', a2a('[{"data":{"serviceId":{"toString":1}}}]')],
    ['/a2a', 'the request', a2a(`[{"data":{"serviceId":"${SERVICE}","request":${deep}}}]`)],
    ['/a2a', 'the scheme', a2a(`[{"text":"${SERVICE}"}]`, `{"x402.payment.payload":{"scheme":${deep}}}`)],
    ['/a2a', 'the payment', a2a(`[{"text":"${SERVICE}"}]`, `{"x402.payment.payload":${deep}}`)],
    ['/api/mcp', 'the payment', tool(`{"name":"${SERVICE}","arguments":{"payment":${deep}}}`)],
    ['/api/mcp', 'the metadata', tool(`{"name":"node_status","_meta":${deep}}`)],
    ['/api/mcp', 'the arguments', tool(`{"name":"search_services","arguments":{"query":${deep}}}`)],
    ['/api/mcp', 'the transaction', tool(`{"name":"submit_transaction","arguments":{"tx":${deep}}}`)],
  ])('%s: %s is refused or not understood, and no fault of the node', async (path, _, body) => {
    const { status, body: answered } = await speak(path, body)
    expect(status).toBeLessThan(500)
    expect(answered.error?.code).not.toBe(-32_603)
  })
})

describe('paths and documents for agents', () => {
  it('HEAD of a paid path is no call', async () => {
    for (const path of ['/api/x402', '/facilitator/verify', '/facilitator/settle']) {
      const { status, headers, text } = await askRaw(daemon.url, { method: 'HEAD', path })
      expect([path, status, headers.get('allow'), text]).toEqual([path, 405, 'POST', ''])
    }
    // GET shows the terms, and so does HEAD.
    const { status, headers, text } = await askRaw(daemon.url, { method: 'HEAD', path: `/api/x402/${SERVICE}` })
    expect([status, text]).toEqual([402, ''])
    expect(headers.get('payment-required')).not.toBeNull()
  })

  it('HEAD of a document has the head of GET', async () => {
    const paths = [
      ...['/.well-known/x402', '/.well-known/agent.json', '/.well-known/agent-card.json', '/services.json'],
      ...['/x402/discovery', '/x402/discovery?x402Version=1', '/llms.txt', '/llms-full.txt', '/robots.txt'],
      ...['/sitemap.xml', '/agents', `/agents/${SERVICE}`, '/openapi.json'],
    ]
    for (const path of paths) {
      const head = await askRaw(daemon.url, { method: 'HEAD', path })
      expect([path, head.status, head.text]).toEqual([path, 200, ''])
      const get = await askRaw(daemon.url, { path })
      for (const name of ['content-type', 'cache-control', 'vary', 'access-control-allow-origin'])
        expect(head.headers.get(name), `${path} ${name}`).toBe(get.headers.get(name))
      expect(head.headers.get('etag'), path).toMatch(/^"/)
      expect(Number(head.headers.get('content-length')), path).toBeGreaterThan(20)
    }
    const none = await askRaw(daemon.url, { method: 'HEAD', path: '/agents/node-no-such' })
    expect([none.status, none.text]).toEqual([404, ''])
  })

  it.each([
    ['POST', '/x402/discovery', 'GET, HEAD'],
    ['POST', '/.well-known/agent-card.json', 'GET, HEAD'],
    ['DELETE', '/llms.txt', 'GET, HEAD'],
    ['PUT', '/agents', 'GET, HEAD'],
    ['POST', `/agents/${SERVICE}`, 'GET, HEAD'],
    ['POST', '/api/v1/events', 'GET, HEAD'],
    ['POST', '/facilitator/supported', 'GET, HEAD'],
    ['GET', '/facilitator/settle', 'POST'],
  ])('%s %s is 405 and Allow says %s', async (method, path, allow) => {
    const { status, headers, body } = await askRaw(daemon.url, { method, path })
    expect([status, headers.get('allow'), body.code]).toEqual([405, allow, 'method_not_allowed'])
    expect(headers.get('x-request-id')).toBe(body.requestId)
  })

  it.each(['/agents/a/b', '/x402', '/x402/other', '/.well-known/other', '/facilitator', '/api/v1/events/1', '/a2a/x'])(
    '%s is 404',
    async (path) => {
      const { status, headers, body } = await ask(daemon.url, path)
      expect([status, body.code, headers.get('x-request-id')]).toEqual([404, 'not_found', body.requestId])
    },
  )
})

describe('a task', () => {
  it('is shown to callers with its id, which cannot be guessed; the id of a payment shows no result', async () => {
    const { body } = await speak('/a2a', said(1, 'SendMessage', message([{ text: `${SERVICE} ok` }])))
    const { id } = (body.result as { task: { id: string } }).task
    expect(id).toMatch(REQUEST_ID)
    expect((await speak('/a2a', said(1, 'GetTask', { id }))).body.result).toMatchObject({ id })
    for (const guess of [id.toUpperCase(), id.slice(0, -1), `${id} `, 'ab'.repeat(32), '*', '']) {
      const { body: answered } = await speak('/a2a', said(1, 'GetTask', { id: guess }))
      expect([answered.result, [-32_001, -32_602].includes(answered.error?.code ?? 0)], guess).toEqual([
        undefined,
        true,
      ])
    }
  })
})

it('a caller who asks too often gets a refusal in the form of its protocol', async () => {
  const all = await Promise.all(Array.from({ length: 420 }, (_, i) => speak('/a2a', said(i, 'GetTask', { id: 'x' }))))
  const refused = all.findIndex(({ status }) => status === 429)
  expect(refused).toBeGreaterThanOrEqual(0)
  const reply = all[refused] as Reply<Spoken>
  expectRefusal(reply, refused, 'rate_limited', 429)
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
})
