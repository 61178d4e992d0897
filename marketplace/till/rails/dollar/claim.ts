import type { FaultDetail } from '../../../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../../../consensus/primitives/fault-table.ts'
import type { Hash, ServiceId } from '../../../../consensus/primitives/ids.ts'
import type { ClaimKind, ClaimStore, Executing } from '../../claim-store.ts'
import type { Settled, TillCall } from '../../rail.ts'

/** An EIP-3009 authorization as it was read strictly; addresses and hex in lower case, numbers as integers. */
export interface Authorization {
  readonly from: string
  readonly to: string
  /** Units of the asset. */
  readonly value: bigint
  /** Seconds since 1970. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 32 bytes of hex behind 0x. */
  readonly nonce: string
  /** Hex behind 0x; 65 bytes for a key's own signature, any length for a contract's. */
  readonly signature: string
}

/** A payment of the stablecoin rail as it was offered. */
export interface StablePayment {
  /** Generation of the payload: a facilitator is asked in the same one. */
  readonly version: 1 | 2
  readonly authorization: Authorization
  /** The offer that the client took, as it echoes it; null in generation 1, which has no echo. */
  readonly accepted: Readonly<Record<string, unknown>> | null
  /** The payment in its generation's shape, for facilitators: built of values that were read, and of nothing else that came. */
  readonly payload: object
  /** Id of the extension `payment-identifier`, null without. */
  readonly paymentIdentifier: string | null
}

/** A call that is paid with an authorization. */
export interface StableCall extends TillCall {
  readonly payment: StablePayment
  /** Header `Idempotency-Key`, null without. The extension's id counts as one too. */
  readonly idempotencyKey: string | null
}

/** A call whose money has moved. */
export type StableSettled = Settled<StableIn<'settled'>>

/** What every claim of the stablecoin rail knows. All members are JSON. */
interface StableBase {
  /** Hash over network, asset, payer and nonce, in lower case: neither spelling nor generation makes it another payment. */
  readonly id: string
  readonly serviceId: ServiceId
  /** Service and request text, as on the native rail: another request under this payment is refused. */
  readonly requestHash: Hash
  /** Hash of the signature's bytes: a repeated call must show the same one. */
  readonly signatureHash: Hash
  /** Hash of payer and of what makes a repeat its own beyond the first delivery: its idempotency key. Null without one. */
  readonly repeatKey: Hash | null
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly nonce: string
  /** Units of the asset, in decimal text. */
  readonly amount: string
  readonly priceUsdMicros: string
  /** Seconds since 1970; after it the authorization cannot be used any more. */
  readonly validBefore: number
  readonly version: 1 | 2
  readonly claimedAtMs: number
}

/** What a settlement or a check with a facilitator needs; both are empty once the authorization can be used no more. */
interface OpenStable extends StableBase {
  readonly request: string
  readonly payload: object
  /** Whether no facilitator was asked yet to settle it; absent where one may have been, and in claims of earlier versions. */
  readonly unsent?: true
  /** How often work for it has failed; absent before the first time. */
  readonly failedRuns?: number
}

/** Work is over and its result is kept: it is delivered once the money has moved. */
interface Worked {
  readonly finishedAtMs: number
  readonly durationMs: number
  readonly resultHash: Hash
  readonly result: string | null
}

/** Over without money, and why, as a fault that the caller is told. */
interface Unpaid {
  readonly state: 'unpaid'
  readonly endedAtMs: number
  readonly reason: FaultCode
  readonly detail: FaultDetail
  /** Whether the authorization has run out unused, or its use can no longer be found out. */
  readonly over: boolean
}

/** A transfer on the other chain. */
export interface StableTransfer {
  readonly transaction: string
  readonly settledAtMs: number
}

/**
 * The facilitator, by its url, whose word a settlement rests on: it named the transaction. `payTo` is the address to be paid, in
 * lower case. `isMissing` once the token's chain has said otherwise.
 */
export interface StableReport {
  readonly by: string
  readonly payTo: string
  readonly isMissing: boolean
}

/** Where a refund stands: owed, sent with an authorization of ours whose outcome is not known yet, or paid. */
export interface StableRefund {
  readonly status: 'owed' | 'sent' | 'paid'
  /** The nonce of our own authorization, so that it is never signed twice; null while owed. */
  readonly nonce: string | null
  readonly validBefore: number | null
  readonly transaction: string | null
  /** The wallet that it was sent from, whose nonce that is; absent while owed. */
  readonly from?: string
}

/**
 * A payment's way over the stablecoin rail:
 * `claimed` while the facilitator is asked, `executing` once it has verified, `settling` with the result kept and the outcome
 * of the settlement not known, `settled` with the money ours. `unpaid` is over without money: the service failed, or the
 * settlement was refused or never came (then the result is kept, and is delivered if the money does come). It is watched
 * until the authorization has run out, since any party that saw it may have used it; without a result the money is then `owed` back.
 */
export type StableClaim =
  | (OpenStable & {
      readonly state: 'claimed'
      /** How it ended before it was taken once more; absent in one that is new. */
      readonly before?: Pick<Unpaid, 'endedAtMs' | 'reason' | 'detail'>
    })
  | (OpenStable & Executing & { readonly state: 'executing' })
  | (OpenStable & Worked & { readonly state: 'settling' })
  | (StableBase &
      Worked &
      StableTransfer & {
        readonly state: 'settled'
        readonly deliveredAtMs: number | null
        /** Null where the chain itself showed the transfer. */
        readonly report: StableReport | null
      })
  | (OpenStable & Unpaid)
  | (OpenStable & Worked & Unpaid)
  | (StableBase &
      StableTransfer & {
        readonly state: 'owed'
        readonly reason: FaultCode
        readonly refund: StableRefund
      })

/** A claim in one of its states. */
export type StableIn<S extends StableClaim['state']> = Extract<StableClaim, { state: S }>

/** Claims of the stablecoin rail, as stores know them. */
export const STABLE_CLAIMS: ClaimKind<StableClaim> = {
  name: 'stable',
  idOf: ({ id }) => id,
  isOpen: (claim) => {
    if (claim.state === 'settled') return false
    if (claim.state === 'unpaid') return !claim.over
    return claim.state !== 'owed' || claim.refund.status !== 'paid'
  },
  // Before the work there is only a question to a facilitator, which does no harm twice; after a delivery that is forgotten there
  // may be a second one, to a caller that holds the signature.
  isTentative: (claim) => claim.state === 'claimed' || (claim.state === 'settled' && claim.deliveredAtMs !== null),
  // Where the money did not come, what the result was worth was not paid.
  paidFor: (claim) => ({
    payer: claim.payer,
    priceUsdMicros: claim.state === 'unpaid' ? 0n : BigInt(claim.priceUsdMicros),
    isDelivered: claim.state === 'settled' && claim.deliveredAtMs !== null,
  }),
  nameOf: ({ state, repeatKey }) => (state === 'unpaid' || state === 'owed' ? null : repeatKey),
}

/** Where claims of the stablecoin rail are kept. */
export type StableClaimStore = ClaimStore<StableClaim>
