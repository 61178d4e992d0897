import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { providerFetch, providerJson } from '../../../../../src/adapters/providers/provider-fetch.ts'
import { Upstream, type UpstreamHandler } from '../../../../support/upstreams/upstream.ts'

describe('asking a provider over HTTP', () => {
  let upstream: Upstream
  let handler: UpstreamHandler
  beforeEach(async () => {
    handler = () => ({ body: { price: 1 } })
    upstream = await Upstream.open((request) => handler(request))
  })
  afterEach(() => upstream.close())

  const ask = (request: Partial<Parameters<typeof providerFetch>[2]> = {}, path = '/') =>
    providerFetch('them', `${upstream.url}${path}`, { bytesMax: 1_000, ...request }, AbortSignal.timeout(20_000))

  it('sends method, headers and body, and gives status, headers and text', async () => {
    handler = () => ({ status: 200, headers: { etag: '"1"' }, body: 'h\u00e9llo' })
    const said = await ask({ method: 'POST', headers: { 'x-key': 'k' }, body: 'question' }, '/a?b=c')
    expect(said).toMatchObject({ ok: true, value: { status: 200, text: 'h\u00e9llo' } })
    expect(said.ok && said.value.headers.get('etag')).toBe('"1"')
    expect(upstream.requests).toMatchObject([
      { method: 'POST', path: '/a', body: 'question', headers: { 'x-key': 'k' } },
    ])
  })

  it.each([
    [401, 'provider/refused'],
    [403, 'provider/refused'],
    [429, 'provider/refused'],
    [201, 'provider/answer'],
    [404, 'provider/answer'],
    [500, 'provider/answer'],
    [503, 'provider/answer'],
  ])('takes the status %i for %s', async (status, code) => {
    handler = () => ({ status, body: 'x' })
    expect(await ask()).toEqual({
      ok: false,
      fault: { code, detail: { provider: 'them', reason: `status ${status}`, status, retryAfterMs: 0 } },
    })
  })

  it('takes other statuses for answers where the caller says so', async () => {
    handler = () => ({ status: 404, body: 'none' })
    expect(await ask({ alsoAnswers: [404] })).toMatchObject({ value: { status: 404, text: 'none' } })
  })

  it.each([
    ['seconds', '120', 120_000],
    ['more than an hour', '86400', 3_600_000],
    ['nonsense', 'soon', 0],
    ['a number below 0', '-5', 0],
    ['a day that is over', 'Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['a day far away', 'Wed, 21 Oct 2099 07:28:00 GMT', 3_600_000],
  ])('reads Retry-After: %s', async (_, header, retryAfterMs) => {
    handler = () => ({ status: 503, headers: { 'retry-after': header }, body: 'x' })
    expect(await ask()).toMatchObject({ fault: { detail: { retryAfterMs } } })
  })

  it('does not wait for the page that comes with a refusal', async () => {
    // The body never ends: the fault must come from the headers alone.
    handler = () => ({ status: 429, headers: { 'retry-after': '9', 'content-length': '1000' }, body: 'half' })
    expect(await ask()).toMatchObject({ fault: { code: 'provider/refused', detail: { retryAfterMs: 9_000 } } })
  })

  it('follows no redirect', async () => {
    handler = ({ path }) => (path === '/' ? { status: 302, headers: { location: '/other' }, body: '' } : { body: 'x' })
    expect(await ask()).toMatchObject({ fault: { code: 'provider/answer', detail: { reason: 'status 302' } } })
    expect(upstream.count()).toBe(1)
  })

  it('takes so many bytes and not one more', async () => {
    handler = ({ path }) => ({ body: 'x'.repeat(path === '/' ? 1_000 : 1_001) })
    expect(await ask()).toMatchObject({ ok: true })
    expect(await ask({}, '/more')).toMatchObject({
      fault: { code: 'provider/answer', detail: { reason: 'it is longer than 1000 bytes' } },
    })
  })

  it('lets go of an answer that never ends', async () => {
    upstream.profile = 'huge'
    expect(await ask()).toMatchObject({ fault: { code: 'provider/answer' } })
    await expect.poll(() => upstream.open).toBe(0)
  })

  it.each(['drop', 'cut'] as const)('says that the connection broke off: %s', async (profile) => {
    upstream.profile = profile
    expect(await ask()).toMatchObject({ fault: { code: 'provider/unreachable', detail: { provider: 'them' } } })
  })

  it('says that no server is there', async () => {
    await upstream.close()
    expect(await ask()).toMatchObject({
      fault: { code: 'provider/unreachable', detail: { reason: 'the connection was refused' } },
    })
  })

  it('throws when it is aborted, and ends the connection', async () => {
    upstream.profile = 'hang'
    const controller = new AbortController()
    const asked = providerFetch('them', upstream.url, { bytesMax: 10 }, controller.signal)
    await expect.poll(() => upstream.open).toBe(1)
    controller.abort()
    await expect(asked).rejects.toThrow()
    await expect.poll(() => upstream.open).toBe(0)
  })

  it('reads JSON, and reports invalid JSON', async () => {
    const json = () => providerJson('them', upstream.url, { bytesMax: 1_000 }, AbortSignal.timeout(20_000))
    expect(await json()).toEqual({ ok: true, value: { price: 1 } })
    expect(upstream.requests[0]?.headers.accept).toBe('application/json')
    upstream.profile = 'html'
    expect(await json()).toMatchObject({ fault: { code: 'provider/answer', detail: { reason: 'it is not JSON' } } })
  })
})
