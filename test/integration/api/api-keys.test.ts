import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHAT_KEY_ROUTES } from '../../../rpc/contract/chat-keys.ts'
import { DASHBOARD_ROUTES } from '../../../rpc/contract/dashboard.ts'
import { ask, type JsonBody, type Reply } from '../../support/api.ts'
import { DashboardServer, PlainBrowser, TOKEN } from '../../support/dashboard.ts'
import { ApiChecker, type ApiDocument } from '../../support/openapi-check.ts'

let server: DashboardServer
let checker: ApiChecker
const held = new Set<string>()

beforeAll(async () => {
  server = await DashboardServer.open()
  checker = new ApiChecker((await ask<ApiDocument>(server.url, '/openapi.json')).body)
})
afterAll(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

/** Asks, and checks the answer against the API document. */
async function call(operationId: string, path: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(`${server.url}${path}`, { redirect: 'manual', ...init })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const reply = {
    status: response.status,
    headers: response.headers,
    text,
    body: (isJson ? JSON.parse(text) : {}) as JsonBody,
  }
  expect(checker.misfits(operationId, reply), `${path} ${reply.status} ${text.slice(0, 200)}`).toEqual([])
  held.add(operationId)
  return reply
}

const asOperator = { authorization: `Bearer ${TOKEN}` }
const json = (body: unknown, headers: Record<string, string> = asOperator): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

describe('operations on keys', () => {
  it('make, list, change and end keys as documented', async () => {
    const made = await call('createKey', '/api/v1/keys', json({ label: 'a', rpm: 3, expiresInDays: 1 }))
    const { key, secret } = made.body as unknown as { readonly key: JsonBody; readonly secret: string }
    expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store'])
    expect(server.keys.identify(`Bearer ${secret}`)).toMatchObject({
      ok: true,
      value: { limits: { rpm: 3, tpd: null } },
    })
    const path = `/api/v1/keys/${String(key.id)}`
    expect((await call('changeKey', path, json({ tpd: 9 }))).body).toMatchObject({
      label: 'a',
      limits: { rpm: 3, tpd: 9 },
    })
    expect((await call('changeKey', path, json({ rpm: null }))).body).toMatchObject({ limits: { rpm: null, tpd: 9 } })
    const listed = await call('listKeys', '/api/v1/keys', { headers: asOperator })
    expect(listed.text).not.toContain(secret.slice(11))
    const ended = await call('revokeKey', path, { method: 'DELETE', headers: asOperator })
    expect(ended.body).toMatchObject({ state: 'revoked', revokedAt: expect.any(String) })
    expect(server.keys.identify(`Bearer ${secret}`).ok).toBe(false)
  })

  it('list page by page, each key once', async () => {
    for (let i = 0; i < 2; i++) await call('createKey', '/api/v1/keys', json({ label: `key ${i}` }))
    const seen: unknown[] = []
    for (let cursor: unknown = ''; cursor !== null; ) {
      const from = cursor === '' ? '' : `&cursor=${String(cursor)}`
      const { body } = await call('listKeys', `/api/v1/keys?limit=1${from}`, { headers: asOperator })
      seen.push(...(body.keys as readonly JsonBody[]).map(({ id }) => id))
      cursor = body.nextCursor
    }
    expect(seen).toEqual(server.keys.list('operator').map(({ id }) => id))
    expect((await call('listKeys', '/api/v1/keys?cursor=nothing', { headers: asOperator })).status).toBe(400)
  })

  it('are for the operator only, and say what is wrong', async () => {
    for (const headers of [{}, { authorization: 'Bearer x' }]) {
      expect((await call('listKeys', '/api/v1/keys', { headers })).status).toBe(401)
      expect((await call('createKey', '/api/v1/keys', json({ label: 'x' }, headers))).status).toBe(401)
      expect((await call('revokeKey', '/api/v1/keys/abcdefgh', { method: 'DELETE', headers })).status).toBe(401)
    }
    for (const body of [
      {},
      { label: '' },
      { label: 'x', rpm: 0 },
      { label: 'x', expiresInDays: 0 },
      { label: 'x', owner: 'me' },
      { label: 'a\nb' },
      [],
    ])
      expect((await call('createKey', '/api/v1/keys', json(body))).status).toBe(400)
    expect((await call('changeKey', '/api/v1/keys/abcdefgh', json({ label: 'x' }))).body.code).toBe('key_not_found')
    const unlimited = json({ label: 'x', rpm: null, tpd: null, expiresInDays: null })
    const made = await call('createKey', '/api/v1/keys', unlimited)
    expect([made.status, made.body.key]).toMatchObject([201, { limits: { rpm: null, tpd: null }, expiresAt: null }])
    expect((await call('createKey', '/api/v1/keys', json({ label: 'x' }))).body.code).toBe('keys_limit_reached')
  })
})

describe('pages of the dashboard', () => {
  it('are answered as documented', async () => {
    const browser = new PlainBrowser(server.url)
    await browser.signInByPassword()
    await browser.get()
    const csrf = browser.hidden('csrf')
    const [live] = server.keys.list('operator').filter(({ state }) => state === 'live')
    const path = `/dashboard/keys/${live?.id}`
    const form = (fields: Readonly<Record<string, string>>, cookie = browser.cookie ?? ''): RequestInit => ({
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
      body: new URLSearchParams(fields),
    })
    const cookie = browser.cookie ?? ''
    const statuses = [
      await call('getDashboard', '/dashboard'),
      await call('getDashboard', '/dashboard?page=2', { headers: { cookie } }),
      await call('getDashboard', '/dashboard?page=x'),
      await call('getKeyPage', path, { headers: { cookie } }),
      await call('getKeyPage', path),
      await call('getKeyPage', '/dashboard/keys/abcdefgh', { headers: { cookie } }),
      await call('saveKey', path, form({ csrf, label: 'saved' })),
      await call('saveKey', path, form({ csrf, label: '' })),
      await call('saveKey', path, form({ csrf, label: 'x'.repeat(301) })),
      await call('makeKey', '/dashboard/keys', form({ csrf, turn: browser.hidden('turn'), label: 'x' })),
      await call('makeKey', '/dashboard/keys', form({ csrf, label: 'x', rpm: 'y' })),
      await call('makeKey', '/dashboard/keys', form({ label: 'x' })),
      await call('endKey', `${path}/revoke`, form({ csrf })),
      await call('endKey', `${path}/revoke`, form({ csrf, sure: 'yes' })),
      await call('signIn', '/dashboard/sign-in', form({ csrf, password: 'wrong' })),
      await call('signIn', '/dashboard/sign-in', form({ csrf: 'x'.repeat(101) })),
      await call('signIn', '/dashboard/sign-in', form({ csrf, password: server.secret.password })),
      await call('signOut', '/dashboard/sign-out', form({})),
      await call('signOut', '/dashboard/sign-out', form({ csrf })),
    ].map(({ status }) => status)
    expect(statuses).toEqual([
      200, 200, 400, 200, 401, 404, 303, 400, 400, 409, 400, 403, 400, 303, 401, 400, 303, 403, 303,
    ])
    const large = await call('signIn', '/dashboard/sign-in', form({ signed: 'x'.repeat(300_000) }))
    expect(large.status).toBe(413)
  })

  it('and operations on keys are all checked against the document here', () => {
    expect([...held].sort()).toEqual([...Object.keys(CHAT_KEY_ROUTES), ...Object.keys(DASHBOARD_ROUTES)].sort())
  })
})
