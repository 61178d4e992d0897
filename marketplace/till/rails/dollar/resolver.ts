import type { Timers } from '../../../../consensus/chain/ports.ts'
import { ClaimsAway } from '../../claim-store.ts'
import { WorkSlots } from '../../workshop.ts'
import type { DollarClaimStore, DollarIn } from './claim.ts'
import type { FacilitatorPool } from './facilitators.ts'
import type { Settlement, WatchStep } from './settlement.ts'

/** What a {@link Resolver} works with. */
export interface ResolverDependencies {
  readonly store: DollarClaimStore
  readonly settlement: Settlement
  readonly facilitators: FacilitatorPool
  readonly timers: Timers
  /** Called for each claim that has changed its state. */
  readonly onStep: (claim: DollarIn<'settled' | 'unpaid' | 'owed'>) => void
  readonly onError: (error: unknown) => void
}

const FIRST_MS = 500
/** Longest pause between two tries of a settlement: while its authorization holds, and once it has run out. */
const ASK_MS_MAX = 60_000
const PAUSE_MS_MAX = 15_000
/**
 * Pauses between two looks at an unpaid authorization. They grow, since it is hardly ever used after all. If it was
 * never sent to be settled, they grow up to the authorization's end: failing calls are free, and must not cause many questions.
 */
const WATCH_MS = 20_000
const WATCH_MS_MAX = 300_000
/** While so many claims are watched, further unpaid ones wait for the next start. Settlements of unknown outcome are always watched. */
const OPEN_MAX = 10_000

interface Case {
  /** The payer while the outcome of its settlement is not known, else null. */
  unknownOf: string | null
  attempts: number
  /** URL of the facilitator that was asked last to settle the claim. */
  asked: string | null
  cancel: () => void
}

/** Finds out in the background how settlements ended, and what became of authorizations that were not settled. */
export class Resolver {
  readonly #deps: ResolverDependencies
  readonly #cases = new Map<string, Case>()
  /** Watched claims that were never sent to be settled, by id. */
  readonly #unsent = new Set<string>()
  /** Settlements whose outcome is not known, by payer. */
  readonly #unknown = new Map<string, number>()
  readonly #slots = new WorkSlots()
  #working = new Set<Promise<void>>()
  #stopped = false

  constructor(dependencies: ResolverDependencies) {
    this.#deps = dependencies
  }

  get unknownCount(): number {
    let count = 0
    for (const ofPayer of this.#unknown.values()) count += ofPayer
    return count
  }

  unknownOf(payer: string): number {
    return this.#unknown.get(payer) ?? 0
  }

  has(id: string): boolean {
    return this.#cases.has(id)
  }

  /** Watches a claim that was not watched for a while, and looks at it soon. */
  takeUp(claim: DollarIn<'settling' | 'unpaid'>): void {
    this.#take(claim, { asked: null, ms: FIRST_MS })
  }

  /** Watches a claim; `asked` is the facilitator that was asked last to settle it. */
  take(claim: DollarIn<'settling' | 'unpaid'>, asked: string | null): void {
    this.#take(claim, { asked, ms: claim.state === 'unpaid' ? this.#watchMs(claim, 0) : FIRST_MS })
  }

  /** Watches an unpaid claim whose payment was offered again and turned away: the payment may have been used meanwhile. */
  suspect(claim: DollarIn<'unpaid'>): void {
    this.#take(claim, { asked: null, ms: WATCH_MS })
  }

  #take(
    claim: DollarIn<'settling' | 'unpaid'>,
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

  /** Stops watching a claim: a call or another replica sees to it, or nothing is left to find out. */
  drop(id: string): void {
    const one = this.#cases.get(id)
    if (one === undefined) return
    one.cancel()
    this.#known(one)
    this.#cases.delete(id)
    this.#unsent.delete(id)
  }

  #known(one: Case): void {
    if (one.unknownOf === null) return
    const left = this.unknownOf(one.unknownOf) - 1
    if (left > 0) this.#unknown.set(one.unknownOf, left)
    else this.#unknown.delete(one.unknownOf)
    one.unknownOf = null
  }

  /** Stops watching all claims: other replicas have taken them over. */
  forget(): void {
    for (const id of [...this.#cases.keys()]) this.drop(id)
  }

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
    // The claim may have been dropped while the facilitator or the chain was asked.
    if (this.#stopped || this.#cases.get(id) !== one) return
    if (step === 'open') return this.#schedule(id, one, this.#pauseMs(claim, one.attempts))
    this.#known(one)
    if (step === 'gone') {
      await store.release('unpaid', id)
      return this.drop(id)
    }
    // A claim that stays unpaid was reported before.
    if ((await store.advance(claim.state, step)) && step.state !== claim.state) onStep(step)
    this.#next(step, id, one)
  }

  #next(step: Exclude<WatchStep, 'open' | 'gone'>, id: string, one: Case): void {
    if (step.state === 'unpaid' && !step.over) this.#schedule(id, one, WATCH_MS)
    else this.drop(id)
  }

  #pauseMs(claim: DollarIn<'settling' | 'unpaid'>, attempts: number): number {
    if (claim.state === 'unpaid') return this.#watchMs(claim, attempts)
    // The pauses grow, because a payer can leave any number of settlements open.
    const leftMs = this.#deps.settlement.leftMs(claim)
    const mostMs = leftMs > 0 ? Math.min(leftMs, ASK_MS_MAX) : PAUSE_MS_MAX
    return Math.min(mostMs, FIRST_MS * 2 ** Math.min(attempts, 10))
  }

  #watchMs(claim: DollarIn<'unpaid'>, attempts: number): number {
    const leftMs = claim.unsent === true ? this.#deps.settlement.leftMs(claim) : 0
    return Math.min(leftMs > 0 ? leftMs : WATCH_MS_MAX, WATCH_MS * 2 ** Math.min(attempts, 10))
  }

  #failed(id: string, one: Case, error: unknown): void {
    if (!(error instanceof ClaimsAway)) this.#deps.onError(error)
    else if (this.#cases.get(id) === one) this.#schedule(id, one, PAUSE_MS_MAX)
  }
}
