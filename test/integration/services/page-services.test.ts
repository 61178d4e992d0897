import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail } from '../../../consensus/primitives/result.ts'
import type { ServiceContext } from '../../../marketplace/services/context.ts'
import { checkRequest } from '../../../marketplace/services/service.ts'
import { runService } from '../../../marketplace/till/workshop.ts'
import { PageCache } from '../../../src/adapters/page-cache.ts'
import { EnginePool } from '../../../src/workers/engine-pool.ts'
import { type FakePage, FakeWeb } from '../../support/fake-web.ts'
import { outsideOf } from '../../support/outside.ts'
import { emptyServiceChain } from '../../support/service-chain.ts'
import { ask, serviceNamed } from '../../support/service-results.ts'

const SERVICES = ['node-web-fetch', 'node-url-meta', 'node-rss-read']
const ADDRESS = 'https://a.example/page'
const FEED = '<rss version="2.0"><channel><title>T</title><item><title>One</title></item></channel></rss>'
const engines = new EnginePool(1)
let web: FakeWeb
let context: ServiceContext
let chain: ServiceContext

beforeAll(async () => {
  chain = (await emptyServiceChain()).context
})
afterAll(() => engines.close())
beforeEach(() => {
  web = new FakeWeb()
  const clock = { now: () => web.nowMs }
  context = { ...chain, clock, outside: outsideOf({ web: new PageCache(web, clock), engines }) }
})

/** The result of a service for the page, or its failure. */
async function run(serviceId: string, page: FakePage | ReturnType<typeof fail>): Promise<unknown> {
  web.pages[ADDRESS] = page
  const definition = serviceNamed(serviceId)
  const input = checkRequest(definition, ADDRESS, context)
  if (!input.ok) throw new Error('the address can be read')
  const result = await runService(definition, input.value, context)
  return result.ok ? JSON.parse(result.value) : `${result.fault.code}: ${result.fault.detail.reason}`
}

describe.each(SERVICES)('%s', (serviceId) => {
  it.each([
    ['', 'the URL is missing'],
    ['a.example', 'not an absolute http(s) URL'],
    ['ftp://a.example/', 'not an absolute http(s) URL'],
    ['http:a.example', 'not an absolute http(s) URL'],
    ['javascript:alert(1)', 'not an absolute http(s) URL'],
    [`https://a.example/${'x'.repeat(2_031)}`, 'the URL has more than 2048 characters'],
    ['http://10.0.0.1/', 'its address is private'],
  ])('refuses "%s" before anything is paid', async (request, refused) => {
    expect(await ask(serviceId, request, context)).toEqual({ request, refused })
    expect(web.reads).toEqual([])
  })

  it('is not sold while the web cannot be read', async () => {
    const off = {
      ...context,
      outside: outsideOf({ web: Object.assign(new FakeWeb(), { readiness: outsideOf().web.readiness }) }),
    }
    expect(await ask(serviceId, ADDRESS, off)).toMatchObject({ unavailable: expect.stringContaining('not configured') })
  })

  it('fails, and is refunded, if the page cannot be read', async () => {
    const late = fail(fault('web/timeout', { host: 'a.example' }))
    expect(await run(serviceId, late)).toBe('service/failed: a.example did not answer in time')
  })

  it('fails if the page is a picture', async () => {
    const page = { contentType: 'image/png', body: new Uint8Array([0x89, 0x50, 0x4e, 0x47]) }
    expect(await run(serviceId, page)).toMatch(/^service\/failed: the content cannot be used: /)
  })

  it('says when a kept page was read', async () => {
    const first = (await run(serviceId, { body: FEED, contentType: 'text/html' })) as { readonly fetchedAt: string }
    web.nowMs += 30_000
    const second = await run(serviceId, { body: 'gone', contentType: 'text/html' })
    expect(second).toMatchObject({ fetchedAt: first.fetchedAt, asOf: '2026-11-20T12:00:30.000Z' })
    expect(web.reads).toHaveLength(1)
  })
})

describe('a page that is fetched', () => {
  it('comes with its status, even if that is an error', async () => {
    const body = '<html lang="en"><head><title>Not here</title></head><body><p>There is no such page.</p></body></html>'
    expect(await run('node-web-fetch', { body, status: 404, finalUrl: 'https://b.example/x' })).toEqual({
      service: 'node-web-fetch',
      asOf: '2026-11-20T12:00:00.000Z',
      source: { name: 'b.example', url: 'https://b.example/x', fetchedAt: '2026-11-20T12:00:00.000Z', stale: false },
      engine: 'whole text',
      url: ADDRESS,
      finalUrl: 'https://b.example/x',
      status: 404,
      fetchedAt: '2026-11-20T12:00:00.000Z',
      redirects: [],
      contentType: 'text/html; charset=utf-8',
      charset: 'utf-8',
      charsetFrom: 'header',
      bytes: body.length,
      title: 'Not here',
      lang: 'en',
      byline: null,
      publishedAt: null,
      excerpt: 'There is no such page.',
      text: 'There is no such page.',
      markdown: 'There is no such page.',
      wordCount: 5,
      truncated: false,
      readability: false,
      unknown: ['byline', 'publishedAt'],
    })
  })

  it('is marked as cut if its body was cut', async () => {
    expect(
      await run('node-web-fetch', { body: '{"a":', contentType: 'application/json', truncated: true }),
    ).toMatchObject({
      text: '{"a":',
      truncated: true,
    })
  })

  it('stays within its bounds, however long the page is', async () => {
    const long = '\u65e5"\\\n'.repeat(100_000)
    const result = (await run('node-web-fetch', {
      body: `<title>${long}</title><meta name=author content="${'a'.repeat(900)}"><p>${long}`,
      contentType: `text/html; x="${'y'.repeat(4_000)}"`,
    })) as { readonly text: string; readonly truncated: boolean }
    expect(result).toMatchObject({ truncated: true })
    expect(result.text).toHaveLength(100_000)
  })
})

describe('metadata of a page', () => {
  it('come with null for unknown fields', async () => {
    expect(await run('node-url-meta', { body: '<title>T</title><link rel=icon href=/i>' })).toMatchObject({
      title: 'T',
      favicon: 'https://a.example/i',
      feeds: [],
      unknown: ['description', 'canonical', 'siteName', 'ogImage', 'ogType', 'twitterCard', 'lang'],
    })
    expect(web.reads[0]?.request).toMatchObject({ until: '</head>', bytesMax: 524_288 })
  })
})

describe('a feed', () => {
  it('comes with its items, their number, and null for unknown fields', async () => {
    const items = '<item><title>One</title><link>/1</link></item>'.repeat(60)
    const body = `<rss version="2.0"><channel><title>T</title>${items}</channel></rss>`
    expect(await run('node-rss-read', { body, contentType: 'application/rss+xml' })).toMatchObject({
      feed: { title: 'T', link: null, format: 'rss', language: null, updated: null },
      items: expect.objectContaining({ length: 50 }),
      total: 60,
      skipped: 10,
      unknown: [
        'feed.link',
        'feed.language',
        'feed.updated',
        'items.author',
        'items.id',
        'items.published',
        'items.summary',
      ],
    })
  })

  it('is refused for a page, and for an error of the server', async () => {
    expect(await run('node-rss-read', { body: '<html><p>x' })).toBe(
      'service/failed: the content cannot be used: this is a page, and no feed',
    )
    web.nowMs += 600_000
    expect(await run('node-rss-read', { body: FEED, status: 410 })).toBe(
      'service/failed: the address answers with status 410',
    )
  })
})
