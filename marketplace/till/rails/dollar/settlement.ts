import type { Clock } from '../../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { LruMap } from '../../../../consensus/primitives/lru.ts'
import type { StableClaim, StableClaimStore, StableIn } from './claim.ts'
import { type AuthorizationState, EXPIRED_UNSETTLED, reasonInShort, type StableLedger } from './facilitator.ts'
import type { FacilitatorPool } from './facilitators.ts'
import { facilitatorRequest, type Seller } from './requirements.ts'
import { owed, settled, unpaid, unpaidForGood } from './transitions.ts'

/** What settling works with. */
export interface SettlementDependencies {
  readonly store: StableClaimStore
  readonly facilitators: FacilitatorPool
  /** The token's chain; null where there is no node to ask. */
  readonly ledger: StableLedger | null
  readonly seller: Seller
  readonly clock: Clock
}

/** How a settlement is tried. */
export interface Attempt {
  /** Whom to ask first. */
  readonly first: string | null
  /** Whether no facilitator can have been asked to settle it before: only then does a clear no end it. */
  readonly isFirst: boolean
  /** Whether a facilitator was asked to settle it before, where that is not clear from `isFirst`. */
  readonly isRepeat?: boolean
  /** The client that sent the payment, and its network, where that is still known. */
  readonly client?: string
  readonly network?: string
}

/** Where a claim goes that was looked at: its next state, or `open` while that is not known. */
export type SettlementStep = StableIn<'settled' | 'unpaid' | 'owed'> | 'open'

/** Where an unpaid claim goes that was looked at; `gone` where nothing of it can matter any more. */
export type WatchStep = SettlementStep | 'gone'

/** After an authorization has run out, how long a block that used it may take to be seen. */
const LATE_SECONDS = 60
/** How long before the claim its authorization can have been used. */
const BEFORE_SECONDS = 600
/** Refusals that do not tell whether we were paid: a facilitator that is asked again after a lost answer says this. */
const USED_REASON = /nonce|already|(^|[^a-z])used|duplicate|pending/i

/** How far the chain has to go on showing an authorization as unused that a facilitator has called used, and of how many it is known. */
const DOUBT_SECONDS = 20
const DOUBTED_MAX = 10_000
/** Asked about, it leaves no block out: the chain tells the time of its newest. */
const ANY_TIME = 0

/** What a facilitator said of an authorization that it called used, and from which time on the chain's word counts against it. */
interface Doubt {
  readonly reason: string
  readonly untilSeconds: number
}

/** Moves money and finds out whether it moved; writes nothing. */
export class Settlement {
  readonly #deps: SettlementDependencies
  /** Doubts by claim id. Without one a claim stays open until its authorization has run out. */
  readonly #doubts = new LruMap<string, Doubt>(DOUBTED_MAX)

  constructor(dependencies: SettlementDependencies) {
    this.#deps = dependencies
  }

  /** Tries to settle a claim, or finds out how it ended. */
  async attempt(claim: StableIn<'settling'>, { first, isFirst, ...asker }: Attempt): Promise<SettlementStep> {
    const isOver = this.#isOver(claim)
    // A doubt holds for an attempt and its repeats, and says nothing of one that begins anew.
    if (isFirst) this.#doubts.delete(claim.id)
    const doubt = this.#doubts.get(claim.id)
    const untilSeconds = isOver ? claim.validBefore : doubt?.untilSeconds
    // Others have seen one that is over, also where this node has never had it settled.
    const seen = isFirst && !isOver ? null : await this.#look(claim, untilSeconds)
    if (seen?.is === 'transferred') return this.#settled(claim, seen.transaction, null)
    if (seen?.is === 'cancelled') return this.#unpaid(claim, refused('authorization_used_elsewhere'), true)
    if (isOver) return this.#unlessUnknown(seen, this.#unpaid(claim, EXPIRED, true))
    if (doubt !== undefined && seen?.is === 'unused') return this.#unpaid(claim, refused(doubt.reason), false)
    // Nothing is taken for what cannot be delivered any more.
    if (claim.result === null) return this.#unpaid(claim, gone(claim), false)
    const { facilitators, seller } = this.#deps
    const request = facilitatorRequest(seller, claim)
    const { verdict, by } = await facilitators.settle(request, first, {
      isRepeat: !isFirst,
      isPatient: isFirst,
      ...asker,
    })
    if (verdict.is === 'good') return this.#settled(claim, verdict.transaction as string, by)
    // It may have been carried out by now.
    if (verdict.is === 'unknown') this.#doubts.delete(claim.id)
    if (verdict.is !== 'refused' || !isFirst) return 'open'
    return this.#refused(claim, verdict.reason)
  }

  /** How long the authorization of a claim can still be seen to be used, in milliseconds; 0 once it cannot. */
  leftMs({ validBefore }: StableClaim): number {
    return Math.max(0, (validBefore + LATE_SECONDS) * 1_000 + 1 - this.#now())
  }

  /**
   * Looks whether the authorization of an unpaid claim was used after all; `open` while it still can be. One that was never sent to be
   * settled and has run out unused is gone: it is refused wherever it comes from, and no money can come of it. Of what is not known a
   * record stays.
   */
  async watch(claim: StableIn<'unpaid'>): Promise<WatchStep> {
    const isOver = this.#isOver(claim)
    const seen = await this.#look(claim, isOver ? claim.validBefore : undefined)
    if (seen?.is === 'transferred') {
      const transfer = { transaction: seen.transaction, settledAtMs: this.#now() }
      return 'result' in claim && claim.result !== null ? settled(claim, transfer, null) : owed(claim, transfer)
    }
    const step = isOver ? this.#unlessUnknown(seen, unpaidForGood(claim)) : 'open'
    if (step !== 'open' && claim.unsent === true && (seen === null || seen.is === 'unused')) return 'gone'
    return seen?.is === 'cancelled' ? unpaidForGood(claim) : step
  }

  /** A clear no to the first attempt: nothing was charged, unless another party has used the authorization. */
  async #refused(claim: StableIn<'settling'>, reason: string): Promise<SettlementStep> {
    const isUsed = USED_REASON.test(reason)
    const seen = await this.#look(claim, isUsed ? ANY_TIME : undefined)
    if (seen?.is === 'transferred') return this.#settled(claim, seen.transaction, null)
    if (seen?.is === 'cancelled') return this.#unpaid(claim, refused(reason), true)
    if (!isUsed) return this.#unpaid(claim, refused(reason), false)
    // "Used already" may be a payment, which our node of the chain hears of a little later: never a reason to have the payer sign another.
    // How far a chain has come that does not answer is not known: then the claim stays open.
    if (seen?.is === 'unused') this.#doubt(claim, reason, seen.atSeconds)
    return 'open'
  }

  /** Counted from the chain's own time: a clock of ours that is behind would let the chain have shown enough at once. */
  #doubt({ id }: StableClaim, reason: string, atSeconds = 0): void {
    const sinceSeconds = Math.max(Math.floor(this.#now() / 1_000), atSeconds)
    this.#doubts.set(id, { reason, untilSeconds: sinceSeconds + DOUBT_SECONDS })
  }

  /** What is not known at the end is looked at again, for a while. */
  #unlessUnknown(seen: AuthorizationState | null, step: StableIn<'unpaid'>): SettlementStep {
    const graceMs = (step.validBefore + LATE_SECONDS) * 1_000 + GIVE_UP_MS
    return seen?.is === 'unknown' && this.#now() < graceMs ? 'open' : step
  }

  /** How the chain shows an authorization. Where that ends something, it is unused only for a node that has come so far: another may stand still. */
  #look(claim: StableIn<'settling' | 'unpaid'>, untilSeconds?: number): Promise<AuthorizationState> | null {
    const { ledger } = this.#deps
    const { asset, payer, amount, nonce, claimedAtMs } = claim
    const to = payeeOf(claim)
    const sinceSeconds = Math.floor(claimedAtMs / 1_000) - BEFORE_SECONDS
    const until = untilSeconds === undefined ? {} : { untilSeconds }
    const sought = { asset, from: payer, to, value: BigInt(amount), nonce, sinceSeconds, ...until }
    return ledger?.authorization(sought) ?? null
  }

  #isOver(claim: StableClaim): boolean {
    return this.leftMs(claim) === 0
  }

  #settled(claim: StableIn<'settling'>, transaction: string, by: string | null): StableIn<'settled' | 'owed'> {
    const transfer = { transaction, settledAtMs: this.#now() }
    if (claim.result === null) return owed(this.#unpaid(claim, gone(claim), false), transfer)
    return settled(claim, transfer, by === null ? null : { by, payTo: payeeOf(claim), isMissing: false })
  }

  #unpaid(claim: StableIn<'settling'>, cause: Fault, over: boolean): StableIn<'unpaid'> {
    return unpaid(claim, cause, { nowMs: this.#now(), over })
  }

  #now(): number {
    return this.#deps.clock.now()
  }
}

/** How long a chain that cannot be asked is tried after an authorization has run out. */
const GIVE_UP_MS = 86_400_000

const EXPIRED = refused(EXPIRED_UNSETTLED)

function refused(reason: string): Fault {
  return fault('stable/refused', { reason: reasonInShort(reason) })
}

/** A settlement can take longer than its result is kept. */
function gone({ serviceId }: StableClaim): Fault {
  return fault('service/interrupted', { serviceId })
}

/** Whom the authorization pays, in lower case: the operator may have named another address since. */
function payeeOf({ payload }: StableIn<'settling' | 'unpaid'>): string {
  const { authorization } = (payload as { readonly payload: { readonly authorization: { readonly to: string } } })
    .payload
  return authorization.to.toLowerCase()
}
