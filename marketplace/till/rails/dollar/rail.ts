import type { ServiceId } from '../../../../consensus/primitives/ids.ts'
import type { Result } from '../../../../consensus/primitives/result.ts'
import type { Settled, TillCall } from '../../rail.ts'
import type { StableClaimStore, StableIn, StablePayment } from './claim.ts'
import type { StableTerms } from './terms.ts'

/** A call that is paid with an authorization. */
export interface StableCall extends TillCall {
  readonly payment: StablePayment
  /** Header `Idempotency-Key`, null without. The extension's id counts as one too. */
  readonly idempotencyKey: string | null
}

/** A call whose money has moved. */
export type StableSettled = Settled<StableIn<'settled'>>

/** How a facilitator stands. */
export interface FacilitatorFacts {
  readonly url: string
  readonly healthy: boolean
  /** What was found out last, for everyone. */
  readonly detail: string
  /** What went wrong last, in words of the facilitator, for the operator alone; null while all is well. */
  readonly trouble: string | null
}

/** Settled calls of a service that this node knows of: its own statement, since no chain of ours shows them. */
export interface StableSales {
  readonly calls: number
  /** Units of the asset. */
  readonly amount: bigint
}

/** Settlements that facilitators reported, by what the token's chain says of them; since the process started. */
export interface StableArrivals {
  readonly seen: number
  /** The chain shows no such transfer: the work was given away. */
  readonly missing: number
  /** The chain could not be asked for so long that nobody asks any more, or there were too many at once. */
  readonly unknown: number
  /** Looked for now. */
  readonly waiting: number
}

/** What the rail has come to since the process started, and what it is at. */
export interface StableFigures {
  /** Calls by what they came to: `settled`, `replayed`, `refused`, `failed`, `unsettled`, `unavailable`. */
  readonly outcomes: ReadonlyMap<string, number>
  /** Settlements whose outcome is not known yet. */
  readonly unknown: number
  readonly refundsOwed: number
  /** Null without a node of the token's chain: facilitators are believed. */
  readonly arrivals: StableArrivals | null
}

/** The stablecoin rail as the API sees it. */
export interface StableRail {
  readonly terms: StableTerms
  readonly store: StableClaimStore
  /** Facilitators in the order in which they are tried. */
  readonly facilitators: readonly FacilitatorFacts[]
  /** Whether a facilitator was really asked and takes this scheme on this network, and what it said. */
  readonly verified: { readonly ok: boolean; readonly detail: string }
  /** Why nothing can be sold over this rail at the moment, or null. */
  readonly closedBecause: string | null
  /** What was settled for a service. */
  sales(serviceId: ServiceId): StableSales
  readonly figures: StableFigures
  /**
   * Verifies, works, settles; in this order, and each at most once for a payment. A fault of `settle` has charged nothing, but for
   * `stable/unsettled` (not known yet: the same call again tells), `stable/delivered` and `stable/result-expired`.
   */
  readonly till: {
    settle(call: StableCall): Promise<Result<StableSettled>>
    /** Hears that an answer was handed over to the end. */
    delivered(claim: StableIn<'settled'>): Promise<void>
  }
}
