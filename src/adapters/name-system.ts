import type { MxRecord } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { Timers } from '../../consensus/chain/ports.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { notNow, type Readiness } from '../../marketplace/ports/readiness.ts'
import { systemTimers } from '../daemon/runtime.ts'
import type { Checkable, ProviderCheck, ProviderFacts } from './providers/provider.ts'

/** What is asked of name servers; a part of the resolver of Node, whose errors it throws. */
export interface NameQuestions {
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
  resolveMx(name: string): Promise<MxRecord[]>
  resolveNs(name: string): Promise<string[]>
  /** Ends all questions under way. */
  cancel(): void
}

/** Begins to ask name servers: one for each question, so that each can be ended by itself. */
export type AskNames = () => NameQuestions

/** Records of a name. A name that does not exist has none, and so may one that exists. */
export interface NameRecords<T> {
  readonly exists: boolean
  readonly records: readonly T[]
}

/** What the name system is made from. */
export interface NameSystemDependencies {
  readonly timers?: Timers
  readonly ask?: AskNames
}

const NAMED = { what: 'names', name: 'dns' }
const TRY_MS = 1_500
const TRIES = 2
/** No question takes longer, however many servers are tried. */
const QUESTION_MS_MAX = 5_000
const CHECK_MS = { ill: 30_000, well: 300_000 }
const NOT_ASKED = notNow('the name system has not been asked yet')
/** Codes of the resolver for what it could not ask at all. */
/** Codes of servers that are there and do not answer that question: routers at home often know nothing of the root. */
const REFUSED: ReadonlySet<string> = new Set(['EREFUSED', 'ENOTIMP', 'ESERVFAIL', 'EFORMERR', 'EBADRESP'])
/** A name that always has an address (RFC 2606). */
const KNOWN_NAME = 'example.com'
const SILENT: ReadonlySet<string> = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ENOTINITIALIZED', 'ENONAME', 'ENOMEM'])

/**
 * The name system as the configured servers tell it. It asks for the root now and then: a machine without a network has a name
 * system that does not answer, and what needs it is then openly unavailable.
 */
export class NameSystem implements Checkable {
  readonly #ask: AskNames
  readonly #timers: Timers
  #readiness: Readiness = NOT_ASKED
  #checking: Promise<void> | null = null
  #cancelCheck: (() => void) | null = null
  readonly #end = new AbortController()

  /** Servers are addresses with or without a port; none: those of the system. */
  constructor(
    servers: readonly string[],
    { timers = systemTimers, ask = askServers(servers) }: NameSystemDependencies = {},
  ) {
    this.#ask = ask
    this.#timers = timers
  }

  /** Whether names can be looked up, as of the last look. */
  readonly readiness = (): Readiness => this.#readiness

  /** Looks for the first time, and from then on now and then. */
  start(): void {
    void this.check()
  }

  /** Ends the looks, also one that is under way: servers that are silent would keep the process for a quarter of a minute. */
  stop(): void {
    this.#end.abort()
    this.#cancelCheck?.()
  }

  /** Looks now whether the name system answers at all: a look that is under way is joined. Never fails. */
  check(): Promise<void> {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = null
    })
    return this.#checking
  }

  /** How it stands, for operators. */
  get facts(): readonly ProviderFacts[] {
    const trouble = this.#readiness.available ? null : this.#readiness.reason
    return [{ ...NAMED, usable: trouble === null, trouble }]
  }

  /** Looks now, for operators. */
  async checkAll(): Promise<readonly ProviderCheck[]> {
    const startedMs = performance.now()
    await this.check()
    const ms = Math.round(performance.now() - startedMs)
    const readiness = this.#readiness
    return [{ ...NAMED, ok: readiness.available, detail: readiness.available ? 'it answers' : readiness.reason, ms }]
  }

  /** Addresses of a host, version 4 first. Faults: `web/unreachable` (there are none), `web/timeout`. */
  async lookUp(host: string, signal: AbortSignal): Promise<Result<readonly string[]>> {
    const found = await this.addresses(host, signal)
    if (!found.ok || found.value.records.length > 0) return found.ok ? ok(found.value.records) : found
    const reason = found.value.exists ? 'its name has no address' : 'there is no such name'
    return fail(fault('web/unreachable', { host, reason }))
  }

  /** Addresses of a name, version 4 first; that there are none is an answer. Faults: `web/unreachable`, `web/timeout`. */
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

  /** Mail exchangers of a domain, in no order. Faults: `web/unreachable`, `web/timeout`. */
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
      // Some forwarders know no name servers but answer; one that denies the root is cut off from all names.
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
