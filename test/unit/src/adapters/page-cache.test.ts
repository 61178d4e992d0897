import { describe, expect, it } from 'vitest'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { fail } from '../../../../consensus/primitives/result.ts'
import { PageCache } from '../../../../src/adapters/page-cache.ts'
import { FakeWeb } from '../../../support/fake-web.ts'

const URL_A = new URL('https://a.example/')
const REQUEST = { accept: '*/*', bytesMax: 1_000, tooLong: 'cut', freshMs: 60_000 } as const
const NEVER = new AbortController().signal

function world(bytesMax?: number) {
  const web = new FakeWeb()
  const cache = new PageCache(web, { now: () => web.nowMs }, bytesMax)
  const read = async (request = REQUEST, signal = NEVER) => {
    const page = await cache.read(URL_A, request, signal)
    if (!page.ok) return page.fault.code
    return `${Buffer.from(page.value.body)} ${page.value.fetchedAtMs - Date.parse('2026-11-20T12:00:00Z')}`
  }
  return { web, cache, read }
}

describe('pages that are kept', () => {
  it('are read once while they are fresh, and tell when that was', async () => {
    const { web, read } = world()
    web.pages[URL_A.href] = { body: 'one' }
    expect(await read()).toBe('one 0')
    web.pages[URL_A.href] = { body: 'two' }
    web.nowMs += 59_999
    expect(await read()).toBe('one 0')
    web.nowMs += 1
    expect(await read()).toBe('two 60000')
    expect(web.reads).toHaveLength(2)
  })

  it('are asked about as soon as the site says, and for as long as it says then', async () => {
    const { web, read } = world()
    web.pages[URL_A.href] = ({ etag }) =>
      etag === undefined ? { body: 'one', etag: '"1"', maxAgeMs: 5_000 } : { status: 304, maxAgeMs: 20_000 }
    expect(await read()).toBe('one 0')
    web.nowMs += 4_999
    expect(await read()).toBe('one 0')
    web.nowMs += 1
    expect(await read()).toBe('one 5000')
    web.nowMs += 19_999
    expect(await read()).toBe('one 5000')
    web.nowMs += 1
    expect(await read()).toBe('one 25000')
  })

  it('are not kept where the site forbids it, nor are errors of servers and failures', async () => {
    const { web, read } = world()
    for (const page of [{ storable: false }, { status: 503 }, fail(fault('web/timeout', { host: 'a' }))]) {
      web.pages[URL_A.href] = page
      await read()
      await read()
    }
    expect(web.reads).toHaveLength(6)
  })

  it('are those of the same request', async () => {
    const { web, cache } = world()
    web.pages[URL_A.href] = {}
    for (const change of [{}, { accept: 'text/html' }, { bytesMax: 5 }, { until: 'x' }, { robots: true }]) {
      await cache.read(URL_A, { ...REQUEST, ...change }, NEVER)
    }
    expect(web.reads).toHaveLength(5)
  })

  it('are not looked for by who does not ask for one', async () => {
    const { web, cache } = world()
    web.pages[URL_A.href] = {}
    const { freshMs: _, ...request } = REQUEST
    await cache.read(URL_A, request, NEVER)
    await cache.read(URL_A, request, NEVER)
    expect(web.reads).toHaveLength(2)
  })

  it('take no more bytes than they may', async () => {
    const { web, cache } = world(12_000)
    for (const name of ['a', 'b', 'c', 'a']) {
      const url = new URL(`https://${name}.example/`)
      web.pages[url.href] = { body: 'x'.repeat(1_000) }
      await cache.read(url, REQUEST, NEVER)
    }
    expect(web.reads).toHaveLength(4)
  })

  it('are asked about when they are old, and are new again where nothing changed', async () => {
    const { web, read } = world()
    web.pages[URL_A.href] = ({ etag }) => (etag === '"1"' ? { status: 304, etag } : { body: 'one', etag: '"1"' })
    await read()
    web.nowMs += 60_000
    expect(await read()).toBe('one 60000')
    web.nowMs += 59_999
    expect(await read()).toBe('one 60000')
    expect(web.reads.map(({ request }) => request.etag)).toEqual([undefined, '"1"'])
    web.nowMs += 3_600_000
    expect(await read()).toBe('one 3719999')
    expect(web.reads.at(-1)?.request.etag).toBeUndefined()
  })

  it('are replaced where something changed', async () => {
    const { web, read } = world()
    const lastModified = 'Thu, 19 Nov 2026 08:30:00 GMT'
    web.pages[URL_A.href] = (request) => ({ body: request.lastModified ?? 'first', lastModified })
    expect(await read()).toBe('first 0')
    web.nowMs += 60_000
    expect(await read()).toBe(`${lastModified} 60000`)
  })
})

describe('equal readings at the same time', () => {
  it('are one', async () => {
    const { web, read } = world()
    web.pages[URL_A.href] = { body: 'one' }
    expect(await Promise.all([read(), read(), read()])).toEqual(['one 0', 'one 0', 'one 0'])
    expect(web.reads).toHaveLength(1)
  })

  it('end when the last reader has left, and not before', async () => {
    const { web, read } = world()
    web.pages[URL_A.href] = { body: 'one' }
    const gate = Promise.withResolvers<void>()
    web.gate = gate.promise
    const [first, second] = [new AbortController(), new AbortController()]
    const [one, other] = [read(REQUEST, first.signal), read(REQUEST, second.signal)]
    first.abort()
    expect(await one).toBe('web/timeout')
    expect(web.reads[0]?.signal.aborted).toBe(false)
    second.abort()
    expect(await other).toBe('web/timeout')
    expect(web.reads[0]?.signal.aborted).toBe(true)
    gate.resolve()
    expect(await read()).toBe('one 0')
    expect(web.reads).toHaveLength(2)
  })

  it('of a reader who gave up before are not made', async () => {
    const { web, read } = world()
    expect(await read(REQUEST, AbortSignal.abort())).toBe('web/timeout')
    expect(web.reads).toHaveLength(0)
  })
})
