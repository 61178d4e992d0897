import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Result } from '../../../consensus/primitives/result.ts'
import { IMAGE_TOKENS } from '../../../marketplace/chat/models/usage.ts'
import type { WebPage } from '../../../marketplace/ports/web.ts'
import type { SafeFetcher } from '../../../src/adapters/safe-fetch.ts'
import { ChatServer } from '../../support/chat-server.ts'
import { until } from '../../support/processes.ts'
import type { ChatQuestion } from '../../support/upstreams/openai.ts'
import { WebWorld, type WorldHost } from '../../support/web-world.ts'

const WALLETS = 8
const IMAGES = 8
/** Accepts connections and never answers. */
const SILENT: WorldHost = { safeSocket: (socket) => void socket.resume() }
const slow = (wallet: number, i: number): string => `slow-${wallet}-${i}.web.example`
const hosts = Array.from({ length: WALLETS * IMAGES }, (_, n) => slow(Math.floor(n / IMAGES), n % IMAGES))
const NEWS: WorldHost = {
  pages: (_, response) => response.end('news'),
  // Pictures of this host never arrive.
  safePages: () => {},
}
const PAGE = { accept: 'text/html', bytesMax: 10_000, tooLong: 'cut' } as const

describe('chats, which are free, beside what is paid', () => {
  let web: WebWorld
  let fetcher: SafeFetcher
  let server: ChatServer
  beforeAll(async () => {
    web = await WebWorld.open({ ...Object.fromEntries(hosts.map((host) => [host, SILENT])), 'news.example': NEWS })
    fetcher = web.fetcher({ totalMs: 60_000, robots: false })
    const limits = { concurrency: 8, timeoutMs: 60_000 }
    server = await ChatServer.open({ means: { web: fetcher, budgetMs: 60_000 }, backends: [{ limits }] })
  })
  afterAll(async () => {
    await server.close()
    await web.close()
    expect(server.errors).toEqual([])
  })

  /** Starts chats of several wallets with pictures. The returned function ends them. */
  async function begin(urlOf: (wallet: number, i: number) => string): Promise<() => Promise<unknown>> {
    const over = new AbortController()
    const answers = Array.from({ length: WALLETS }, async (_, wallet) => {
      const key = await server.newKey(`wallet ${wallet}`)
      const content = Array.from({ length: IMAGES }, (_, i) => ({
        type: 'image_url',
        image_url: { url: urlOf(wallet, i) },
      }))
      const body = { model: 'model-4', messages: [{ role: 'user', content }] }
      const headers = { authorization: `Bearer ${key}` }
      return server.post(body, { headers, signal: over.signal }).catch(() => null)
    })
    return async () => {
      over.abort()
      await Promise.all(answers)
      await server.settled()
    }
  }

  const read = (count: number): Promise<Result<WebPage>[]> =>
    Promise.all(
      Array.from({ length: count }, (_, i) =>
        fetcher.read(new URL(`http://news.example/${i}`), PAGE, AbortSignal.timeout(20_000)),
      ),
    )

  it('pictures of eight wallets that never arrive leave the web to paid reads', async () => {
    const end = await begin((wallet, i) => `https://${slow(wallet, i)}/picture.png`)
    await until('pictures are read', () => web.openCount > 0)
    await new Promise((resolve) => setTimeout(resolve, 300))
    const pages = await read(20)
    expect(pages.filter(({ ok }) => ok)).toHaveLength(20)
    expect(web.openCount).toBeLessThanOrEqual(4)
    await end()
  })

  it('pictures from a host leave places there for paid reads', async () => {
    const end = await begin((wallet, i) => `https://news.example/${wallet}/${i}.png`)
    await until('pictures are read', () => web.openCount > 0)
    await new Promise((resolve) => setTimeout(resolve, 300))
    const pages = await read(12)
    expect(pages.filter(({ ok }) => ok)).toHaveLength(12)
    await end()
  })

  it('a picture that cannot be used costs a request, and the tokens of a picture', async () => {
    const key = await server.newKey('who fails')
    const content = [{ type: 'image_url', image_url: { url: 'https://nowhere.web.example/1.png' } }]
    const headers = { authorization: `Bearer ${key}` }
    const answer = await server.post({ model: 'model-4', messages: [{ role: 'user', content }] }, { headers })
    expect(answer.status).toBe(400)
    await server.settled()
    const used = { requests: 1, promptTokens: IMAGE_TOKENS.usual, completionTokens: 0 }
    expect(server.keys.usedToday('who fails')).toEqual(used)
  })

  it('chats that hang leave places at the models to paid work', async () => {
    const isPaid = ({ body }: ChatQuestion): boolean => JSON.stringify(body.messages).includes('paid')
    server.world.fake.profile = (question) => (isPaid(question) ? 'ok' : 'hang')
    const over = new AbortController()
    const chats = Array.from({ length: 100 }, (_, i) =>
      server.world.ask({ who: `wallet ${i}`, model: 'model-1' }, over.signal),
    )
    await until('models are asked', () => (server.world.pool.facts[0]?.inside ?? 0) >= 6)
    const messages = [{ role: 'user', content: 'paid' }] as const
    const paid = await Promise.all(
      Array.from({ length: 10 }, () =>
        server.world.pool.complete({ role: 'general', messages, maxTokens: 64 }, AbortSignal.timeout(20_000)),
      ),
    )
    expect(paid.map(({ ok }) => ok)).toEqual(Array.from({ length: 10 }, () => true))
    over.abort()
    await Promise.all(chats)
    server.world.fake.profile = 'ok'
    await server.settled()
  })
})
