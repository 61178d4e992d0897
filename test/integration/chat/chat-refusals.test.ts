import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type JsonBody } from '../../support/api.ts'
import { ChatServer, HELLO, readAll } from '../../support/chat-server.ts'
import { TestTime } from '../../support/market-parts.ts'
import { askRaw } from '../../support/raw-http.ts'

const PATH = '/api/v1/chat/completions'
// The tests control the minute and the day of the limits.
const time = new TestTime()
let server: ChatServer

beforeAll(async () => {
  server = await ChatServer.open({ keyClock: time })
})
afterAll(() => server.close())

const bearer = (): Record<string, string> => ({ authorization: `Bearer ${server.key}` })

async function refused(body: unknown, init: RequestInit = {}) {
  const response = await server.post(body, init)
  return { status: response.status, headers: response.headers, ...((await response.json()) as { error: JsonBody }) }
}

describe('a refusal', () => {
  const chatErrorOf = (param: string | null, code: string) => ({
    error: { message: expect.any(String), type: expect.any(String), param, code },
  })

  it.each([
    ['no key', {}],
    ['a key of another kind', { authorization: 'Basic abc' }],
    ['a key that was never made', { authorization: `Bearer fk-${'A'.repeat(51)}` }],
  ])('for %s comes before the body is read', async (_, headers) => {
    const reply = await askRaw(server.url, {
      method: 'POST',
      path: PATH,
      headers: { ...headers, 'content-length': 19_000_000, 'content-type': 'application/json', expect: '100-continue' },
    })
    expect(reply).toMatchObject({ status: 401, body: chatErrorOf(null, 'invalid_api_key') })
    expect(reply.body.error).toMatchObject({ type: 'invalid_request_error' })
    expect(reply.headers.get('www-authenticate')).toBe('Bearer')
  })

  it('has the same form for whatever is wrong with the body', async () => {
    const send = (body: string, headers = {}) => refused(undefined, { body, headers })
    expect(await send('{"model"')).toMatchObject({ status: 400, ...chatErrorOf(null, 'malformed_json') })
    expect((await send('{"model"')).error).toMatchObject({
      message: 'the body is not JSON: it cannot be parsed',
    })
    for (const body of ['', '[]', 'null', '"text"', '5'])
      expect(await send(body)).toMatchObject({
        status: 400,
        error: { code: 'invalid_value', param: 'body', message: 'body: it must be an object' },
      })
    expect(await send('a=b', { 'content-type': 'text/plain' })).toMatchObject({
      status: 415,
      ...chatErrorOf(null, 'unsupported_media_type'),
    })
    expect(await send('{"__proto__": 1}')).toMatchObject({ status: 400, ...chatErrorOf(null, 'malformed_json') })
    expect(await send('bytes', { 'content-type': 'application/octet-stream' })).toMatchObject({ status: 415 })
  })

  it('of a body that is too long names the limit of this route', async () => {
    const headers = { ...bearer(), 'content-type': 'application/json', 'content-length': 20 * 1_048_576 + 1 }
    const reply = await askRaw(server.url, { method: 'POST', path: PATH, headers })
    expect(reply).toMatchObject({ status: 413, body: chatErrorOf(null, 'body_too_large') })
    expect(reply.text).toContain(String(20 * 1_048_576))
  })

  it.each([
    ['GET', PATH, 405],
    ['DELETE', '/v1/chat/completions', 405],
    ['POST', '/v1/models', 405],
    ['GET', '/v1/nothing', 404],
    ['POST', '/v1/completions', 404],
    ['GET', '/api/v1/chat/nothing', 404],
    ['GET', '/api/v1/models/a/b', 404],
    ['GET', '/v1/%zz', 400],
  ])('%s %s has it too', async (method, path, status) => {
    const reply = await askRaw(server.url, { method, path, headers: bearer() })
    expect(reply).toMatchObject({ status, body: { error: { type: 'invalid_request_error', param: null } } })
    expect(reply.headers.get('allow') !== null).toBe(status === 405)
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('elsewhere keeps the form of the node', async () => {
    expect((await ask(server.url, '/api/v1/nothing')).body).toMatchObject({
      code: 'not_found',
      error: expect.any(String),
    })
  })

  it('for a limit that is used up says when to come back', async () => {
    const key = await server.keys.create({
      label: 'slow',
      owner: 'somebody',
      limits: { rpm: 1, tpd: null },
      expiresAtMs: null,
    })
    if (!key.ok) throw new Error(key.fault.code)
    const headers = { authorization: `Bearer ${key.value.secret}` }
    expect((await server.post(HELLO, { headers })).status).toBe(200)
    const late = await refused(HELLO, { headers })
    expect(late).toMatchObject({ status: 429, error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } })
    // A minute, and the rest of the second in which it began. The official clients do not wait that long.
    expect(late.headers.get('retry-after')).toBe('61')
    expect(late.headers.get('x-should-retry')).toBe('false')
    expect(late.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    time.nowMs += 60_999
    expect((await refused(HELLO, { headers })).headers.get('retry-after')).toBe('1')
    time.nowMs += 1
    expect((await server.post(HELLO, { headers })).status).toBe(200)
  })

  it('for what will not pass within a minute says that coming back is no use', async () => {
    const key = await server.keys.create({
      label: 'spent',
      owner: 'another',
      limits: { rpm: null, tpd: 10 },
      expiresAtMs: null,
    })
    if (!key.ok) throw new Error(key.fault.code)
    const headers = { authorization: `Bearer ${key.value.secret}` }
    expect((await server.post(HELLO, { headers })).status).toBe(200)
    const late = await refused(HELLO, { headers })
    expect(late.status).toBe(429)
    expect(late.headers.get('x-should-retry')).toBe('false')
    // Tokens used before midnight (UTC) are available again after it.
    const midnightMs = Math.ceil(time.nowMs / 86_400_000) * 86_400_000
    expect(late.headers.get('retry-after')).toBe(String(Math.ceil((midnightMs - time.nowMs) / 1_000)))
    time.nowMs = midnightMs
    expect((await server.post(HELLO, { headers })).status).toBe(200)
    expect(late.headers.get('x-ratelimit-remaining-tokens')).toBe('0')
  })
})

describe('pages of other origins', () => {
  it('may send what the official client sends, and read what it reads', async () => {
    const wanted = 'authorization,content-type,x-stainless-lang,x-stainless-retry-count,x-stainless-timeout'
    const preflight = await ask(server.url, PATH, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://page.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': wanted,
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toBe(wanted)
    const reply = await server.post(HELLO, { headers: { origin: 'https://page.example' } })
    const exposed = reply.headers.get('access-control-expose-headers')?.split(', ')
    for (const name of [
      'x-request-id',
      'retry-after',
      'retry-after-ms',
      'x-should-retry',
      'x-usage-estimated',
      'x-ratelimit-remaining-tokens',
      'x-ratelimit-reset-requests',
    ])
      expect(exposed).toContain(name)
    const streamed = await server.post({ ...HELLO, stream: true }, { headers: { origin: 'https://page.example' } })
    expect(streamed.headers.get('access-control-allow-origin')).toBe('*')
    await readAll(streamed)
  })
})
