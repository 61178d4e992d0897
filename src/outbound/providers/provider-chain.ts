import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { type Fault, fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { Asked } from '../../../marketplace/outside/providers.ts'
import { notConfigured, notNow, type Readiness } from '../../../marketplace/outside/readiness.ts'
import type { Sourced } from '../../../marketplace/outside/sourced.ts'
import { UpstreamBreaker } from '../../../marketplace/outside/upstream-breaker.ts'
import type { Checkable, Provider, ProviderCheck, ProviderFacts } from './provider.ts'

/** What a chain of providers is made of. */
export interface ProviderChainParts<Query, Value> {
  /** What they are asked for, in words: "exchange rates". */
  readonly what: string
  /** Settings that configure them. */
  readonly requires: readonly string[]
  /** In the order in which they are asked. */
  readonly providers: readonly Provider<Query, Value>[]
  /** Queries with one key have one answer. */
  readonly keyOf: (query: Query) => string
  /** How long an answer is as good as a new one. */
  readonly freshMs: number
  /** How old an answer may be that is given, marked, while nobody can be asked. */
  readonly staleMs: number
  readonly clock: Clock
  readonly timers: Timers
}

/** Together with a service's own work below the six seconds of a call. */
const BUDGET_MS = 5_500
/** A provider that takes longer leaves no time for the next. */
const ONE_MS = 3_500
const RETRY_MS_MAX = 250
const CHECK_MS = 5_000
const KEPT_MAX = 1_000
const WELL_MS = 300_000
const ILL_MS = 30_000

interface Kept<Value> {
  readonly value: Value
  readonly provider: Provider<never, Value>
  readonly atMs: number
}

interface Member<Query, Value> {
  readonly provider: Provider<Query, Value>
  readonly breaker: UpstreamBreaker
  /** What went wrong last; null while all is well. */
  trouble: string | null
  /** Whether it ever answered, or its check went well. */
  known: boolean
}

/**
 * Several providers of one thing as one: asked in order, equal questions at the same time asked once, answers kept, and given
 * again within bounds while nobody can be asked.
 */
export class ProviderChain<Query, Value> implements Asked<Query, Value>, Checkable {
  readonly #parts: ProviderChainParts<Query, Value>
  readonly #members: readonly Member<Query, Value>[]
  readonly #kept = new LruMap<string, Kept<Value>>(KEPT_MAX)
  readonly #asking = new Map<string, Promise<Result<Sourced<Value>>>>()
  #cancel: (() => void) | null = null
  #stopped = false

  constructor(parts: ProviderChainParts<Query, Value>) {
    this.#parts = parts
    this.#members = parts.providers.map((provider) => ({
      provider,
      breaker: new UpstreamBreaker(),
      trouble: null,
      known: false,
    }))
  }

  readonly readiness = (): Readiness => {
    const { what, requires } = this.#parts
    if (this.#members.length === 0) return notConfigured(`a provider of ${what}`, ...requires)
    const usable = this.#members.find((member) => this.#isUsable(member))
    if (usable !== undefined) return { available: true, engine: usable.provider.name }
    const troubles = this.#members.map(({ provider, trouble }) => `${provider.name}: ${trouble ?? 'not checked yet'}`)
    return notNow(`no provider of ${what} can be asked now (${troubles.join('; ')})`)
  }

  readonly ask = async (query: Query, signal: AbortSignal): Promise<Result<Sourced<Value>>> => {
    const key = this.#parts.keyOf(query)
    const kept = this.#kept.get(key)
    if (kept !== undefined && this.#ageOf(kept) < this.#parts.freshMs) return ok(this.#sourced(kept, false))
    let asking = this.#asking.get(key)
    if (asking === undefined) {
      asking = this.#askAnew(key, query).finally(() => this.#asking.delete(key))
      this.#asking.set(key, asking)
    }
    // Whoever gives up leaves the question to those who still wait.
    return Promise.race([asking, aborted<Sourced<Value>>(signal, this.#parts.what)])
  }

  /** The answer to a query that is kept, if not too old to be given; nobody is asked. */
  latest(query: Query): Sourced<Value> | null {
    const kept = this.#kept.get(this.#parts.keyOf(query))
    if (kept === undefined || this.#ageOf(kept) > this.#parts.staleMs) return null
    return this.#sourced(kept, this.#ageOf(kept) >= this.#parts.freshMs)
  }

  get facts(): readonly ProviderFacts[] {
    const { what } = this.#parts
    return this.#members.map((member) => ({
      what,
      name: member.provider.name,
      usable: this.#isUsable(member),
      trouble: member.trouble,
    }))
  }

  async checkAll(): Promise<readonly ProviderCheck[]> {
    return Promise.all(this.#members.map((member) => this.#check(member)))
  }

  /** Checks all of them now and from then on; resolves after the first round. */
  async start(): Promise<void> {
    if (this.#members.length === 0) return
    await this.checkAll()
    this.#schedule()
  }

  /** Checks no more. */
  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  async #askAnew(key: string, query: Query): Promise<Result<Sourced<Value>>> {
    const budget = AbortSignal.timeout(BUDGET_MS)
    let last: Fault = fault('provider/none', { what: this.#parts.what, reason: 'none is usable now' })
    for (const member of this.#members) {
      if (budget.aborted) break
      if (!member.breaker.admit(this.#now())) continue
      const answer = await this.#askMember(member, query, budget)
      if (answer.ok) {
        const kept = { value: answer.value, provider: member.provider, atMs: this.#now() }
        this.#kept.set(key, kept)
        return ok(this.#sourced(kept, false))
      }
      last = answer.fault
      if (isAnswer(last)) return answer
    }
    const kept = this.#kept.get(key)
    const isGoodEnough = kept !== undefined && this.#ageOf(kept) <= this.#parts.staleMs
    return isGoodEnough ? ok(this.#sourced(kept, true)) : fail(last)
  }

  /** Asks one of them, and once more after a moment where it was not reached. */
  async #askMember(member: Member<Query, Value>, query: Query, budget: AbortSignal): Promise<Result<Value>> {
    const { provider } = member
    const once = (): Promise<Result<Value>> =>
      guarded(provider.name, ONE_MS, budget, (signal) => provider.ask(query, signal))
    let answer = await once()
    if (!answer.ok && answer.fault.code === 'provider/unreachable' && !budget.aborted) {
      await this.#pause(Math.random() * RETRY_MS_MAX)
      answer = await once()
    }
    this.#note(member, answer.ok || isAnswer(answer.fault) ? null : answer.fault)
    return answer
  }

  #note(member: Member<Query, Value>, trouble: Fault | null): void {
    member.known = member.known || trouble === null
    member.trouble = trouble === null ? null : faultMessage(trouble)
    if (trouble === null) member.breaker.succeeded()
    else member.breaker.failed(this.#now(), Number(trouble.detail.retryAfterMs ?? 0))
  }

  async #check(member: Member<Query, Value>): Promise<ProviderCheck> {
    const { what } = this.#parts
    const { name } = member.provider
    const beganMs = this.#now()
    const checked = await guarded(name, CHECK_MS, null, (signal) => member.provider.check(signal))
    const ms = this.#now() - beganMs
    // What a check says of a provider that calls failed with is not believed more than the calls.
    if (checked.ok) {
      member.known = true
      if (!member.breaker.isOpen(this.#now())) member.trouble = null
      return { what, name, ok: true, detail: 'answers', ms }
    }
    if (!member.known || member.trouble === null) this.#note(member, checked.fault)
    return { what, name, ok: false, detail: faultMessage(checked.fault), ms }
  }

  #schedule(): void {
    if (this.#stopped) return
    const isWell = this.#members.every((member) => this.#isUsable(member))
    this.#cancel = this.#parts.timers.after(isWell ? WELL_MS : ILL_MS, () => {
      void this.checkAll().then(() => this.#schedule())
    })
  }

  #isUsable({ known, breaker }: Member<Query, Value>): boolean {
    return known && !breaker.isOpen(this.#now())
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.timers.after(ms, resolve)
    })
  }

  #sourced({ value, provider, atMs }: Kept<Value>, stale: boolean): Sourced<Value> {
    const { name, url, attribution } = provider
    const words = { ...(url !== undefined && { url }), ...(attribution !== undefined && { attribution }) }
    return { value, source: { name, fetchedAt: new Date(atMs).toISOString(), stale, ...words } }
  }

  #ageOf({ atMs }: Kept<Value>): number {
    return this.#now() - atMs
  }

  #now(): number {
    return this.#parts.clock.now()
  }
}

/** Faults that say something about the question, not about whoever was asked. */
function isAnswer({ code }: Fault): boolean {
  return code === 'provider/not-found' || code === 'web/refused'
}

/** Runs a call under a limit of its own. An adapter that throws has met an answer that it was not written for. */
async function guarded<T>(
  provider: string,
  limitMs: number,
  budget: AbortSignal | null,
  call: (signal: AbortSignal) => Promise<Result<T>>,
): Promise<Result<T>> {
  const limit = AbortSignal.timeout(limitMs)
  const signal = budget === null ? limit : AbortSignal.any([limit, budget])
  const late = fault('provider/timeout', { provider })
  try {
    const answer = await Promise.race([call(signal), whenAborted(signal)])
    return answer === 'aborted' ? fail(late) : answer
  } catch (error) {
    if (signal.aborted) return fail(late)
    const reason = error instanceof Error ? error.message : 'unknown cause'
    return fail(fault('provider/answer', { provider, reason: reason.slice(0, 200) }))
  }
}

function whenAborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })
}

async function aborted<T>(signal: AbortSignal, what: string): Promise<Result<T>> {
  await whenAborted(signal)
  return fail(fault('provider/timeout', { provider: `the provider of ${what}` }))
}
