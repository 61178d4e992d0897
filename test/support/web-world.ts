import { createServer, type RequestListener } from 'node:http'
import { createServer as createSafeServer } from 'node:https'
import { type AddressInfo, createServer as createPlainServer, type Server, type Socket } from 'node:net'
import type { OutsideConfig } from '../../config/outside-settings.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { WebPage } from '../../marketplace/ports/web.ts'
import { AddressGuard } from '../../src/adapters/address-guard.ts'
import { FetchGate, GATE_LIMITS, type GateLimits } from '../../src/adapters/fetch-gate.ts'
import { type AskNames, NameSystem } from '../../src/adapters/name-system.ts'
import { SafeFetcher, type SafeFetcherDependencies } from '../../src/adapters/safe-fetch.ts'
import { type InternetPlan, internetOf } from './internet.ts'
import { WORLD_CERTIFICATE, WORLD_KEY } from './web-world-tls.ts'

/** A host of the made-up internet: pages by a handler, or raw connections. */
export interface WorldHost {
  /** Answers requests on port 80. */
  readonly pages?: RequestListener
  /** Answers requests over TLS on port 443. The certificate must have the host's name (web-world-tls.ts). */
  readonly safePages?: RequestListener
  /** Gets raw connections on port 80; `safeSocket` gets those on port 443. */
  readonly socket?: (socket: Socket) => void
  readonly safeSocket?: (socket: Socket) => void
  /** Its addresses. By default one public address. */
  readonly addresses?: readonly string[]
}

/** What a test may change in the fetcher that reads the world. */
export interface FetcherChanges extends Partial<SafeFetcherDependencies> {
  readonly deny?: OutsideConfig['web']['deny']
  readonly ask?: AskNames
  readonly limits?: Partial<GateLimits>
  readonly ports?: readonly number[]
  readonly ownHosts?: readonly string[]
}

/**
 * A made-up internet on loopback: hosts with names and public addresses, whose connections lead to servers of this
 * process. Readers go through the same guard as in the product.
 *
 *     const world = await WebWorld.open({ 'news.example': { pages: (request, response) => response.end('hello') } })
 *     const fetcher = world.fetcher()                     // in this process
 *     workshop.start(folder, { env: world.env })          // in a daemon (test/support/daemon-entry.ts)
 *     await world.close()
 */
export class WebWorld {
  readonly plan: InternetPlan
  /** How many connections each host got. */
  readonly visits: Readonly<Record<string, number>>
  readonly #servers: readonly Server[]
  readonly #sockets: ReadonlySet<Socket>

  private constructor(parts: {
    plan: InternetPlan
    visits: Record<string, number>
    servers: Server[]
    sockets: Set<Socket>
  }) {
    this.plan = parts.plan
    this.visits = parts.visits
    this.#servers = parts.servers
    this.#sockets = parts.sockets
  }

  static async open(hosts: Readonly<Record<string, WorldHost>>, mail: InternetPlan['mail'] = {}): Promise<WebWorld> {
    const names: Record<string, readonly string[]> = {}
    const ports: Record<string, number> = {}
    const visits: Record<string, number> = {}
    const servers: Server[] = []
    const sockets = new Set<Socket>()
    for (const [index, [name, host]] of Object.entries(hosts).entries()) {
      const addresses = host.addresses ?? [`93.184.${216 + Math.floor(index / 250)}.${(index % 250) + 1}`]
      names[name] = addresses
      visits[name] = 0
      for (const [port, server] of serversOf(host)) {
        server.on('connection', (socket: Socket) => {
          visits[name] = (visits[name] ?? 0) + 1
          sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)))
        })
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
        servers.push(server)
        const target = (server.address() as AddressInfo).port
        for (const one of addresses) ports[`${one.includes(':') ? `[${one}]` : one}:${port}`] = target
      }
    }
    return new WebWorld({ plan: { names, mail, ports, ca: WORLD_CERTIFICATE }, visits, servers, sockets })
  }

  /** How many connections are open, of all hosts. */
  get openCount(): number {
    return this.#sockets.size
  }

  /** Environment for a daemon (test/support/daemon-entry.ts) that shall use this world. */
  get env(): Readonly<Record<string, string>> {
    return { TEST_INTERNET: JSON.stringify(this.plan) }
  }

  /** The product's fetcher, in this world. */
  fetcher(changes: FetcherChanges = {}): SafeFetcher {
    const { deny = [], ask, limits, ports = [80, 443], ownHosts = [], ...parts } = changes
    const internet = internetOf(this.plan)
    const guard = parts.guard ?? new AddressGuard(deny)
    return new SafeFetcher({
      names: new NameSystem([], { ask: ask ?? internet.ask }),
      guard,
      gate: new FetchGate({ ...GATE_LIMITS, ...limits }),
      urls: { ports, guard, ownHosts: new Set(ownHosts) },
      ownAddresses: async () => [],
      product: 'Farthing',
      userAgent: 'Farthing/0 (+https://operator.example)',
      robots: true,
      dial: internet.dial,
      ...parts,
    })
  }

  /** Closes all servers and their connections. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

function serversOf({ pages, safePages, socket, safeSocket }: WorldHost): readonly (readonly [number, Server])[] {
  const tls = { key: WORLD_KEY, cert: WORLD_CERTIFICATE }
  return [
    ...(pages === undefined ? [] : [[80, createServer({ keepAliveTimeout: 60_000 }, pages)] as const]),
    ...(safePages === undefined ? [] : [[443, createSafeServer(tls, safePages)] as const]),
    ...(socket === undefined ? [] : [[80, createPlainServer(socket)] as const]),
    ...(safeSocket === undefined ? [] : [[443, createPlainServer(safeSocket)] as const]),
  ]
}

/** The text of a page, or the code of the fault. */
export async function textRead(reading: Promise<Result<WebPage>>): Promise<string> {
  const page = await reading
  return page.ok ? Buffer.from(page.value.body).toString() : page.fault.code
}

/** Code and reason of a failed reading, as text. */
export async function refusalRead(reading: Promise<Result<WebPage>>): Promise<string> {
  const page = await reading
  return page.ok ? `read ${page.value.status}` : `${page.fault.code} ${String(page.fault.detail.reason ?? '')}`.trim()
}
