import type { MxRecord } from 'node:dns'
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js'
import { getDomain } from 'tldts'
import type { Clock } from '../../consensus/chain/ports.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { MailDomain, MailDomains } from '../../marketplace/ports/mail.ts'
import type { Sourced } from '../../marketplace/ports/sourced.ts'
import type { NameSystem } from './name-system.ts'

const FRESH_MS = 600_000
const KEPT_MAX = 1_000
const ASKING_MAX = 256
/** Time limit for one domain. The service that asks has ten seconds. */
const BUDGET_MS = 8_000
const MX_MAX = 20
const HOST_CHARS_MAX = 253
const LOOKED_AT_MAX = 3
/** Some servers list exchangers that are not valid host names. */
const HOST = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/

interface Kept {
  readonly domain: MailDomain
  readonly atMs: number
}

/** Mail records of the name system. */
export class DnsMailDomains implements MailDomains {
  readonly #names: NameSystem
  readonly #clock: Clock
  readonly #kept = new LruMap<string, Kept>(KEPT_MAX)
  readonly #asking = new Map<string, Promise<Result<Kept>>>()
  #disposable: ReadonlySet<string> | null = null

  constructor(names: NameSystem, clock: Clock) {
    this.#names = names
    this.#clock = clock
  }

  readonly readiness: MailDomains['readiness'] = () => this.#names.readiness()

  readonly lookUp = async (domain: string, signal: AbortSignal): Promise<Result<Sourced<MailDomain>>> => {
    const kept = this.#kept.get(domain)
    if (kept !== undefined && this.#clock.now() - kept.atMs < FRESH_MS) return ok(sourced(kept))
    let asking = this.#asking.get(domain)
    if (asking === undefined) {
      if (this.#asking.size >= ASKING_MAX)
        return fail(fault('web/unreachable', { host: domain, reason: 'too many domains are asked for at once' }))
      asking = this.#ask(domain).finally(() => this.#asking.delete(domain))
      this.#asking.set(domain, asking)
    }
    // A caller that gives up does not end the lookup: others may wait for the same one.
    const asked = await Promise.race([asking, whenAborted(signal)])
    if (asked === 'aborted') return fail(fault('web/timeout', { host: domain }))
    return asked.ok ? ok(sourced(asked.value)) : asked
  }

  readonly isDisposable = (domain: string): boolean => {
    this.#disposable ??= disposableEmailBlocklistSet()
    const registrable = getDomain(domain, { validateHostname: false }) ?? domain
    // The list holds domains, and hosts under shared domains: check every parent down to the registrable domain.
    for (let name = domain; name.length >= registrable.length; name = name.slice(name.indexOf('.') + 1))
      if (this.#disposable.has(name)) return true
      else if (!name.includes('.')) return false
    return false
  }

  async #ask(domain: string): Promise<Result<Kept>> {
    const found = await this.#look(domain, AbortSignal.timeout(BUDGET_MS))
    if (!found.ok) return found
    const kept = { domain: found.value, atMs: this.#clock.now() }
    this.#kept.set(domain, kept)
    return ok(kept)
  }

  async #look(domain: string, signal: AbortSignal): Promise<Result<MailDomain>> {
    const found = await this.#names.resolveMx(domain, signal)
    if (!found.ok) return found
    const { exists, records } = found.value
    const nothing = { exists, mx: [], nullMx: false, implicitMx: false, mxHasAddress: null }
    if (!exists) return ok(nothing)
    const mx = exchangersIn(records)
    if (mx.length > 0) return ok({ ...nothing, mx, mxHasAddress: await this.#haveAddress(mx, signal) })
    if (records.length > 0) return ok({ ...nothing, nullMx: records.some(({ exchange }) => isRoot(exchange)) })
    const own = await this.#names.addresses(domain, signal)
    if (!own.ok) return own
    return ok({ ...nothing, exists: own.value.exists, implicitMx: own.value.records.length > 0 })
  }

  /** Whether one of the first exchangers has an address; null if that is not certain. */
  async #haveAddress(mx: MailDomain['mx'], signal: AbortSignal): Promise<boolean | null> {
    const found = await Promise.all(mx.slice(0, LOOKED_AT_MAX).map(({ host }) => this.#names.addresses(host, signal)))
    if (found.some((one) => one.ok && one.value.records.length > 0)) return true
    return found.every((one) => one.ok) && mx.length <= LOOKED_AT_MAX ? false : null
  }
}

function exchangersIn(records: readonly MxRecord[]): MailDomain['mx'] {
  return records
    .map(({ exchange, priority }) => ({ host: exchange.toLowerCase().replace(/\.$/, ''), priority }))
    .filter(({ host }) => host.length <= HOST_CHARS_MAX && HOST.test(host))
    .sort((a, b) => a.priority - b.priority || (a.host < b.host ? -1 : 1))
    .slice(0, MX_MAX)
}

/** RFC 7505: the root (".") as exchanger means that the domain accepts no mail. */
function isRoot(exchange: string): boolean {
  return exchange === '' || exchange === '.'
}

function sourced({ domain, atMs }: Kept): Sourced<MailDomain> {
  return { value: domain, source: { name: 'dns', fetchedAt: new Date(atMs).toISOString(), stale: false } }
}

function whenAborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })
}
