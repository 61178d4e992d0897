import { LRUCache } from 'lru-cache'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { DomainFacts, Domains } from '../../../marketplace/ports/providers.ts'
import type { Readiness } from '../../../marketplace/ports/readiness.ts'
import type { Sourced } from '../../../marketplace/ports/sourced.ts'
import type { WebPage, WebReader } from '../../../marketplace/ports/web.ts'
import { readJson } from './json-at.ts'
import type { Provider } from './provider.ts'
import { ProviderChain } from './provider-chain.ts'
import { ofQuestion } from './provider-fetch.ts'
import { readDomain, readNotFound, unregistered } from './rdap-domain.ts'
import { RdapList, type RegistryList, registryOf } from './rdap-list.ts'

/** What domain registrations need. */
export interface RdapDependencies {
  /** Base addresses of the sources of the registry list, in order; null for IANA's own. */
  readonly lists: readonly (string | null)[]
  /** The guarded reader, because registries are strangers and redirect clients. */
  readonly web: WebReader
  readonly clock: Clock
  readonly timers: Timers
}

const WHAT = 'domain registrations'
const REQUIRES = ['providers.domains']
const HOUR_MS = 3_600_000
const LIST_STALE_MS = 7 * 24 * HOUR_MS
const FACTS_STALE_MS = 6 * HOUR_MS
const FACTS_BYTES_MAX = 524_288
/** Maximum registries with a chain of their own. */
const REGISTRIES_MAX = 128
const KEPT_MAX = 50
/** Pause after a registry refuses: the breaker's shortest. */
const PAUSE_MS = 30_000
const ACCEPT = 'application/rdap+json, application/json;q=0.9'
const JSON_TYPES: ReadonlySet<string> = new Set(['application/rdap+json', 'application/json'])

/**
 * Registrations of domains by RDAP (RFC 9082, 9083), each from the registry that IANA names. Every registry has its own
 * breaker.
 */
export class RdapDomains implements Domains {
  /** The sources of the registry list. */
  readonly chain: ProviderChain<null, RegistryList>
  readonly #parts: RdapDependencies
  readonly #lists: readonly RdapList[]
  readonly #registries = new LRUCache<string, ProviderChain<string, DomainFacts>>({ max: REGISTRIES_MAX })

  constructor(parts: RdapDependencies) {
    const { lists, clock, timers } = parts
    this.#parts = parts
    this.#lists = lists.map((host) => new RdapList(host, clock))
    const keyOf = () => 'dns'
    const bounds = { keyOf, freshMs: HOUR_MS, staleMs: LIST_STALE_MS }
    this.chain = new ProviderChain({ what: WHAT, requires: REQUIRES, providers: this.#lists, ...bounds, clock, timers })
  }

  readonly readiness = (): Readiness => {
    const { lists, web } = this.#parts
    const reading = web.readiness()
    return reading.available || lists.length === 0 ? this.chain.readiness() : reading
  }

  readonly covers = (domain: string): boolean | null => {
    const list = this.#lists.find(({ known }) => known !== null)?.known ?? null
    return list === null ? null : registryOf(list, domain) !== undefined
  }

  readonly ask = async (domain: string, signal: AbortSignal): Promise<Result<Sourced<DomainFacts>>> => {
    const list = await this.chain.ask(null, signal)
    if (!list.ok) return list
    const address = registryOf(list.value.value, domain)
    if (address === undefined) {
      return fail(
        fault('provider/not-found', { provider: list.value.source.name, what: `a registry with RDAP of ${domain}` }),
      )
    }
    return this.#registryAt(address).ask(domain, signal)
  }

  start(): Promise<void> {
    return this.chain.start()
  }

  stop(): void {
    this.chain.stop()
    for (const chain of this.#registries.values()) chain.stop()
  }

  #registryAt(address: string): ProviderChain<string, DomainFacts> {
    const kept = this.#registries.get(address)
    if (kept !== undefined) return kept
    const { web, clock, timers } = this.#parts
    const providers = [registry(address, web)]
    const bounds = { keyOf: (domain: string) => domain, freshMs: HOUR_MS, staleMs: FACTS_STALE_MS, keptMax: KEPT_MAX }
    const chain = new ProviderChain({ what: WHAT, requires: REQUIRES, providers, ...bounds, clock, timers })
    this.#registries.set(address, chain)
    return chain
  }
}

/** One registry as a provider, over RDAP. */
export function registry(address: string, web: WebReader): Provider<string, DomainFacts> {
  const name = new URL(address).host
  const ask = async (domain: string, signal: AbortSignal): Promise<Result<DomainFacts>> => {
    const url = web.check(`${address}domain/${domain}`)
    if (!url.ok) return fail(ofProvider(name, url.fault))
    const request = { accept: ACCEPT, bytesMax: FACTS_BYTES_MAX, tooLong: 'fail' } as const
    const page = await web.read(url.value, request, signal)
    return page.ok ? factsOf(name, address, domain, page.value) : fail(ofProvider(name, page.fault))
  }
  return { name, url: address, ask, check: async () => ok(null) }
}

function factsOf(provider: string, address: string, domain: string, page: WebPage): Result<DomainFacts> {
  const { status, mediaType, body } = page
  const refused = (reason: string): Result<never> => fail(fault('provider/answer', { provider, reason }))
  if (status === 429 || status === 403 || status === 401) {
    return fail(fault('provider/refused', { provider, reason: `status ${status}`, retryAfterMs: PAUSE_MS }))
  }
  // A registry may answer "not registered" with a 404 without a body (RFC 7480, 5.3).
  if (status === 404 && body.length === 0) return ok(unregistered(address))
  if (status === 400 || status === 422)
    return fail(fault('provider/answer', { provider, reason: `status ${status}`, ...ofQuestion(true) }))
  if (status !== 200 && status !== 404) return refused(`status ${status}`)
  if (!JSON_TYPES.has(mediaType)) return refused(`status ${status} with a page`)
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return refused('it is not JSON')
  }
  const facts = readJson(provider, json, (here) =>
    status === 404 ? readNotFound(here, address) : readDomain(here, domain, address),
  )
  // One domain with an odd record must not close the registry for all others.
  return facts.ok ? facts : fail(fault(facts.fault.code, { ...facts.fault.detail, ...ofQuestion(true) }))
}

function ofProvider(provider: string, cause: Fault): Fault {
  if (cause.code === 'web/timeout') return fault('provider/timeout', { provider })
  const { reason = 'it is too long' } = cause.detail
  // The callers of this node filled its queue: the registry did not fail.
  if (cause.code === 'web/busy') return fault('provider/unreachable', { provider, reason, ...ofQuestion(true) })
  const code = cause.code === 'web/unreachable' ? 'provider/unreachable' : 'provider/answer'
  return fault(code, { provider, reason })
}
