import type { MxRecord } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { Timers } from '../../consensus/chain/ports.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { notNow, type Readiness } from '../../marketplace/ports/readiness.ts'
import { systemTimers } from '../daemon/runtime.ts'
import type { Checkable, ProviderCheck, ProviderFacts } from './providers/provider.ts'

/** A part of Node's resolver, with its errors. */
export interface NameQuestions {
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
  resolveMx(name: string): Promise<MxRecord[]>
  resolveNs(name: string): Promise<string[]>
  cancel(): void
}

/** Each call gives a new resolver, because `cancel` ends all queries of one. */
export type AskNames = () => NameQuestions

/** A name that exists may still have no records of a type. */
export interface NameRecords<T> {
  readonly exists: boolean
  readonly records: readonly T[]
}

/** What the name system needs. */
export interface NameSystemDependencies {
  readonly timers?: Timers
  readonly ask?: AskNames
}

const NAMED = { what: 'names', name: 'dns' }
const TRY_MS = 1_500
const TRIES = 2
/** Time limit of a query, however many servers are tried. */
const QUESTION_MS_MAX = 5_000
const CHECK_MS = { ill: 30_000, well: 300_000 }
const NOT_ASKED = notNow('the name system has not been asked yet')
/** Codes of servers that work but refuse this query: home routers often know nothing of the root. */
const REFUSED: ReadonlySet<string> = new Set(['EREFUSED', 'ENOTIMP', 'ESERVFAIL', 'EFORMERR', 'EBADRESP'])
/** A name that always exists (RFC 2606). */
const KNOWN_NAME = 'example.com'
/** Codes for "no server could be asked". */
const SILENT: ReadonlySet<string> = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ENOTINITIALIZED', 'ENONAME', 'ENOMEM'])

/** DNS through the configured servers, checked regularly by a query for the root. */
export class NameSystem implements Checkable {
  readonly #ask: AskNames
  readonly #timers: Timers
  #readiness: Readiness = NOT_ASKED
  #checking: Promise<void> | null = null
  #cancelCheck: (() => void) | null = null
  readonly #end = new AbortController()

  /** `servers` are IP addresses with or without a port; empty means those of the system. */
  constructor(
    servers: readonly string[],
    { timers = systemTimers, ask = askServers(servers) }: NameSystemDependencies = {},
  ) {
    this.#ask = ask
    this.#timers = timers
  }

  readonly readiness = (): Readiness => this.#readiness

  start(): void {
    void this.check()
  }

  /** Ends also a running check: silent servers would keep the process alive for seconds. */
  stop(): void {
    this.#end.abort()
    this.#cancelCheck?.()
  }

  /** Joins a running check. Never fails. */
  check(): Promise<void> {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = null
    })
    return this.#checking
  }

  get facts(): readonly ProviderFacts[] {
    const trouble = this.#readiness.available ? null : this.#readiness.reason
    return [{ ...NAMED, usable: trouble === null, trouble }]
  }

  async checkAll(): Promise<readonly ProviderCheck[]> {
    const startedMs = performance.now()
    await this.check()
    const ms = Math.round(performance.now() - startedMs)
    const readiness = this.#readiness
    return [{ ...NAMED, ok: readiness.available, detail: readiness.available ? 'it answers' : readiness.reason, ms }]
  }

  /** Addresses of a host, IPv4 first. Faults: `web/unreachable` (it has none, or DNS fails), `web/timeout`. */
  async lookUp(host: string, signal: AbortSignal): Promise<Result<readonly string[]>> {
    const found = await this.addresses(host, signal)
    if (!found.ok || found.value.records.length > 0) return found.ok ? ok(found.value.records) : found
    const reason = found.value.exists ? 'its name has no address' : 'there is no such name'
    return fail(fault('web/unreachable', { host, reason }))
  }

  /** Like `lookUp`, but an empty list is a valid answer. Faults: `web/unreachable`, `web/timeout`. */
  async addresses(host: string, signal: AbortSignal): Promise<Result<NameRecords<string>>> {
    const [v4, v6] = await Promise.all([
      this.#question(host, signal, (names) => names.resolve4(host)),
      this.#question(host, signal, (names) => names.resolve6(host)),
    ])
    const records = [v4, v6].flatMap((found) => (found.ok ? found.value.records : []))
    if (records.length > 0) return ok({ exists: true, records })
    if (!v4.ok) return v4
    if (!v6.ok) return v6
    return ok({ exists: v4.value.exists || v6.value.exists, records })
  }

  /** Faults: `web/unreachable`, `web/timeout`. */
  resolveMx(domain: string, signal: AbortSignal): Promise<Result<NameRecords<MxRecord>>> {
    return this.#question(domain, signal, (names) => names.resolveMx(domain))
  }

  async #question<T>(
    host: string,
    signal: AbortSignal,
    ask: (names: NameQuestions) => Promise<T[]>,
  ): Promise<Result<NameRecords<T>>> {
    const late = fail(fault('web/timeout', { host }))
    if (signal.aborted) return late
    const names = this.#ask()
    const ended = AbortSignal.any([signal, AbortSignal.timeout(QUESTION_MS_MAX)])
    const cancel = (): void => names.cancel()
    ended.addEventListener('abort', cancel, { once: true })
    try {
      return ok({ exists: true, records: await ask(names) })
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENODATA') return ok({ exists: true, records: [] })
      if (code === 'ENOTFOUND') return ok({ exists: false, records: [] })
      if (SILENT.has(code) && this.#readiness.available) void this.check()
      if (ended.aborted || code === 'ETIMEOUT') return late
      return fail(fault('web/unreachable', { host, reason: `the name system says ${code}` }))
    } finally {
      ended.removeEventListener('abort', cancel)
    }
  }

  async #look(): Promise<void> {
    this.#cancelCheck?.()
    const reason = await this.#illBecause()
    this.#readiness = reason === null ? { available: true, engine: 'dns' } : notNow(reason)
    if (this.#end.signal.aborted) return
    this.#cancelCheck = this.#timers.after(reason === null ? CHECK_MS.well : CHECK_MS.ill, () => void this.check())
  }

  async #illBecause(): Promise<string | null> {
    const names = this.#ask()
    const ended = AbortSignal.any([this.#end.signal, AbortSignal.timeout(QUESTION_MS_MAX)])
    const cancel = (): void => names.cancel()
    ended.addEventListener('abort', cancel, { once: true })
    try {
      await names.resolveNs('.')
      return null
    } catch (error) {
      const code = codeOf(error)
      // Some forwarders refuse a query for the root but resolve names. A forwarder that says the root does not exist
      // has no access to names.
      if (code === 'ENODATA' || (REFUSED.has(code) && (await this.#findsNames(names)))) return null
      const why = ended.aborted ? 'ETIMEOUT' : code
      return `the name system cannot be asked (${why}): no internet, or web.resolvers has to name servers that answer`
    } finally {
      ended.removeEventListener('abort', cancel)
    }
  }

  async #findsNames(names: NameQuestions): Promise<boolean> {
    return names.resolve4(KNOWN_NAME).then(
      () => true,
      () => false,
    )
  }
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : 'EUNKNOWN'
}

function askServers(servers: readonly string[]): AskNames {
  return () => {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
    if (servers.length > 0) resolver.setServers(servers)
    return resolver
  }
}
