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

/** What registrations of domains are made from. */
export interface RdapDependencies {
  /** Base addresses of who keeps the list of registries, in the order in which they are asked; null for IANA's own. */
  readonly lists: readonly (string | null)[]
  /** Reads what registries answer: they are strangers, and send their callers elsewhere. */
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
/** Registries whose state is kept, with the answers of each. */
const REGISTRIES_MAX = 128
const KEPT_MAX = 50
/** A registry that refuses is left alone at once, for as long as the breaker pauses at least. */
const PAUSE_MS = 30_000
const ACCEPT = 'application/rdap+json, application/json;q=0.9'
const JSON_TYPES: ReadonlySet<string> = new Set(['application/rdap+json', 'application/json'])

/** Registrations of domains by RDAP (RFC 9082, 9083): each from the registry that IANA names, which has a breaker of its own. */
export class RdapDomains implements Domains {
  /** Who keeps the list of registries. */
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

  /** Looks for the list, now and from then on; resolves after the first look. */
  start(): Promise<void> {
    return this.chain.start()
  }

  /** Gives up what is under way. */
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

/** One registry over RDAP. */
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
  // A registry that has nothing to say of a domain need not say it in words (RFC 7480, 5.3).
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
  // One domain that is told of in an odd way must not close the registry to all the others.
  return facts.ok ? facts : fail(fault(facts.fault.code, { ...facts.fault.detail, ...ofQuestion(true) }))
}

/** What went wrong on the web, as something that went wrong with a provider: its breaker counts it. */
function ofProvider(provider: string, cause: Fault): Fault {
  if (cause.code === 'web/timeout') return fault('provider/timeout', { provider })
  const { reason = 'it is too long' } = cause.detail
  // That this node reads as much as it does at once is the doing of callers.
  if (cause.code === 'web/busy') return fault('provider/unreachable', { provider, reason, ...ofQuestion(true) })
  const code = cause.code === 'web/unreachable' ? 'provider/unreachable' : 'provider/answer'
  return fault(code, { provider, reason })
}
