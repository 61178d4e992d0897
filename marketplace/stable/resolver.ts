import type { Timers } from '../../consensus/chain/ports.ts'
import { ClaimsAway } from '../checkout/claim-store.ts'
import { WorkSlots } from '../checkout/work-slots.ts'
import type { StableClaim, StableClaimStore, StableIn } from './claim.ts'
import type { FacilitatorPool } from './facilitators.ts'
import type { Settlement, SettlementStep } from './settlement.ts'

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
const PAUSE_MS_MAX = 15_000
/** An unpaid authorization is looked at more and more rarely: it is hardly ever used after all. */
const WATCH_MS = 20_000
const WATCH_MS_MAX = 300_000
/** Claims that are looked after; beyond, unpaid ones wait for the next start. */
const OPEN_MAX = 10_000

/** A claim that is looked after. */
interface Case {
  /** Who is to pay, while it is not known whether it did; null once it is known that it did not. */
  unknownOf: string | null
  attempts: number
  /** Whom it was settled with last. */
  asked: string | null
  cancel: () => void
}

/** Finds out in the background how settlements ended, and what became of authorizations that were not settled. */
export class Resolver {
  readonly #deps: ResolverDependencies
  readonly #cases = new Map<string, Case>()
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

  /** Takes up a claim that nobody has looked after for a while. */
  takeUp(claim: StableIn<'settling' | 'unpaid'>): void {
    this.#take(claim, { asked: null, ms: FIRST_MS })
  }

  /** Looks after a claim from now on; `asked` is who was asked to settle it last. */
  take(claim: StableIn<'settling' | 'unpaid'>, asked: string | null): void {
    this.#take(claim, { asked, ms: claim.state === 'unpaid' ? WATCH_MS : FIRST_MS })
  }

  #take(
    claim: StableIn<'settling' | 'unpaid'>,
    { asked, ms }: { readonly asked: string | null; readonly ms: number },
  ): void {
    if (this.#stopped || this.#cases.has(claim.id)) return
    if (claim.state === 'unpaid' && this.#cases.size >= OPEN_MAX) return
    const unknownOf = claim.state === 'settling' ? claim.payer : null
    const one: Case = { unknownOf, attempts: 0, asked, cancel: () => {} }
    if (unknownOf !== null) this.#unknown.set(unknownOf, this.unknownOf(unknownOf) + 1)
    this.#cases.set(claim.id, one)
    this.#schedule(claim.id, one, ms)
  }

  /** Leaves a claim to somebody else. */
  drop(id: string): void {
    const one = this.#cases.get(id)
    if (one === undefined) return
    one.cancel()
    this.#known(one)
    this.#cases.delete(id)
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
    // It may have been taken from here while somebody else was asked.
    if (this.#stopped || this.#cases.get(id) !== one) return
    if (step === 'open') return this.#schedule(id, one, pauseMs(claim, one.attempts))
    this.#known(one)
    // What was unpaid and is so for good was told of before.
    if ((await store.advance(claim.state, step)) && step.state !== claim.state) onStep(step)
    this.#next(step, id, one)
  }

  #next(step: Exclude<SettlementStep, 'open'>, id: string, one: Case): void {
    if (step.state === 'unpaid' && !step.over) this.#schedule(id, one, WATCH_MS)
    else this.drop(id)
  }

  #failed(id: string, one: Case, error: unknown): void {
    if (!(error instanceof ClaimsAway)) this.#deps.onError(error)
    else if (this.#cases.get(id) === one) this.#schedule(id, one, PAUSE_MS_MAX)
  }
}

function pauseMs({ state }: StableClaim, attempts: number): number {
  const times = 2 ** Math.min(attempts, 10)
  return state === 'unpaid' ? Math.min(WATCH_MS_MAX, WATCH_MS * times) : Math.min(PAUSE_MS_MAX, FIRST_MS * times)
}
