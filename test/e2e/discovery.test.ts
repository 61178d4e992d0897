import { beforeAll, describe, expect, it } from 'vitest'
import { ask, type CallView, post } from '../support/api.ts'
import { NEEDING_OTHERS, SOLD_ALONE } from '../support/bare-node.ts'
import { Caller, marketOpen } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { askRaw } from '../support/raw-http.ts'

const workshop = new Workshop()
const PUBLIC_URL = 'https://agents.example'
/** Number of services that can be bought: the shipped ones that need nothing else, and two of the three test services. */
const AVAILABLE = SOLD_ALONE.length + 2
/** Number of listed services: also those that need other servers, and the test service that can never be bought. */
const LISTED = AVAILABLE + NEEDING_OTHERS.size + 1
const DOCUMENTS = [
  '/x402/discovery',
  '/x402/discovery?x402Version=1',
  '/discovery/resources',
  '/discovery/search?query=price',
  '/services.json',
  '/.well-known/x402',
  '/.well-known/x402.json',
  '/.well-known/agent.json',
  '/.well-known/agent-card.json',
  '/llms.txt',
  '/llms-full.txt',
  '/robots.txt',
  '/sitemap.xml',
  '/api/x402/requests',
  '/agents',
  '/agents/node-price-feed',
  '/chat',
  '/api/v1',
  '/api/v1/info',
  '/api/v1/info/models',
  '/api/v1/info/compare',
]
/** Uncompressed: a compressed answer has another ETag. */
const PLAIN = { 'accept-encoding': 'identity' }
let daemon: RunningDaemon

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' } })
  await marketOpen(daemon.url)
  const buyer = new Caller(daemon.url, 1)
  for (const serviceId of ['node-test-once', 'node-network-stats', 'node-test-once'])
    await buyer.settle(await buyer.payMined({ serviceId, request: 'ok' }))
  // Without blocks the documents do not change.
  await daemon.stop()
  daemon = await workshop.start(daemon.dataDir, { env: { TEST_FAST_BLOCKS: '1' }, mine: 0 })
  await marketOpen(daemon.url)
})

interface List {
  readonly items: readonly { readonly resource: string; readonly metadata: { readonly serviceId: string } }[]
  readonly pagination: { readonly limit: number; readonly offset: number; readonly total: number }
}

describe('public documents', () => {
  it.each(DOCUMENTS)('%s is for every caller, and costs nothing to ask for again', async (path) => {
    const first = await ask(daemon.url, path, { headers: PLAIN })
    expect(first.status).toBe(200)
    expect(first.headers.get('access-control-allow-origin')).toBe('*')
    expect(first.headers.get('cache-control')).toBe('public, max-age=30')
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[^"]+"$/)
    const again = await ask(daemon.url, path, { headers: { ...PLAIN, 'if-none-match': etag } })
    expect([again.status, again.text]).toEqual([304, ''])
    const head = await askRaw(daemon.url, { method: 'HEAD', path })
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', etag])
    expect((await ask(daemon.url, path, { headers: PLAIN })).text).toBe(first.text)
  })

  it('are the same for links that carry words for others', async () => {
    for (const path of DOCUMENTS) {
      const marked = `${path}${path.includes('?') ? '&' : '?'}net=mainnet&utm_source=x`
      const [plain, other] = [await ask(daemon.url, path), await ask(daemon.url, marked)]
      expect({ path, status: other.status, isSame: other.text === plain.text }).toEqual({
        path,
        status: 200,
        isSame: true,
      })
    }
    // Known parameters are still checked beside unknown ones.
    expect((await ask(daemon.url, '/x402/discovery?limit=0&utm_source=x')).status).toBe(400)
  })

  it('name the addresses of all that is sold, as indexers of x402 read them', async () => {
    const { body } = await ask<{
      readonly version: number
      readonly resources: readonly string[]
      readonly services: readonly { readonly endpoint: string }[]
    }>(daemon.url, '/.well-known/x402')
    expect(body.version).toBe(1)
    expect(body.resources).toEqual(body.services.map(({ endpoint }) => endpoint))
    for (const resource of body.resources) expect(new URL(resource).origin).toBe(daemon.url)
  })

  it('are compressed for who takes it', async () => {
    const packed = await ask(daemon.url, '/x402/discovery', { headers: { 'accept-encoding': 'gzip' } })
    const plain = await ask(daemon.url, '/x402/discovery', { headers: PLAIN })
    expect([packed.headers.get('content-encoding'), plain.headers.get('content-encoding')]).toEqual(['gzip', null])
    expect(packed.text).toBe(plain.text)
  })

  it('name the address that the operator has set, wherever they are asked for', async () => {
    const other = await workshop.start(workshop.folder(), { flags: ['--rpc-public-url', PUBLIC_URL], mine: 0 })
    for (const path of DOCUMENTS.filter((each) => !each.includes('/node-'))) {
      const { status, text } = await ask(other.url, path)
      expect({ path, status, hasOwn: text.includes(other.url) }).toEqual({ path, status: 200, hasOwn: false })
    }
    expect((await ask(other.url, '/robots.txt')).text).toContain(`Sitemap: ${PUBLIC_URL}/sitemap.xml`)
    await other.stop()
  })
})

describe('the list of catalogues', () => {
  it('is paged by offset over everything that can be bought, each at an address that asks for payment', async () => {
    const seen: string[] = []
    for (let offset = 0; offset < AVAILABLE; offset += 10) {
      const { body } = await ask<List>(daemon.url, `/x402/discovery?limit=10&offset=${offset}`)
      expect(body.pagination).toEqual({ limit: 10, offset, total: AVAILABLE })
      for (const { resource, metadata } of body.items) {
        seen.push(metadata.serviceId)
        const { status, body: quote } = await post<CallView>('', resource, undefined)
        expect({ resource, status, available: quote.available }).toEqual({ resource, status: 402, available: true })
      }
    }
    expect(new Set(seen).size).toBe(AVAILABLE)
    expect(seen).not.toContain('node-test-closed')
  })

  it('has 20 unless asked, and says the same under the name that clients of facilitators use', async () => {
    const [own, theirs] = await Promise.all(
      ['/x402/discovery', '/discovery/resources'].map((path) => ask<List>(daemon.url, path)),
    )
    expect(own!.body.items).toHaveLength(20)
    expect(theirs!.text).toBe(own!.text)
  })

  it('is searched, page by page', async () => {
    interface Found {
      readonly resources: readonly object[]
      readonly pagination: { readonly cursor: string | null }
    }
    const all = await ask<Found>(daemon.url, '/discovery/search?query=token&limit=100')
    expect(all.body.pagination.cursor).toBeNull()
    const pieces: object[] = []
    let cursor: string | null = '0'
    while (cursor !== null) {
      const page: { body: Found } = await ask<Found>(
        daemon.url,
        `/discovery/search?query=token&limit=2&cursor=${cursor}`,
      )
      pieces.push(...page.body.resources)
      cursor = page.body.pagination.cursor
    }
    expect(pieces.length).toBeGreaterThan(2)
    expect(pieces).toEqual(all.body.resources)
  })

  it('is searched by the name that any of the lists has for words', async () => {
    const bodyOf = async (path: string): Promise<string> => (await ask(daemon.url, path)).text
    const paths = ['/discovery/search?limit=100&', '/services.json?', '/agents?']
    for (const path of paths) {
      const found = await bodyOf(`${path}q=token`)
      expect(found).not.toContain('node-world-clock')
      expect(await bodyOf(`${path}query=token`)).toBe(found)
    }
  })

  it.each(['limit=0', 'limit=101', 'offset=-1', 'x402Version=3', 'limit=x'])('refuses %s', async (query) => {
    expect((await ask(daemon.url, `/x402/discovery?${query}`)).status).toBe(400)
  })
})

describe('the registry', () => {
  it('shows everything that this node could sell, what cannot be bought with the reason', async () => {
    interface Registry {
      readonly count: number
      readonly nodeOperatedCount: number
      readonly services: readonly {
        readonly serviceId: string
        readonly unavailableReason?: string
        readonly requires?: readonly string[]
      }[]
    }
    const { body } = await ask<Registry>(daemon.url, '/services.json')
    expect([body.count, body.nodeOperatedCount]).toEqual([LISTED, LISTED])
    const closed = body.services.filter(({ unavailableReason }) => unavailableReason !== undefined)
    expect(closed.map(({ serviceId }) => serviceId).sort()).toEqual([...NEEDING_OTHERS, 'node-test-closed'].sort())
    expect(closed).toContainEqual(
      expect.objectContaining({ serviceId: 'node-test-closed', unavailableReason: 'its provider is down' }),
    )
    for (const { requires } of closed) expect(requires?.length).toBeGreaterThan(0)
    expect((await ask<Registry>(daemon.url, '/services.json?include=all')).body).toEqual(body)
    expect((await ask(daemon.url, '/services.json?include=some')).status).toBe(400)
  })

  it('is not the only list that may be asked for everything', async () => {
    for (const path of DOCUMENTS.filter((each) => each !== '/services.json' && !each.startsWith('/api'))) {
      const { status } = await ask(daemon.url, `${path}${path.includes('?') ? '&' : '?'}include=all`)
      expect({ path, status }).toEqual({ path, status: 200 })
    }
  })

  it('has a free sample of every service, which says that it is one', async () => {
    interface Example {
      readonly serviceId: string
      readonly sample: boolean
    }
    for (const serviceId of ['node-price-feed', 'node-test-closed']) {
      const { body } = await ask<Example>(daemon.url, `/services/${serviceId}/example`)
      expect(body).toMatchObject({ serviceId, sample: true })
    }
  })

  it('has the whole file in the sample of a document, and no other list carries it', async () => {
    interface Example {
      readonly result: { readonly pdf: { readonly base64: string } }
    }
    const id = 'node-invoice-pdf'
    const { base64 } = (await ask<Example>(daemon.url, `/services/${id}/example`)).body.result.pdf
    expect(base64.length).toBeGreaterThan(10_000)
    const params = { name: 'get_service', arguments: { serviceId: id } }
    const looked = await post(
      daemon.url,
      '/api/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { accept: 'application/json, text/event-stream' },
    )
    const cut = `${base64.slice(0, 120)}... (${base64.length} characters)`
    const texts = [looked.text, (await ask(daemon.url, '/openapi.json')).text]
    texts.push((await ask(daemon.url, `/agents/${id}`, { headers: { accept: 'text/html' } })).text)
    for (const text of texts) expect(text).toContain(cut)
    for (const path of DOCUMENTS) texts.push((await ask(daemon.url, path)).text)
    expect(texts.filter((text) => text.includes(base64.slice(100, 200)))).toEqual([])
  })
})

describe('paid calls of one service', () => {
  it('are listed alone', async () => {
    interface Page {
      readonly requests: readonly { readonly serviceId: string; readonly txId: string }[]
      readonly nextCursor: string | null
    }
    const of = async (query: string) => (await ask<Page>(daemon.url, `/api/x402/requests?${query}`)).body
    const once = await of('serviceId=node-test-once')
    expect(once.requests.map(({ serviceId }) => serviceId)).toEqual(['node-test-once', 'node-test-once'])
    const [first] = (await of('serviceId=node-test-once&limit=1')).requests
    expect(first).toEqual(once.requests[0])
    expect(await of('serviceId=node-price-feed')).toEqual({ requests: [], nextCursor: null })
  })
})

describe('pages for people', () => {
  it('carry a policy that lets nothing in, and are there for who has no scripts', async () => {
    for (const path of ['/agents', '/agents/node-price-feed', '/agents/nothing', '/']) {
      const { headers, text } = await ask(daemon.url, path, { headers: { accept: 'text/html' } })
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /)
      expect(text).not.toMatch(/<script|https?:\/\/(?!127\.0\.0\.1)[^w]/)
    }
  })

  it('say by their status and their words that there is no such service', async () => {
    const missing = await ask(daemon.url, '/agents/node-price')
    expect(missing.status).toBe(404)
    expect(missing.text).toContain('<a href="/agents/node-price-feed">')
  })

  it('give the home page to people and links to programs at one address', async () => {
    const page = await ask(daemon.url, '/', { headers: { accept: 'text/html' } })
    const links = await ask(daemon.url, '/', { headers: { accept: 'application/json' } })
    expect(page.text).toContain('<h1>')
    expect(links.body).toMatchObject({ links: { catalogue: `${daemon.url}/agents`, llms: `${daemon.url}/llms.txt` } })
    expect([page, links].map(({ headers }) => headers.get('vary'))).toEqual(['Accept', 'Accept'])
  })
})
