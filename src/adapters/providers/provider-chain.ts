import { serialize } from 'node:v8'
import { LRUCache } from 'lru-cache'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { type Fault, fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { freeOf } from '../../../marketplace/ports/free-places.ts'
import type { Asked } from '../../../marketplace/ports/providers.ts'
import { notConfigured, notNow, type Readiness, troubleOf } from '../../../marketplace/ports/readiness.ts'
import type { Sourced } from '../../../marketplace/ports/sourced.ts'
import { checkedIll, withoutWords } from '../../../marketplace/ports/trouble.ts'
import { causeOf, UpstreamBreakers } from '../../../marketplace/ports/upstream-breaker.ts'
import { Deadline, unlessAborted } from './deadline.ts'
import type { Checkable, Provider, ProviderCheck, ProviderFacts } from './provider.ts'

/** What a chain of providers needs. */
export interface ProviderChainDependencies<Query, Value> {
  /** What the providers give, in words: "exchange rates". */
  readonly what: string
  /** Settings that configure the providers. */
  readonly requires: readonly string[]
  readonly providers: readonly Provider<Query, Value>[]
  /**
   * Whether the providers can be asked now, if their own upstreams know that. It replaces the breakers of the chain.
   */
  readonly readiness?: (isFree: boolean) => Readiness
  /** Queries with the same key share an answer. */
  readonly keyOf: (query: Query) => string
  /** May depend on the time and value of the answer. */
  readonly freshMs: number | ((atMs: number, value: Value) => number)
  /** Maximum age of an answer that is served as stale while no provider answers. */
  readonly staleMs: number
  readonly keptMax?: number
  readonly patience?: { readonly budgetMs: number; readonly oneMs: number }
  readonly clock: Clock
  readonly timers: Timers
}

const KEYS_SETTING = 'providers.keys-file'
/**
 * With a service's own work, the budget stays below the six seconds that most services have. A provider that uses all
 * of `oneMs` leaves time for one more.
 */
const PATIENCE = { budgetMs: 5_500, oneMs: 3_500 }
/** A failure within less time says nothing about a provider, so it is not asked. */
const LEAST_MS = 1_000
const RETRY_MS_MAX = 250
const CHECK_MS = 5_000
/** Maximum answers that a chain keeps. */
export const KEPT_MAX = 1_000
/** Maximum memory of the kept answers of a chain. */
export const KEPT_BYTES_MAX = 16 * 1_048_576
/** Maximum different queries at the same time. */
export const ASKING_MAX = 256
/**
 * How long "not found" is repeated from memory. Failed calls are free for callers, and must not use up a provider's
 * quota.
 */
const MISSING_MS = 60_000
const WELL_MS = 300_000
const ILL_MS = 30_000

interface Kept<Value> {
  readonly value: Value
  readonly provider: Provider<never, Value>
  readonly atMs: number
}

interface Missing {
  readonly fault: Fault
  readonly atMs: number
}

interface Question<Query> {
  readonly query: Query
  readonly isFree: boolean
}

interface Member<Query, Value> {
  readonly provider: Provider<Query, Value>
  readonly breakers: UpstreamBreakers
  trouble: Fault | null
  known: boolean
}

/**
 * Several providers of one thing, asked in order. Equal queries at the same time are asked once. Answers are kept, and
 * served as stale within bounds while no provider answers.
 */
export class ProviderChain<Query, Value> implements Asked<Query, Value>, Checkable {
  readonly #parts: ProviderChainDependencies<Query, Value>
  readonly #members: readonly Member<Query, Value>[]
  readonly #kept: LRUCache<string, Kept<Value>>
  readonly #missing = new LRUCache<string, Missing>({ max: KEPT_MAX })
  readonly #asking = new Map<string, Promise<Result<Sourced<Value>>>>()
  readonly #end = new AbortController()
  #cancel: (() => void) | null = null

  constructor(parts: ProviderChainDependencies<Query, Value>) {
    this.#parts = parts
    this.#kept = new LRUCache({
      max: parts.keptMax ?? KEPT_MAX,
      maxSize: KEPT_BYTES_MAX,
      sizeCalculation: ({ value }, key) => key.length + serialize(value).length,
    })
    this.#members = parts.providers.map((provider) => ({
      provider,
      breakers: new UpstreamBreakers(),
      trouble: null,
      known: false,
    }))
  }

  readonly readiness = (): Readiness => {
    const { what, requires } = this.#parts
    if (this.#members.length === 0) return notConfigured(`a provider of ${what}`, ...requires)
    if (this.#parts.readiness !== undefined) return this.#parts.readiness(false)
    const usable = this.#members.find((member) => this.#isUsable(member, false))
    if (usable !== undefined) return { available: true, engine: usable.provider.name }
    const troubles = this.#members.map(({ provider, trouble }) =>
      troubleOf(provider.name, provider.lacks ?? (trouble && faultMessage(withoutWords(trouble)))),
    )
    const reason = `no provider of ${what} can be asked now (${troubles.join('; ')})`
    const isLacking = this.#members.some(({ provider }) => provider.lacks !== undefined)
    return isLacking ? { available: false, reason, requires: [...requires, KEYS_SETTING] } : notNow(reason)
  }

  readonly ask = async (query: Query, signal: AbortSignal, isFree = false): Promise<Result<Sourced<Value>>> => {
    const { what } = this.#parts
    const late = fault('provider/timeout', { provider: `the provider of ${what}` })
    if (signal.aborted) return fail(late)
    const key = this.#parts.keyOf(query)
    const kept = this.#kept.get(key)
    if (kept !== undefined && this.#isFresh(kept)) return ok(this.#sourced(kept, false))
    const missing = this.#missing.get(key)
    const missedMs = missing === undefined ? -1 : this.#now() - missing.atMs
    if (missing !== undefined && missedMs >= 0 && missedMs < MISSING_MS) return fail(missing.fault)
    // A free query may join a paid one. The reverse is not allowed, because free queries are refused earlier.
    const name = askedName(key, isFree)
    let asking = this.#asking.get(askedName(key, false)) ?? this.#asking.get(name)
    if (asking === undefined) {
      const reason = 'too many different questions at once'
      if (this.#asking.size >= (isFree ? freeOf(ASKING_MAX) : ASKING_MAX))
        return fail(fault('provider/none', { what, reason }))
      asking = this.#askAnew(key, query, isFree).finally(() => this.#asking.delete(name))
      this.#asking.set(name, asking)
    }
    // A caller that gives up does not end the query: others may wait for the same answer.
    return (await unlessAborted(asking, signal)) ?? fail(late)
  }

  /** The kept answer to a query, if it is not too old. No provider is asked. */
  latest(query: Query): Sourced<Value> | null {
    const kept = this.#kept.get(this.#parts.keyOf(query))
    return kept !== undefined && this.#isGoodEnough(kept) ? this.#sourced(kept, !this.#isFresh(kept)) : null
  }

  get facts(): readonly ProviderFacts[] {
    const { what } = this.#parts
    return this.#members.map((member) => ({
      what,
      name: member.provider.name,
      usable: this.#isWell(member),
      trouble: member.trouble === null ? null : faultMessage(member.trouble),
    }))
  }

  async checkAll(): Promise<readonly ProviderCheck[]> {
    return Promise.all(this.#members.map((member) => this.#check(member)))
  }

  /** Checks all providers now and regularly afterwards; resolves after the first round. */
  async start(): Promise<void> {
    if (this.#members.length === 0) return
    await this.checkAll()
    this.#schedule()
  }

  stop(): void {
    this.#end.abort()
    this.#cancel?.()
  }

  async #askAnew(key: string, query: Query, isFree: boolean): Promise<Result<Sourced<Value>>> {
    const budget = new Deadline(this.#parts.timers, this.#patience.budgetMs, this.#end.signal)
    try {
      const answer = await this.#askInOrder(key, { query, isFree }, budget.signal)
      if (!answer.ok && answer.fault.code === 'provider/not-found')
        this.#missing.set(key, { fault: answer.fault, atMs: this.#now() })
      return answer
    } finally {
      budget.end()
    }
  }

  async #askInOrder(key: string, question: Question<Query>, budget: AbortSignal): Promise<Result<Sourced<Value>>> {
    let last: Fault = fault('provider/none', { what: this.#parts.what, reason: 'none is usable now' })
    const beganMs = this.#now()
    for (const member of this.#members) {
      if (budget.aborted || this.#now() - beganMs > this.#patience.budgetMs - LEAST_MS) break
      if (!member.breakers.admit(this.#now(), question.isFree)) continue
      const answer = await this.#askMember(member, question, budget)
      if (answer.ok) return ok(this.#sourced(this.#keep(key, member.provider, answer.value), false))
      last = withoutWords(answer.fault)
      if (isAnswer(last)) return fail(last)
    }
    const kept = this.#kept.get(key)
    return kept !== undefined && this.#isGoodEnough(kept) ? ok(this.#sourced(kept, true)) : fail(last)
  }

  #keep(key: string, provider: Provider<Query, Value>, value: Value): Kept<Value> {
    const kept = { value, provider, atMs: this.#now() }
    this.#kept.set(key, kept)
    return kept
  }

  /** Asks an unreachable provider once more after a moment. */
  async #askMember(
    member: Member<Query, Value>,
    { query, isFree }: Question<Query>,
    budget: AbortSignal,
  ): Promise<Result<Value>> {
    const { provider } = member
    const deadline = new Deadline(this.#parts.timers, this.#patience.oneMs, budget)
    const { signal } = deadline
    try {
      let answer = await guarded(provider.name, signal, () => provider.ask(query, signal))
      if (!answer.ok && answer.fault.code === 'provider/unreachable') {
        await this.#pause(Math.random() * RETRY_MS_MAX, signal)
        if (!signal.aborted) answer = await guarded(provider.name, signal, () => provider.ask(query, signal))
      }
      if (this.#end.signal.aborted || isOfQuestion(answer)) member.breakers.abandoned(isFree)
      else this.#note(member, answer.ok || isAnswer(answer.fault) ? null : answer.fault, isFree)
      return answer
    } finally {
      deadline.end()
    }
  }

  #note(member: Member<Query, Value>, trouble: Fault | null, isFree: boolean): void {
    if (trouble !== null) {
      member.trouble = trouble
      if (this.#parts.readiness !== undefined) return
      const askedMs = Number(trouble.detail.retryAfterMs ?? 0)
      member.breakers.failed(this.#now(), { askedMs, isFree, cause: causeOf(trouble) })
      return
    }
    member.known = true
    member.breakers.succeeded()
    if (this.#isWell(member)) member.trouble = null
  }

  async #check(member: Member<Query, Value>): Promise<ProviderCheck> {
    const { what, timers } = this.#parts
    const { provider } = member
    const { name } = provider
    const beganMs = this.#now()
    const deadline = new Deadline(timers, CHECK_MS, this.#end.signal)
    const checked = await guarded(name, deadline.signal, () => provider.check(deadline.signal))
    deadline.end()
    const ms = Math.max(0, this.#now() - beganMs)
    // A paused provider failed at real calls, which cost more than a check. So a check neither ends nor extends the
    // pause.
    const isPausing = member.breakers.isOpen(this.#now(), true)
    if (checked.ok) {
      member.known = true
      if (this.#isWell(member)) member.trouble = null
      return { what, name, ok: true, detail: 'answers', ms }
    }
    // As a free query: a failed check must not block paid work.
    if (!isPausing && !this.#end.signal.aborted) this.#note(member, checked.fault, true)
    return { what, name, ms, ...checkedIll(checked.fault) }
  }

  #schedule(): void {
    if (this.#end.signal.aborted) return
    const isWell = this.#members.every((member) => this.#isWell(member))
    this.#cancel = this.#parts.timers.after(isWell ? WELL_MS : ILL_MS, () => {
      void this.checkAll().then(() => this.#schedule())
    })
  }

  #isUsable({ known, breakers }: Member<Query, Value>, isFree: boolean): boolean {
    return this.#parts.readiness?.(isFree).available ?? (known && !breakers.isOpen(this.#now(), isFree))
  }

  #isWell(member: Member<Query, Value>): boolean {
    return this.#isUsable(member, false) && this.#isUsable(member, true)
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const over = new Deadline(this.#parts.timers, ms, signal)
    await unlessAborted(new Promise<never>(() => {}), over.signal)
    over.end()
  }

  #sourced({ value, provider, atMs }: Kept<Value>, stale: boolean): Sourced<Value> {
    const { name, url, attribution } = provider
    const words = { ...(url !== undefined && { url }), ...(attribution !== undefined && { attribution }) }
    return { value, source: { name, fetchedAt: new Date(atMs).toISOString(), stale, ...words } }
  }

  #isFresh({ atMs, value }: Kept<Value>): boolean {
    const { freshMs } = this.#parts
    const ageMs = this.#now() - atMs
    return ageMs >= 0 && ageMs < (typeof freshMs === 'number' ? freshMs : freshMs(atMs, value))
  }

  /** An answer from the future (the clock was set back) is of unknown age. */
  #isGoodEnough({ atMs }: Kept<Value>): boolean {
    const ageMs = this.#now() - atMs
    return ageMs >= 0 && ageMs <= this.#parts.staleMs
  }

  get #patience(): { readonly budgetMs: number; readonly oneMs: number } {
    return this.#parts.patience ?? PATIENCE
  }

  #now(): number {
    return this.#parts.clock.now()
  }
}

function askedName(key: string, isFree: boolean): string {
  return `${isFree ? 'free' : 'paid'} ${key}`
}

function isAnswer({ code }: Fault): boolean {
  return code === 'provider/not-found' || code === 'web/refused'
}

/** The query may be the cause of the failure, which then says nothing about the provider. */
function isOfQuestion(answer: Result<unknown>): boolean {
  return !answer.ok && answer.fault.detail.ofQuestion === true
}

/** If an adapter throws, the answer was in an unexpected form. */
async function guarded<T>(provider: string, signal: AbortSignal, call: () => Promise<Result<T>>): Promise<Result<T>> {
  const late = fail(fault('provider/timeout', { provider }))
  try {
    return (await unlessAborted(call(), signal)) ?? late
  } catch {
    // The thrown text may quote the answer, which may hold messages for the operator only.
    return signal.aborted ? late : fail(fault('provider/answer', { provider, reason: 'it is not what was expected' }))
  }
}
