import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { answerUnreadable } from '../../../rpc/edge/unreadable.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../rpc/server/limits.ts'
import { ask, post, verdict } from '../../support/api.ts'
import { ApiServer } from '../../support/api-server.ts'
import { wallet } from '../../support/chain.ts'
import { until } from '../../support/processes.ts'
import { askBytes, askRaw } from '../../support/raw-http.ts'

let server: ApiServer

beforeAll(async () => {
  const ratesPerMinute = { ...DEFAULT_HTTP_LIMITS.ratesPerMinute, list: 3, quote: 4 }
  server = await ApiServer.open({ ratesPerMinute })
})

afterAll(async () => {
  await server.close()
  expect(server.errors).toEqual([])
})

/** An answer with its body's bytes as they were on the wire. */
function rawBody(path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, string>; bytes: Buffer }>((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode = 0 } = response
        resolve({ status: statusCode, headers: response.headers as never, bytes: Buffer.concat(chunks) })
      })
    })
    sent.on('error', reject).end()
  })
}

describe('a public document', () => {
  const PATH = '/openapi.json'

  it('says how long it is fresh, and has a strong etag for each encoding', async () => {
    const forms = await Promise.all(
      ['identity', 'gzip', 'br'].map((form) => rawBody(PATH, { 'accept-encoding': form })),
    )
    for (const { status, headers } of forms) {
      expect(status).toBe(200)
      expect(headers).toMatchObject({
        'cache-control': 'public, max-age=30',
        vary: 'accept-encoding',
        'access-control-allow-origin': '*',
        'content-type': 'application/json; charset=utf-8',
      })
      expect(headers.etag).toMatch(/^"[A-Za-z0-9_-]{27}(-gzip|-br)?"$/)
    }
    expect(forms.map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br'])
    const [plain, gzipped, brotlied] = forms.map(({ bytes }) => bytes) as [Buffer, Buffer, Buffer]
    expect(gunzipSync(gzipped)).toEqual(plain)
    expect(brotliDecompressSync(brotlied)).toEqual(plain)
    expect(gzipped.length).toBeLessThan(plain.length / 4)
    expect(new Set(forms.map(({ headers }) => headers.etag)).size).toBe(3)
  })

  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['gzip;q=0', undefined],
    ['deflate', undefined],
    ['', undefined],
    [';;q=x,,', undefined],
  ])('for who accepts %j comes as %s', async (accept, form) => {
    const { status, headers } = await rawBody(PATH, { 'accept-encoding': accept })
    expect([status, headers['content-encoding']]).toEqual([200, form])
  })

  it('is not sent again to a client that has it, in any encoding', async () => {
    const { headers } = await rawBody(PATH, { 'accept-encoding': 'gzip' })
    const etag = headers.etag as string
    const plain = etag.replace('-gzip', '')
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, plain, '*']) {
      const again = await rawBody(PATH, { 'accept-encoding': 'gzip', 'if-none-match': tag })
      expect([again.status, again.bytes.length, again.headers.etag], tag).toEqual([304, 0, etag])
      expect(again.headers).toMatchObject({ 'cache-control': 'public, max-age=30', vary: 'accept-encoding' })
    }
    for (const tag of ['"other"', plain.slice(1, -1), 'W/', '']) {
      expect((await rawBody(PATH, { 'if-none-match': tag })).status, tag).toBe(200)
    }
  })

  it('has the same head without a body', async () => {
    const [get, head] = [await rawBody(PATH, {}), await rawBody(PATH, {}, 'HEAD')]
    expect(head.bytes.length).toBe(0)
    for (const name of ['etag', 'cache-control', 'content-type', 'content-length', 'vary'])
      expect(head.headers[name], name).toBe(get.headers[name])
  })

  it('is the same at every path where indexers look', async () => {
    for (const path of ['/openapi.json', '/services.json', '/.well-known/x402', '/.well-known/x402.json'])
      expect((await rawBody(path, { 'if-none-match': '*' })).status, path).toBe(304)
    const status = await rawBody('/api/v1/status', { 'if-none-match': '*', 'accept-encoding': 'gzip' })
    expect([status.status, status.headers.etag, status.headers['content-encoding']]).toEqual([
      200,
      undefined,
      undefined,
    ])
  })
})

describe('a page of another origin', () => {
  it('gets an answer to its preflight for every header that it names', async () => {
    const wanted = [
      ...['authorization', 'content-type', 'x-payment', 'payment-signature', 'idempotency-key', 'last-event-id'],
      ...['access-control-expose-headers', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'],
    ].join(', ')
    for (const path of ['/api/x402', '/api/x402/node-any', '/api/v1/tx', '/api/v1/events', '/nowhere']) {
      const { status, headers } = await askRaw(server.url, {
        method: 'OPTIONS',
        path,
        headers: {
          origin: 'https://page.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': wanted,
        },
      })
      expect(status, path).toBe(204)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-headers')).toBe(wanted)
      expect(headers.get('access-control-allow-methods')).toMatch(/GET.*HEAD.*POST.*DELETE/)
    }
  })

  it('may read the headers that it needs, of refusals too', async () => {
    for (const path of ['/health', '/nowhere', '/api/v1/blocks/4000000000/ancestry', '/api/v1/tx/%zz']) {
      const { headers } = await askRaw(server.url, { path, headers: { origin: 'https://page.example' } })
      expect(headers.get('access-control-allow-origin'), path).toBe('*')
    }
    const { headers } = await ask(server.url, '/health')
    const exposed = (headers.get('access-control-expose-headers') ?? '').split(', ')
    expect(exposed).toEqual(
      expect.arrayContaining([
        ...['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy', 'mcp-session-id', 'etag'],
        ...['payment-required', 'payment-response', 'x-payment-response', 'idempotent-replay'],
      ]),
    )
  })
})

describe('rate limits', () => {
  it('are shown with every answer, separately for each bucket', async () => {
    const { headers } = await ask(server.url, '/api/v1/tokens')
    expect(headers.get('ratelimit-policy')).toBe('"list";q=3;w=60')
    expect(headers.get('ratelimit')).toMatch(/^"list";r=2;t=(60|59)$/)
    for (let i = 0; i < 2; i++) expect((await ask(server.url, '/api/v1/tokens')).status).toBe(200)
    const refused = await ask(server.url, '/api/v1/tokens')
    expect(verdict(refused)).toBe('429 rate_limited')
    expect(refused.headers.get('ratelimit')).toMatch(/^"list";r=0;t=\d+$/)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
    expect((await ask(server.url, '/api/v1/blocks')).headers.get('ratelimit-policy')).toMatch(/^"read";q=3000/)
  })

  it('count expensive requests as lists: whole blocks, waiting transactions, holdings, trades', async () => {
    const own = await ApiServer.open({ ratesPerMinute: { ...DEFAULT_HTTP_LIMITS.ratesPerMinute, list: 3 } })
    const whole = () => ask(own.url, '/api/v1/blocks/latest')
    for (let i = 0; i < 3; i++) expect((await whole()).status).toBe(200)
    expect(verdict(await whole())).toBe('429 rate_limited')
    const address = formatAddress(own.test.ruleBook.params.addressPrefix, wallet(1).address)
    for (const path of ['mempool', `accounts/${address}/holdings`, 'pools/FAR-FUSD-30/candles', 'swaps']) {
      const dear = await ask(own.url, `/api/v1/${path}`)
      expect([path, verdict(dear)]).toEqual([path, '429 rate_limited'])
    }
    // Cheap requests do not count as lists: a list of one block, a proof, an account, and the fees.
    for (const path of ['blocks?limit=1&cursor=0', 'blocks/0/ancestry', `accounts/${address}`, 'fees'])
      expect((await ask(own.url, `/api/v1/${path}`)).status, path).not.toBe(429)
    await own.close()
  })

  it('count calls as quotes if nothing is sold, with any payment', async () => {
    const { headers } = await post(server.url, '/api/x402/node-any', { payment: { txId: 'ab'.repeat(32) } })
    expect(headers.get('ratelimit-policy')).toBe('"quote";q=4;w=60')
  })

  it('count requests that could not be read', async () => {
    const quote = () => post(server.url, '/api/x402/node-any', '{')
    expect([await quote(), await quote(), await quote()].map(({ status }) => status)).toEqual([400, 400, 400])
    expect(verdict(await quote())).toBe('429 rate_limited')
    expect(verdict(await post(server.url, '/api/x402/node-any', {}))).toBe('429 rate_limited')
    expect((await ask(server.url, '/health')).status).toBe(200)
  })
})

describe('the host that a request names', () => {
  it('goes into documents only if it can be part of an address', async () => {
    for (const host of ['node.example', 'node.example:8420', '[::1]:80', '192.0.2.1', 'a'.repeat(255)]) {
      const { status, text } = await askRaw(server.url, { path: '/robots.txt', headers: { host } })
      expect([status, text.includes(`http://${host}/sitemap.xml`)], host).toEqual([200, true])
    }
    for (const host of ['a'.repeat(256), 'x'.repeat(15_000), '"><script>', 'a/b', 'a b', 'user@host', 'a?b', 'ä']) {
      const { status, text } = await askRaw(server.url, { path: '/robots.txt', headers: { host } })
      expect([status, JSON.parse(text).code], host).toEqual([400, 'invalid_request'])
    }
  })
})

describe('a document behind a proxy', () => {
  it('does not depend on client headers that the proxy passes on, and names for caches the headers that it depends on', async () => {
    const proxied = await ApiServer.open({}, null, undefined, { trustProxy: true })
    const asked = (path: string, headers = {}) =>
      askRaw(proxied.url, { path, headers: { host: 'node.example', ...headers } })
    const evil = { 'x-forwarded-host': 'poison.invalid', forwarded: 'host=poison.invalid', 'x-forwarded-port': '666' }
    for (const path of ['/openapi.json', '/llms.txt', '/robots.txt', '/sitemap.xml']) {
      const [plain, poisoned] = [await asked(path), await asked(path, evil)]
      expect([path, poisoned.text === plain.text, poisoned.text.includes('poison.invalid')]).toEqual([
        path,
        true,
        false,
      ])
      expect([path, plain.headers.get('vary')]).toEqual([path, 'accept-encoding, x-forwarded-proto'])
    }
    const secure = await asked('/robots.txt', { 'x-forwarded-proto': 'https' })
    expect(secure.text).toContain('https://node.example/sitemap.xml')
    await proxied.close()
  })
})

describe('bytes that cannot be read as a request', () => {
  const envelope = (answered: string) => {
    const [head = '', body = ''] = answered.split('\r\n\r\n')
    const { error, code, requestId } = JSON.parse(body) as Record<string, unknown>
    expect(head.toLowerCase()).toContain(`x-request-id: ${requestId}\r\n`)
    expect(error).toEqual(expect.any(String))
    return `${head.slice(9, 12)} ${code}`
  }

  it.each([
    ['no HTTP', 'nonsense\r\n\r\n', '400 unreadable_request'],
    ['an unknown version', 'GET / HTTP/9.9\r\nhost: a\r\n\r\n', '400 unreadable_request'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      '400 unreadable_request',
    ],
    ['endless headers', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, '431 headers_too_large'],
  ])('is refused like anything else: %s', async (_, bytes, told) => {
    expect(envelope(await askBytes(server.url, bytes))).toBe(told)
  })

  it('and so is a request that does not arrive', async () => {
    const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    const own = createServer((socket) =>
      answerUnreadable(
        late,
        socket.on('error', () => {}),
      ),
    )
    own.listen(0, '127.0.0.1')
    await once(own, 'listening')
    const { port } = own.address() as AddressInfo
    expect(envelope(await askBytes(`http://127.0.0.1:${port}`, 'GET'))).toBe('408 request_timeout')
    own.close()
  })

  it('are ignored at paths that read no body', async () => {
    const bad = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' }
    expect(verdict(await ask(server.url, '/nowhere', bad))).toBe('404 not_found')
    expect(verdict(await ask(server.url, '/health', bad))).toBe('405 method_not_allowed')
    expect(verdict(await post(server.url, '/nowhere', '{'))).toBe('404 not_found')
    const query = await askRaw(server.url, { method: 'QUERY', path: '/health' })
    expect([verdict(query), query.headers.get('allow')]).toEqual(['405 method_not_allowed', 'GET, HEAD'])
  })
})

it('closes new connections beyond the bound while all others are busy, and accepts new ones when those are gone', async () => {
  const bounded = await ApiServer.open({ connectionsMax: 2 })
  const sockets: Socket[] = []
  const opened = async (): Promise<boolean> => {
    const socket = connect(Number(new URL(bounded.url).port), '127.0.0.1').on('error', () => {})
    sockets.push(socket)
    socket.write('GET /api/v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
    await Promise.race([once(socket, 'data'), once(socket, 'close')])
    return socket.bytesRead > 0
  }
  expect([await opened(), await opened(), await opened()]).toEqual([true, true, false])
  sockets[0]?.destroy()
  await until('a place is free', opened)
  for (const socket of sockets) socket.destroy()
  await bounded.close()
})
