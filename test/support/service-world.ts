import { writeFileSync } from 'node:fs'
import { request as askUpstream, createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import sharp from 'sharp'
import { mmdb } from './mmdb.ts'
import { coingeckoUpstream } from './upstreams/coingecko.ts'
import { evmNode } from './upstreams/evm-node.ts'
import { openMeteoUpstream } from './upstreams/open-meteo.ts'
import { FakeOpenAi } from './upstreams/openai.ts'
import { RDAP_LIST, rdapUpstream } from './upstreams/rdap.ts'
import { ecbUpstream } from './upstreams/reference-rates.ts'
import { searxngUpstream } from './upstreams/searxng.ts'
import { type Profile, Upstream, type UpstreamHandler } from './upstreams/upstream.ts'
import { WebWorld } from './web-world.ts'

/** Address whose balances the fake node of the layer-2 network knows. */
export const HOLDER = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
/** A name that the fake node of Ethereum resolves. */
export const ENS_NAME = 'ada.eth'

const PAGE = `<!doctype html><html lang="en"><head><title>A page</title><meta name="description" content="About farthings">
<link rel="canonical" href="/farthings"></head><body><article><h1>A page</h1>${'<p>A farthing was a quarter of a penny, and people counted them with care in many towns.</p>'.repeat(12)}</article></body></html>`
const FEED = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>http://news.example/</link>
<description>All of it</description><item><title>First</title><link>http://news.example/1</link></item></channel></rss>`

/** CoinGecko's answer with the present time. */
const quotedNow: UpstreamHandler = async (request) => {
  const answer = await coingeckoUpstream(request)
  const now = String(Math.floor(Date.now() / 1_000))
  const body = JSON.stringify(answer.body).replaceAll(/("last_updated_at":)\d+/g, `$1${now}`)
  return { ...answer, body: JSON.parse(body) }
}

/** A registry for `com` at a host of the made-up internet, and IANA's list with it. */
const registry: UpstreamHandler = (request) =>
  request.path === '/rdap/dns.json'
    ? { body: { ...RDAP_LIST, services: [[['com'], ['https://other.example/com/v1/']]] } }
    : rdapUpstream()(request)

/**
 * All upstreams that services use. Each is a server of this process with the real one's protocol. `flags` and `env` point a daemon to them.
 */
export class ServiceWorld {
  /** Settings of the daemon. */
  readonly flags: readonly string[]
  /** Environment of the daemon. */
  readonly env: Readonly<Record<string, string>>
  readonly #upstreams: readonly Upstream[]
  readonly #models: FakeOpenAi
  readonly #web: WebWorld
  readonly #pages: { profile: Profile }
  readonly #endpoint: ReturnType<typeof createServer>

  private constructor(parts: {
    flags: readonly string[]
    upstreams: readonly Upstream[]
    models: FakeOpenAi
    web: WebWorld
    pages: { profile: Profile }
    endpoint: ReturnType<typeof createServer>
  }) {
    this.flags = parts.flags
    this.env = parts.web.env
    this.#upstreams = parts.upstreams
    this.#models = parts.models
    this.#web = parts.web
    this.#pages = parts.pages
    this.#endpoint = parts.endpoint
  }

  /** Starts all upstreams, and writes files for settings into a folder. */
  static async open(folder: string): Promise<ServiceWorld> {
    const timestamp = Math.floor(Date.now() / 1_000)
    const handlers: readonly UpstreamHandler[] = [
      quotedNow,
      searxngUpstream(),
      registry,
      openMeteoUpstream(),
      ecbUpstream,
      evmNode({ chainId: 1, timestamp, names: { [ENS_NAME]: { address: HOLDER } } }),
      evmNode({
        chainId: 8_453,
        timestamp,
        balances: { [HOLDER.toLowerCase()]: 10n ** 18n },
        token: { contract: HOLDER, balances: {} },
      }),
    ]
    const upstreams = await Promise.all(handlers.map((handler) => Upstream.open(handler)))
    const [prices, search, domains, weather, rates, ethereum, base] = upstreams.map(({ url }) => url)
    const models = await FakeOpenAi.open()
    models.picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'teal' } })
      .png()
      .toBuffer()
    models.answer = ({ body }) =>
      JSON.stringify(body).includes('You translate')
        ? '{"sourceLanguage":"en","translation":"Der Markt ist offen."}'
        : 'Blocks cost work.'
    const pages: { profile: Profile } = { profile: 'ok' }
    const web = await WebWorld.open(
      {
        'news.example': { pages: pagesBy(pages) },
        'other.example': { safePages: passedOnTo(domains as string) },
        'mail.example': {},
      },
      { 'mail.example': [{ exchange: 'mx.mail.example', priority: 10 }] },
    )
    const endpoint = createServer((_, response) => response.setHeader('x-request-id', 'r1').end('{}'))
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
    const files = filesOf(folder, models)
    const flags = {
      'providers-prices': `coingecko=${prices}`,
      'providers-search': `searxng=${search}`,
      'providers-domains': `iana=${domains}`,
      'providers-weather': `open-meteo=${weather}`,
      'providers-rates': `ecb=${rates}`,
      'providers-ethereum': ethereum,
      'providers-base': base,
      'providers-keys-file': files.keys,
      'models-file': files.models,
      'geo-city-db': files.geo,
      'validation-target': `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`,
    }
    const given = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])
    return new ServiceWorld({ flags: given, upstreams, models, web, pages, endpoint })
  }

  /** Makes all upstreams, models and pages fail, or answer again. The validation target always answers. */
  set failing(failing: boolean) {
    for (const upstream of this.#upstreams) upstream.profile = failing ? '500' : 'ok'
    this.#models.profile = failing ? ({ path }) => (path.includes('images') ? '503' : 'empty-content') : 'ok'
    this.#pages.profile = failing ? 'drop' : 'ok'
  }

  async close(): Promise<void> {
    this.#endpoint.closeAllConnections()
    await new Promise((resolve) => this.#endpoint.close(resolve))
    await Promise.all([this.#web.close(), this.#models.close(), ...this.#upstreams.map((upstream) => upstream.close())])
  }
}

function filesOf(folder: string, { url, key }: FakeOpenAi) {
  const paths = { keys: join(folder, 'keys.json'), models: join(folder, 'models.json'), geo: join(folder, 'geo.mmdb') }
  writeFileSync(paths.keys, JSON.stringify({ 'model:house': key, 'open-meteo': 'open-meteo-test-key' }))
  const house = { id: 'house-8b', roles: ['general', 'translate', 'image'], context: 8_192 }
  const backend = { id: 'house', baseUrl: url, keyRef: 'model:house', models: [house] }
  writeFileSync(paths.models, JSON.stringify({ backends: [backend] }))
  const city = {
    country: { iso_code: 'US' },
    city: { names: { en: 'Ashburn' } },
    location: { latitude: 39, longitude: -77 },
  }
  writeFileSync(paths.geo, mmdb({ type: 'GeoLite2-City', networks: { '8.8.8.0/24': city } }))
  return paths
}

function pagesBy(pages: { readonly profile: Profile }): RequestListener {
  return (request, response) => {
    if (pages.profile === 'drop') {
      request.socket.destroy()
    } else if (request.url === '/robots.txt') {
      response.writeHead(404).end()
    } else if (request.url?.startsWith('/feed.xml')) {
      response.setHeader('content-type', 'application/rss+xml').end(FEED)
    } else {
      response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE)
    }
  }
}

/** Passes requests to a host of the made-up internet on to an upstream. */
function passedOnTo(url: string): RequestListener {
  return (request, response) => {
    const passed = askUpstream(`${url}${request.url}`, { headers: { accept: request.headers.accept } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? '' })
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    passed.end()
  }
}
