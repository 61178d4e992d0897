import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Profile, Upstream } from '../../../support/upstreams/upstream.ts'

const RIGHT = { price: 12, names: ['a', 'b'] }

describe('an upstream', () => {
  let upstream: Upstream
  beforeEach(async () => {
    upstream = await Upstream.open({ handler: () => ({ body: RIGHT }), slowMs: 5 })
  })
  afterEach(() => upstream.close())

  const ask = async (profile: Profile): Promise<Response> => {
    upstream.profile = profile
    return fetch(`${upstream.url}/v1/price?of=BTC`, { method: 'POST', body: 'x', signal: AbortSignal.timeout(2_000) })
  }

  it('writes down what it was asked', async () => {
    await (await ask('ok')).text()
    expect(upstream.requests).toMatchObject([{ method: 'POST', path: '/v1/price', body: 'x' }])
    expect(upstream.requests[0]?.query.get('of')).toBe('BTC')
    expect([upstream.count(), upstream.count('/v1/price'), upstream.count('/')]).toEqual([1, 1, 0])
  })

  it.each(['ok', 'slow'] as const)('answers rightly: %s', async (profile) => {
    expect(await (await ask(profile)).json()).toEqual(RIGHT)
  })

  it.each([
    ['429', 429],
    ['401', 401],
    ['500', 500],
  ] as const)('refuses: %s', async (profile, status) => {
    const response = await ask(profile)
    await response.text()
    expect(response.status).toBe(status)
    expect(response.headers.get('retry-after')).toBe(status === 429 ? '7' : null)
  })

  it('sends headers and half of the body, then the connection is gone', async () => {
    const response = await ask('cut')
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
  })

  it.each(['wrong-json', 'html'] as const)('sends a whole answer that is no JSON: %s', async (profile) => {
    const text = await (await ask(profile)).text()
    expect(() => JSON.parse(text)).toThrow()
  })

  it('sends JSON of another shape', async () => {
    expect(await (await ask('wrong-type')).json()).toEqual({
      price: { unexpected: ['number'] },
      names: { first: { unexpected: ['string'] } },
    })
  })

  it('ends connections, and can be gone and come back on its port', async () => {
    await expect(ask('drop')).rejects.toThrow()
    await upstream.close()
    await expect(ask('ok')).rejects.toThrow()
    await upstream.reopen()
    expect(await (await ask('ok')).json()).toEqual(RIGHT)
  })

  it('never ends', async () => {
    const response = await ask('huge')
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > 4_000_000) break
    }
    expect(bytes).toBeGreaterThan(4_000_000)
  })

  it('never answers', async () => {
    upstream.profile = 'hang'
    const controller = new AbortController()
    const asked = fetch(upstream.url, { signal: controller.signal })
    await expect.poll(() => upstream.open).toBe(1)
    controller.abort()
    await expect(asked).rejects.toThrow()
    await expect.poll(() => upstream.open).toBe(0)
  })
})
