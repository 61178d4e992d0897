import { afterAll, expect, it } from 'vitest'
import { PageCache } from '../../../src/adapters/page-cache.ts'
import { EnginePool } from '../../../src/workers/engine-pool.ts'
import { outsideOf } from '../../support/outside.ts'
import { emptyServiceChain } from '../../support/service-chain.ts'
import { resultOf } from '../../support/service-results.ts'
import { WebWorld } from '../../support/web-world.ts'

const FEED = '<rss version="2.0"><channel><title>F</title><item><title>One</title></item></channel></rss>'
const engines = new EnginePool(1)
afterAll(() => engines.close())

it('a site is read, described and followed through the fetcher of the product', async () => {
  const world = await WebWorld.open({
    'news.example': {
      pages: (request, response) => {
        const isFeed = request.url === '/feed'
        response.setHeader('content-type', isFeed ? 'application/rss+xml' : 'text/html')
        response.setHeader('etag', '"1"')
        if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end()
        else if (request.url === '/robots.txt') response.writeHead(404).end()
        else if (request.url === '/old') response.writeHead(301, { location: '/new' }).end()
        else response.end(isFeed ? FEED : '<head><title>T</title></head><body><p>Hello')
      },
    },
  })
  try {
    const { context } = await emptyServiceChain()
    let nowMs = Date.now()
    const clock = { now: () => nowMs }
    const readiness = () => ({ available: true, engine: 'web' }) as const
    const web = new PageCache(Object.assign(world.fetcher(), { readiness }), clock)
    const here = { ...context, clock, outside: outsideOf({ web, engines }) }
    const fetched = await resultOf('node-web-fetch', 'http://news.example/old', here)
    expect(fetched).toMatchObject({ finalUrl: 'http://news.example/new', title: 'T', text: 'Hello', status: 200 })
    expect(await resultOf('node-url-meta', 'http://news.example/new', here)).toMatchObject({ title: 'T' })
    const first = await resultOf<{ readonly fetchedAt: string }>('node-rss-read', 'http://news.example/feed', here)
    nowMs += 300_001
    const second = await resultOf('node-rss-read', 'http://news.example/feed', here)
    expect([first, second]).toMatchObject([{ total: 1 }, { total: 1, feed: { title: 'F' } }])
  } finally {
    await world.close()
  }
})
