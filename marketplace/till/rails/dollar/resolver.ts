import type { Timers } from '../../../../consensus/chain/ports.ts'
import { ClaimsAway } from '../../claim-store.ts'
import { WorkSlots } from '../../workshop.ts'
import type { StableClaimStore, StableIn } from './claim.ts'
import type { FacilitatorPool } from './facilitators.ts'
import type { Settlement, WatchStep } from './settlement.ts'

/** What a resolver works with. */
export interface ResolverDependencies {
  readonly store: StableClaimStore
  readonly settlement: Settlement
  readonly facilitators: FacilitatorPool
  readonly timers: Timers
  /** Hears of each claim that has come to another state. */
  readonly onStep: (claim: StableIn<'settled' | 'unpaid' | 'owed'>) => void
  /** Hears of errors that only a failing disk can cause. */
  readonly onError: (error: unknown) => void
}

const FIRST_MS = 500
/** Longest time between two looks at a settlement: while its authorization holds, and when it has run out. */
const ASK_MS_MAX = 60_000
const PAUSE_MS_MAX = 15_000
/**
 * An unpaid authorization is looked at more and more rarely: it is hardly ever used after all. One that was never sent to be settled
 * is left alone for hours in the end, until it has run out: failing calls are free, and must not have the chain asked again and again.
 */
const WATCH_MS = 20_000
const WATCH_MS_MAX = 300_000
/** Claims that are looked after; beyond, unpaid ones wait for the next start, first those that were never sent to be settled. */
const OPEN_MAX = 10_000

/** A claim that is looked after. */
interface Case {
  /** The payer, while it is not known whether it has paid; null once it is known that it has not. */
  unknownOf: string | null
  attempts: number
  /** Facilitator that was asked to settle it last. */
  asked: string | null
  cancel: () => void
}

/** Finds out in the background how settlements ended, and what became of authorizations that were not settled. */
export class Resolver {
  readonly #deps: ResolverDependencies
  readonly #cases = new Map<string, Case>()
  /** Those of claims that were never sent to be settled. */
  readonly #unsent = new Set<string>()
  /** Settlements whose outcome is not known, by payer. */
  readonly #unknown = new Map<string, number>()
  readonly #slots = new WorkSlots()
  #working = new Set<Promise<void>>()
  #stopped = false

  constructor(dependencies: ResolverDependencies) {
    this.#deps = dependencies
  }

  /** Settlements whose outcome is not known. */
  get unknownCount(): number {
    let count = 0
    for (const ofPayer of this.#unknown.values()) count += ofPayer
    return count
  }

  /** Those of them that a payer is to pay. */
  unknownOf(payer: string): number {
    return this.#unknown.get(payer) ?? 0
  }

  /** Whether a claim is looked after here. */
  has(id: string): boolean {
    return this.#cases.has(id)
  }

  /** Takes up a claim that was not looked after for a while. */
  takeUp(claim: StableIn<'settling' | 'unpaid'>): void {
    this.#take(claim, { asked: null, ms: FIRST_MS })
  }

  /** Looks after a claim from now on; `asked` is the facilitator that was asked to settle it last. */
  take(claim: StableIn<'settling' | 'unpaid'>, asked: string | null): void {
    this.#take(claim, { asked, ms: claim.state === 'unpaid' ? this.#watchMs(claim, 0) : FIRST_MS })
  }

  /** Looks soon after a claim that a facilitator turned away when it was offered again: it may have been used meanwhile. */
  suspect(claim: StableIn<'unpaid'>): void {
    this.#take(claim, { asked: null, ms: WATCH_MS })
  }

  #take(
    claim: StableIn<'settling' | 'unpaid'>,
    { asked, ms }: { readonly asked: string | null; readonly ms: number },
  ): void {
    if (this.#stopped || this.#cases.has(claim.id)) return
    const isUnsent = claim.state === 'unpaid' && claim.unsent === true
    if (claim.state === 'unpaid' && this.#cases.size >= OPEN_MAX) {
      const [unsent] = this.#unsent
      if (isUnsent || unsent === undefined) return
      this.drop(unsent)
    }
    if (isUnsent) this.#unsent.add(claim.id)
    const unknownOf = claim.state === 'settling' ? claim.payer : null
    const one: Case = { unknownOf, attempts: 0, asked, cancel: () => {} }
    if (unknownOf !== null) this.#unknown.set(unknownOf, this.unknownOf(unknownOf) + 1)
    this.#cases.set(claim.id, one)
    this.#schedule(claim.id, one, ms)
  }

  /** Does not look after a claim any more: a call or another replica does. */
  drop(id: string): void {
    const one = this.#cases.get(id)
    if (one === undefined) return
    one.cancel()
    this.#known(one)
    this.#cases.delete(id)
    this.#unsent.delete(id)
  }

  /** It is known how a settlement ended. */
  #known(one: Case): void {
    if (one.unknownOf === null) return
    const left = this.unknownOf(one.unknownOf) - 1
    if (left > 0) this.#unknown.set(one.unknownOf, left)
    else this.#unknown.delete(one.unknownOf)
    one.unknownOf = null
  }

  /** Leaves everything to others. */
  forget(): void {
    for (const id of [...this.#cases.keys()]) this.drop(id)
  }

  /** Begins nothing more; what is under way can be waited for. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.forget()
    await Promise.allSettled(this.#working)
  }

  #schedule(id: string, one: Case, ms: number): void {
    if (this.#stopped) return
    one.cancel = this.#deps.timers.after(ms, () => {
      const work = this.#slots.run(() => this.#look(id, one)).catch((error: unknown) => this.#failed(id, one, error))
      this.#working.add(work)
      void work.finally(() => this.#working.delete(work))
    })
  }

  async #look(id: string, one: Case): Promise<void> {
    const { store, facilitators, settlement, onStep } = this.#deps
    if (this.#stopped || this.#cases.get(id) !== one) return
    const claim = await store.get(id)
    if (claim?.state !== 'settling' && claim?.state !== 'unpaid') return this.drop(id)
    one.attempts += 1
    one.asked = facilitators.after(one.asked)
    const step =
      claim.state === 'settling'
        ? await settlement.attempt(claim, { first: one.asked, isFirst: false })
        : await settlement.watch(claim)
    // It may have been dropped while the facilitator or the chain was asked.
    if (this.#stopped || this.#cases.get(id) !== one) return
    if (step === 'open') return this.#schedule(id, one, this.#pauseMs(claim, one.attempts))
    this.#known(one)
    if (step === 'gone') {
      await store.release('unpaid', id)
      return this.drop(id)
    }
    // What was unpaid and is so for good was told of before.
    if ((await store.advance(claim.state, step)) && step.state !== claim.state) onStep(step)
    this.#next(step, id, one)
  }

  #next(step: Exclude<WatchStep, 'open' | 'gone'>, id: string, one: Case): void {
    if (step.state === 'unpaid' && !step.over) this.#schedule(id, one, WATCH_MS)
    else this.drop(id)
  }

  #pauseMs(claim: StableIn<'settling' | 'unpaid'>, attempts: number): number {
    if (claim.state === 'unpaid') return this.#watchMs(claim, attempts)
    // A facilitator is asked more and more rarely: a payer can leave any number of settlements open.
    const leftMs = this.#deps.settlement.leftMs(claim)
    const mostMs = leftMs > 0 ? Math.min(leftMs, ASK_MS_MAX) : PAUSE_MS_MAX
    return Math.min(mostMs, FIRST_MS * 2 ** Math.min(attempts, 10))
  }

  #watchMs(claim: StableIn<'unpaid'>, attempts: number): number {
    const leftMs = claim.unsent === true ? this.#deps.settlement.leftMs(claim) : 0
    return Math.min(leftMs > 0 ? leftMs : WATCH_MS_MAX, WATCH_MS * 2 ** Math.min(attempts, 10))
  }

  #failed(id: string, one: Case, error: unknown): void {
    if (!(error instanceof ClaimsAway)) this.#deps.onError(error)
    else if (this.#cases.get(id) === one) this.#schedule(id, one, PAUSE_MS_MAX)
  }
}
