import { request as httpRequest } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { marketOpen } from '../../support/caller.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'

const workshop = new Workshop()
const ALLOWED = 'https://chat.example'
let daemon: RunningDaemon

beforeAll(async () => {
  const flags = ['--mcp-allowed-origins', ALLOWED]
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' }, flags })
  await marketOpen(daemon.url)
})

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: {
    readonly id?: unknown
    readonly result?: Readonly<Record<string, unknown>>
    readonly error?: {
      readonly code: number
      readonly message: string
      readonly data?: { readonly supported?: unknown }
    }
  }
}

const BASE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const MODERN = '2026-07-28'

/** Sends a message, and repeats it while the node answers that it is overloaded. */
function send(body: unknown, headers: Readonly<Record<string, string>> = {}, query = ''): Promise<Answer> {
  return until('the node has time', async () => {
    const answer = await sendOnce(body, headers, query)
    return answer.status === 503 && answer.headers.has('retry-after') ? null : answer
  })
}

async function sendOnce(body: unknown, headers: Readonly<Record<string, string>>, query: string): Promise<Answer> {
  const response = await fetch(`${daemon.url}/api/mcp${query}`, {
    method: 'POST',
    headers: { ...BASE, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: text === '' ? {} : JSON.parse(text) }
}

const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params })

function modernMessage(method: string, params: object = {}, version = MODERN) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
  }
  return message(method, { ...params, _meta })
}

function modern(method: string, params: { readonly name?: string; readonly uri?: string } = {}, headers = {}) {
  const name = params.name ?? params.uri
  const all = { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...(name && { 'mcp-name': name }), ...headers }
  return send(modernMessage(method, params), all)
}

/** Sends with a chosen Host header, which fetch does not allow. */
function withHost(host: string, origin?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { ...BASE, host, ...(origin && { origin }) }
    const request = httpRequest(`${daemon.url}/api/mcp`, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    request.end(JSON.stringify(message('ping')))
  })
}

describe('the era of the handshake', () => {
  it('answers a version that it does not know with one that it does', async () => {
    const client = { capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '1999-01-01']
    const answered = await Promise.all(
      versions.map((protocolVersion) => send(message('initialize', { protocolVersion, ...client }))),
    )
    expect(answered.map(({ body }) => body.result?.protocolVersion)).toEqual([...versions.slice(0, 3), '2025-11-25'])
    expect(answered[0]?.body.result?.instructions).toEqual(expect.any(String))
  })

  it('takes notifications with 202 and no body', async () => {
    const taken = await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([taken.status, taken.text]).toEqual([202, ''])
  })

  it.each([
    ['an unknown method', 200, -32_601, () => send(message('nothing'))],
    ['an unknown tool', 200, -32_602, () => send(message('tools/call', { name: 'nothing' }))],
    ['a tool without a name', 200, -32_602, () => send(message('tools/call', {}))],
    ['parameters that do not fit', 200, -32_602, () => send(message('initialize', { protocolVersion: 7 }))],
    ['an unknown resource', 200, -32_602, () => send(message('resources/read', { uri: 'node://nothing' }))],
    [
      'an unsupported version in the header',
      400,
      -32_000,
      () => send(message('ping'), { 'mcp-protocol-version': '1999-01-01' }),
    ],
    ['no stream in Accept', 406, -32_000, () => send(message('ping'), { accept: 'application/json' })],
  ])('refuses %s', async (_, status, code, ask) => {
    const refused = await ask()
    expect([refused.status, refused.body.error?.code]).toEqual([status, code])
    if (status === 200) expect(refused.body.id).toBe(7)
  })
})

describe('the era without sessions', () => {
  it('is discovered, and says how long its answers hold', async () => {
    const discovered = await modern('server/discover')
    expect(discovered.body.result).toMatchObject({ supportedVersions: [MODERN], resultType: 'complete' })
    const listed = await modern('tools/list')
    expect(listed.body.result).toMatchObject({ resultType: 'complete', ttlMs: 3_000, cacheScope: 'public' })
  })

  it.each([
    ['an unknown method', 404, -32_601, () => modern('nothing')],
    ['a method of the older era', 404, -32_601, () => modern('ping')],
    ['an unknown tool', 200, -32_602, () => modern('tools/call', { name: 'nothing' })],
    ['an unknown resource', 200, -32_602, () => modern('resources/read', { uri: 'node://nothing' })],
    ['a header of another method', 400, -32_020, () => modern('tools/list', {}, { 'mcp-method': 'prompts/list' })],
    [
      'a header of another tool',
      400,
      -32_020,
      () => modern('tools/call', { name: 'node_status' }, { 'mcp-name': 'x' }),
    ],
    [
      'no header for the method',
      400,
      -32_020,
      () => send(modernMessage('tools/list'), { 'mcp-protocol-version': MODERN }),
    ],
    [
      'an unknown version',
      400,
      -32_022,
      () =>
        send(modernMessage('tools/list', {}, '2099-01-01'), {
          'mcp-protocol-version': '2099-01-01',
          'mcp-method': 'tools/list',
        }),
    ],
  ])('refuses %s', async (_, status, code, ask) => {
    const refused = await ask()
    expect([refused.status, refused.body.error?.code, refused.body.id]).toEqual([status, code, 7])
    if (code === -32_022) expect(refused.body.error?.data?.supported).toEqual([MODERN])
  })
})

describe('both eras', () => {
  it.each([
    ['malformed JSON', 400, -32_700, () => send('{')],
    ['no body', 400, -32_700, () => send('')],
    ['a key that would change prototypes', 400, -32_700, () => send('{"__proto__": {"a": 1}}')],
    ['what is no message', 400, -32_600, () => send('{}')],
    ['a batch', 400, -32_600, () => send([message('ping'), message('ping')])],
    ['an empty batch', 400, -32_600, () => send('[]')],
    ['another content type', 415, -32_000, () => send(message('ping'), { 'content-type': 'text/plain' })],
    ['raw bytes', 415, -32_000, () => send('abc', { 'content-type': 'application/octet-stream' })],
    ['a body without end', 413, -32_000, () => send(message('ping', { filler: 'x'.repeat(1_100_000) }))],
    ['another network', 400, -32_000, () => send(message('ping'), {}, '?net=testnet')],
  ])('refuse %s', async (_, status, code, ask) => {
    const refused = await ask()
    expect([refused.status, refused.body.error?.code]).toEqual([status, code])
    expect(refused.headers.get('content-type')).toMatch(/^application\/json/)
  })

  it('answer where the network is named or not', async () => {
    const named = await Promise.all(['', '?net=mainnet', '?other=1'].map((query) => send(message('ping'), {}, query)))
    expect(named.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('have no streams to open and no sessions to end', async () => {
    for (const method of ['GET', 'DELETE']) {
      const refused = await fetch(`${daemon.url}/api/mcp`, { method, headers: { accept: 'text/event-stream' } })
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  it('let pages in only from the node itself and from origins that the operator lists', async () => {
    const own = new URL(daemon.url)
    const origins = [
      own.origin,
      ALLOWED,
      'https://evil.example',
      `https://${own.host}`,
      'http://localhost:1',
      'null',
      'nonsense',
    ]
    const answered = await Promise.all(origins.map((origin) => send(message('ping'), { origin })))
    expect(answered.map(({ status }) => status)).toEqual([200, 200, 403, 200, 403, 403, 403])
  })

  it('are served under the names of this machine only', async () => {
    const { port } = new URL(daemon.url)
    const hosts = [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      `evil.example:${port}`,
      `127.0.0.1.evil.example`,
    ]
    expect(await Promise.all(hosts.map((host) => withHost(host)))).toEqual([200, 200, 200, 403, 403])
    // DNS rebinding: a foreign name points here. Origin and Host agree, but the name is not the node's.
    expect(await withHost(`evil.example:${port}`, `http://evil.example:${port}`)).toBe(403)
  })
})

describe('hostile input', () => {
  const DEEP = JSON.parse(`${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`) as object
  const ODD: readonly unknown[] = [
    null,
    true,
    0,
    -1,
    1e308,
    '',
    'x'.repeat(70_000),
    '\ud800',
    '\u0000',
    [],
    [[]],
    {},
    DEEP,
    { constructor: { prototype: 1 } },
    '__proto__',
    'toString',
    '../../etc/passwd',
  ]
  const METHODS = [
    'initialize',
    'tools/list',
    'tools/call',
    'resources/read',
    'prompts/get',
    'ping',
    'server/discover',
    'subscriptions/listen',
    'completion/complete',
    'logging/setLevel',
    'notifications/cancelled',
  ]
  const TOOLS = [
    'search_services',
    'get_service',
    'get_quote',
    'get_receipt',
    'node_status',
    'submit_transaction',
    'node-test-again',
    'node-test-closed',
  ]

  /** Every answer follows the protocol. None is an error of the node, and none reveals internals. */
  function check({ status, text, body }: Answer, what: unknown): void {
    expect(status, JSON.stringify(what)?.slice(0, 300)).toBeLessThan(500)
    expect(text).not.toMatch(/node_modules|\.ts:\d|\\n +at /)
    if (text !== '') expect('result' in body || 'error' in body).toBe(true)
    expect(body.error?.code, `${text} for ${JSON.stringify(what)?.slice(0, 300)}`).not.toBe(-32_603)
  }

  it('in messages is refused or answered, never an error of the node', async () => {
    for (const odd of ODD) {
      for (const body of [
        odd,
        { ...message('ping'), id: odd },
        { ...message('ping'), method: odd },
        { ...message('ping'), params: odd },
        { ...message('ping'), jsonrpc: odd },
      ])
        check(await send(body === undefined ? 'null' : JSON.stringify(body)), body)
      check(await send(modernMessage('tools/list', { _meta: odd })), odd)
    }
    for (const method of METHODS) {
      for (const odd of ODD)
        check(await send(message(method, { name: odd, uri: odd, arguments: odd, _meta: odd })), [method, odd])
      check(await modern(method, { name: '__proto__' }), method)
    }
  })

  it('in arguments and payments is refused or answered, never an error of the node', async () => {
    for (const name of TOOLS) {
      for (const odd of ODD) {
        const args = {
          query: odd,
          capability: odd,
          maxPriceUsd: odd,
          limit: odd,
          serviceId: odd,
          txId: odd,
          tx: odd,
          request: odd,
        }
        check(await send(message('tools/call', { name, arguments: args })), [name, odd])
        check(await send(message('tools/call', { name, arguments: { ...args, request: 'ok', payment: odd } })), [
          name,
          odd,
        ])
        const payments = [
          odd,
          { scheme: odd },
          { scheme: 'native-x402', payload: odd },
          { scheme: 'native-x402', payload: { txId: odd, secret: odd } },
          { x402Version: odd, accepted: odd, payload: odd },
          { scheme: 'exact', payload: odd },
        ]
        for (const payment of payments)
          check(
            await send(
              message('tools/call', { name, arguments: { request: 'ok' }, _meta: { 'x402/payment': payment } }),
            ),
            [name, payment],
          )
      }
    }
    expect((await fetch(`${daemon.url}/ready`)).status).toBe(200)
    expect(daemon.log.filter(({ msg }) => msg === 'error while answering')).toEqual([])
  })
})
