import type { Clock, Timers } from '../../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { ClaimsAway } from '../../claim-store.ts'
import { WorkSlots } from '../../workshop.ts'
import type { DollarClaim, DollarClaimStore, DollarIn } from './claim.ts'
import type { AuthorizationState, StableLedger } from './facilitator.ts'

/** Settlements that facilitators reported, by what the token's chain shows of them. Counted since the process started. */
export interface DollarArrivals {
  readonly seen: number
  /** The chain shows no such transfer: the work was given away. */
  readonly missing: number
  /** Given up: the chain could not tell for two days, or too many others were waited for. */
  readonly unknown: number
  readonly waiting: number
}

/** What {@link Arrivals} works with. */
export interface ArrivalsDependencies {
  readonly store: DollarClaimStore
  readonly ledger: StableLedger
  readonly clock: Clock
  readonly timers: Timers
  /** Called for each settlement that a facilitator reported and the chain does not show. */
  readonly onMissing: (claim: DollarIn<'settled'>) => void
  readonly onFault: (fault: Fault) => void
  readonly onError: (error: unknown) => void
}

/** A claim that counts as settled on a facilitator's word. */
type Reported = DollarIn<'settled'> & { readonly report: NonNullable<DollarIn<'settled'>['report']> }
type Ending = keyof Omit<DollarArrivals, 'waiting'>

/** Facilitators answer once the transfer is in a block. The operator's node may see that block a little later. */
const FIRST_MS = 10_000
const PAUSE_MS_MAX = 300_000
/** Time after an authorization runs out for which a block that used it may still appear. */
const LATE_MS = 60_000
/** How long after a settlement its transfer is looked for. */
const GIVE_UP_MS = 2 * 86_400_000
/** Uses of the authorization are looked for from this long before the settlement. */
const BEFORE_MS = 600_000
/** Maximum settlements whose transfer is waited for, and maximum questions to the chain at once. */
const WAITING_MAX = 10_000
const ASKED_AT_ONCE = 4

/**
 * Checks on the token's chain that the money which facilitators report has come. Otherwise a facilitator that lies, or
 * that trusts a transaction which no block keeps, could make this node give services away unnoticed.
 */
export class Arrivals {
  readonly #deps: ArrivalsDependencies
  readonly #slots = new WorkSlots({ atOnce: ASKED_AT_ONCE })
  readonly #waiting = new Map<string, () => void>()
  readonly #working = new Set<Promise<void>>()
  readonly #ends: Record<Ending, number> = { seen: 0, missing: 0, unknown: 0 }
  #stopped = false

  constructor(dependencies: ArrivalsDependencies) {
    this.#deps = dependencies
  }

  get counts(): DollarArrivals {
    return { ...this.#ends, waiting: this.#waiting.size }
  }

  /** Looks for the transfer of a claim that was settled on a facilitator's word; any other claim is left alone. */
  take(claim: DollarClaim): void {
    if (this.#stopped || !isReported(claim) || this.#waiting.has(claim.id)) return
    if (this.#deps.clock.now() > claim.settledAtMs + GIVE_UP_MS) return
    if (this.#waiting.size < WAITING_MAX) this.#schedule(claim.id, 0)
    else this.#ends.unknown += 1
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const cancel of this.#waiting.values()) cancel()
    this.#waiting.clear()
    await Promise.allSettled(this.#working)
  }

  #schedule(id: string, attempts: number): void {
    if (this.#stopped) return
    const ms = Math.min(PAUSE_MS_MAX, FIRST_MS * 2 ** Math.min(attempts, 10))
    const look = (): void => {
      const work = this.#slots.run(() => this.#look(id, attempts)).catch((error: unknown) => this.#failed(id, error))
      this.#working.add(work)
      void work.finally(() => this.#working.delete(work))
    }
    this.#waiting.set(id, this.#deps.timers.after(ms, look))
  }

  async #look(id: string, attempts: number): Promise<void> {
    const claim = this.#stopped ? undefined : await this.#deps.store.get(id)
    if (claim === undefined || !isReported(claim)) return void this.#waiting.delete(id)
    const nowMs = this.#deps.clock.now()
    const isOver = nowMs > claim.validBefore * 1_000 + LATE_MS
    const seen = await this.#ask(claim, isOver)
    if (this.#stopped) return
    if (seen.is === 'transferred') return this.#end(id, 'seen')
    if (seen.is === 'cancelled') return this.#missing(claim, 'its authorization was used for something else')
    if (seen.is === 'unused' && isOver) return this.#missing(claim, 'its authorization has run out unused')
    if (nowMs <= claim.settledAtMs + GIVE_UP_MS) return this.#schedule(id, attempts + 1)
    this.#deps.onFault(notSeen(claim, seen.is === 'unknown' ? seen.detail : 'its authorization is unused'))
    this.#end(id, 'unknown')
  }

  /** Only a node that has reached an authorization's end can show it unused. */
  #ask(claim: Reported, isOver: boolean): Promise<AuthorizationState> {
    const { asset, payer, amount, nonce, transaction, settledAtMs, report, validBefore } = claim
    const sinceSeconds = Math.floor((settledAtMs - BEFORE_MS) / 1_000)
    const sought = { asset, from: payer, to: report.payTo, value: BigInt(amount), nonce, sinceSeconds, transaction }
    return this.#deps.ledger.authorization(isOver ? { ...sought, untilSeconds: validBefore } : sought)
  }

  async #missing(claim: Reported, reason: string): Promise<void> {
    const { store, onMissing, onFault } = this.#deps
    // The delivery may have been written since the claim was read.
    const current = await store.get(claim.id)
    if (current === undefined || !isReported(current)) return void this.#waiting.delete(claim.id)
    const missing = { ...current, report: { ...current.report, isMissing: true } }
    if (await store.advance('settled', missing)) {
      onMissing(missing)
      onFault(notSeen(claim, reason))
    }
    this.#end(claim.id, 'missing')
  }

  #end(id: string, ending: Ending): void {
    this.#waiting.delete(id)
    this.#ends[ending] += 1
  }

  #failed(id: string, error: unknown): void {
    this.#waiting.delete(id)
    if (error instanceof ClaimsAway) this.#schedule(id, 0)
    else this.#deps.onError(error)
  }
}

function isReported(claim: DollarClaim): claim is Reported {
  // Claims of earlier versions have no report.
  return claim.state === 'settled' && claim.report?.isMissing === false
}

function notSeen({ id, payer, amount, transaction, report }: Reported, reason: string): Fault {
  return fault('stable/not-arrived', { id, facilitator: report.by, amount, payer, transaction, reason })
}
