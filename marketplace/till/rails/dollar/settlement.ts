import type { Clock } from '../../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { LruMap } from '../../../../consensus/primitives/lru.ts'
import type { DollarClaim, DollarClaimStore, DollarIn } from './claim.ts'
import { type AuthorizationState, EXPIRED_UNSETTLED, reasonInShort, type StableLedger } from './facilitator.ts'
import type { FacilitatorPool } from './facilitators.ts'
import { facilitatorRequest, type Seller } from './requirements.ts'
import { owed, settled, unpaid, unpaidForGood } from './transitions.ts'

/** What a {@link Settlement} works with. */
export interface SettlementDependencies {
  readonly store: DollarClaimStore
  readonly facilitators: FacilitatorPool
  /** The token's chain; null without a node to ask. */
  readonly ledger: StableLedger | null
  readonly seller: Seller
  readonly clock: Clock
}

/** How a settlement is tried. */
export interface Attempt {
  /** URL of the facilitator to ask first; null for any. */
  readonly first: string | null
  /** Whether no facilitator can have settled the claim before. Only then does a refusal end it. */
  readonly isFirst: boolean
  /** Set if a facilitator has refused to settle the claim before, and the payer offers the payment again. */
  readonly isRepeat?: boolean
  /** The client that sent the payment, and its network, if they are still known. */
  readonly client?: string
  readonly network?: string
}

/** The next state of a claim, or `open` while that is not known. */
export type SettlementStep = DollarIn<'settled' | 'unpaid' | 'owed'> | 'open'

/** `gone`: no money can come of an unpaid claim, so that its record can be deleted. */
export type WatchStep = SettlementStep | 'gone'

/** Seconds after an authorization runs out for which a block that used it may still appear. */
const LATE_SECONDS = 60
/** Uses of the authorization are looked for from this long before the claim. */
const BEFORE_SECONDS = 600
/** Refusals that leave open whether the money moved: a repeat after a lost answer gets these. */
const USED_REASON = /nonce|already|(^|[^a-z])used|duplicate|pending/i

/** If a facilitator calls an authorization used, the chain must show it unused for this long, in the chain's time. */
const DOUBT_SECONDS = 20
const DOUBTED_MAX = 10_000
/** Asks for the time of the newest block, whatever it is. */
const ANY_TIME = 0

/** A facilitator called an authorization used. If the chain shows it unused after `untilSeconds`, the claim ends unpaid, for `reason`. */
interface Doubt {
  readonly reason: string
  readonly untilSeconds: number
}

/** Settles payments and finds out whether their money moved. It writes no claims. */
export class Settlement {
  readonly #deps: SettlementDependencies
  /** By claim id. An open claim without a doubt stays open until it is settled or its authorization has run out. */
  readonly #doubts = new LruMap<string, Doubt>(DOUBTED_MAX)

  constructor(dependencies: SettlementDependencies) {
    this.#deps = dependencies
  }

  async attempt(claim: DollarIn<'settling'>, { first, isFirst, ...asker }: Attempt): Promise<SettlementStep> {
    const isOver = this.#isOver(claim)
    // A doubt holds for one first attempt and its repeats.
    if (isFirst) this.#doubts.delete(claim.id)
    const doubt = this.#doubts.get(claim.id)
    const untilSeconds = isOver ? claim.validBefore : doubt?.untilSeconds
    // No facilitator can have settled the claim before a first attempt, so then only an authorization that has run out is looked up.
    const seen = isFirst && !isOver ? null : await this.#look(claim, untilSeconds)
    if (seen?.is === 'transferred') return this.#settled(claim, seen.transaction, null)
    if (seen?.is === 'cancelled') return this.#unpaid(claim, refused('authorization_used_elsewhere'), true)
    if (isOver) return this.#unlessUnknown(seen, this.#unpaid(claim, EXPIRED, true))
    if (doubt !== undefined && seen?.is === 'unused') return this.#unpaid(claim, refused(doubt.reason), false)
    // Without its result the call cannot be answered, so no money is taken.
    if (claim.result === null) return this.#unpaid(claim, gone(claim), false)
    const { facilitators, seller } = this.#deps
    const request = facilitatorRequest(seller, claim)
    const { verdict, by } = await facilitators.settle(request, first, {
      isRepeat: !isFirst,
      isPatient: isFirst,
      ...asker,
    })
    if (verdict.is === 'good') return this.#settled(claim, verdict.transaction as string, by)
    // This attempt may have moved the money, so an earlier refusal proves nothing.
    if (verdict.is === 'unknown') this.#doubts.delete(claim.id)
    if (verdict.is !== 'refused' || !isFirst) return 'open'
    return this.#refused(claim, verdict.reason)
  }

  /** Milliseconds for which a use of the claim's authorization can still appear on the chain. */
  leftMs({ validBefore }: DollarClaim): number {
    return Math.max(0, (validBefore + LATE_SECONDS) * 1_000 + 1 - this.#now())
  }

  /** Whether the authorization of an unpaid claim was used after all; `open` while it still can be. */
  async watch(claim: DollarIn<'unpaid'>): Promise<WatchStep> {
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

  /** A refused first attempt charged nothing, unless another party has used the authorization. */
  async #refused(claim: DollarIn<'settling'>, reason: string): Promise<SettlementStep> {
    const isUsed = USED_REASON.test(reason)
    const seen = await this.#look(claim, isUsed ? ANY_TIME : undefined)
    if (seen?.is === 'transferred') return this.#settled(claim, seen.transaction, null)
    if (seen?.is === 'cancelled') return this.#unpaid(claim, refused(reason), true)
    if (!isUsed) return this.#unpaid(claim, refused(reason), false)
    // "Used already" may mean a transfer that the chain's node sees only a little later. So the claim stays open for now, and the payer
    // must not sign another authorization.
    if (seen?.is === 'unused') this.#doubt(claim, reason, seen.atSeconds)
    return 'open'
  }

  /** A doubt counts from the later of clock and chain time: with a slow clock alone it would end at once. */
  #doubt({ id }: DollarClaim, reason: string, atSeconds = 0): void {
    const sinceSeconds = Math.max(Math.floor(this.#now() / 1_000), atSeconds)
    this.#doubts.set(id, { reason, untilSeconds: sinceSeconds + DOUBT_SECONDS })
  }

  /** `step`, unless the chain does not answer: then it is asked again for a while, also after the authorization has run out. */
  #unlessUnknown(seen: AuthorizationState | null, step: DollarIn<'unpaid'>): SettlementStep {
    const graceMs = (step.validBefore + LATE_SECONDS) * 1_000 + GIVE_UP_MS
    return seen?.is === 'unknown' && this.#now() < graceMs ? 'open' : step
  }

  /** Only a node past `untilSeconds` can show the authorization unused. Null without a node. */
  #look(claim: DollarIn<'settling' | 'unpaid'>, untilSeconds?: number): Promise<AuthorizationState> | null {
    const { ledger } = this.#deps
    const { asset, payer, amount, nonce, claimedAtMs } = claim
    const to = payeeOf(claim)
    const sinceSeconds = Math.floor(claimedAtMs / 1_000) - BEFORE_SECONDS
    const until = untilSeconds === undefined ? {} : { untilSeconds }
    const sought = { asset, from: payer, to, value: BigInt(amount), nonce, sinceSeconds, ...until }
    return ledger?.authorization(sought) ?? null
  }

  #isOver(claim: DollarClaim): boolean {
    return this.leftMs(claim) === 0
  }

  #settled(claim: DollarIn<'settling'>, transaction: string, by: string | null): DollarIn<'settled' | 'owed'> {
    const transfer = { transaction, settledAtMs: this.#now() }
    if (claim.result === null) return owed(this.#unpaid(claim, gone(claim), false), transfer)
    return settled(claim, transfer, by === null ? null : { by, payTo: payeeOf(claim), isMissing: false })
  }

  #unpaid(claim: DollarIn<'settling'>, cause: Fault, over: boolean): DollarIn<'unpaid'> {
    return unpaid(claim, cause, { nowMs: this.#now(), over })
  }

  #now(): number {
    return this.#deps.clock.now()
  }
}

/** How long after the end of an authorization a chain that does not answer is asked again. */
const GIVE_UP_MS = 86_400_000

const EXPIRED = refused(EXPIRED_UNSETTLED)

function refused(reason: string): Fault {
  return fault('stable/refused', { reason: reasonInShort(reason) })
}

/** The result was deleted before the settlement. */
function gone({ serviceId }: DollarClaim): Fault {
  return fault('service/interrupted', { serviceId })
}

/** The address that the authorization pays, in lower case. The operator may have set another one meanwhile. */
function payeeOf({ payload }: DollarIn<'settling' | 'unpaid'>): string {
  const { authorization } = (payload as { readonly payload: { readonly authorization: { readonly to: string } } })
    .payload
  return authorization.to.toLowerCase()
}
