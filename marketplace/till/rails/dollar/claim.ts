import type { FaultDetail } from '../../../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../../../consensus/primitives/fault-table.ts'
import type { Hash, ServiceId } from '../../../../consensus/primitives/ids.ts'
import type { ClaimKind, ClaimStore, Executing } from '../../claim-store.ts'
import type { Settled, TillCall } from '../../rail.ts'

/** An EIP-3009 authorization, strictly read: addresses and hex in lower case. */
export interface Authorization {
  readonly from: string
  readonly to: string
  /** Units of the asset. */
  readonly value: bigint
  /** Seconds since 1970. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 32 bytes of hex with 0x. */
  readonly nonce: string
  /** Hex with 0x; 65 bytes for a key's own signature, up to 4,096 for a contract's. */
  readonly signature: string
}

/** A payment of the dollar rail, as it was offered. */
export interface DollarPayment {
  /** x402 version of the payload. Facilitators are asked in the same version. */
  readonly version: 1 | 2
  readonly authorization: Authorization
  /** The offer as the client repeats it; null in x402 version 1, which repeats none. */
  readonly accepted: Readonly<Record<string, unknown>> | null
  /** The payment in the shape of its x402 version, for facilitators. It holds only values that were read. */
  readonly payload: object
  /** Id of the extension `payment-identifier`. */
  readonly paymentIdentifier: string | null
}

/** A call that is paid with an authorization. */
export interface DollarCall extends TillCall {
  readonly payment: DollarPayment
  /** Header `Idempotency-Key`. The payment identifier takes precedence. */
  readonly idempotencyKey: string | null
}

/** The answer of a call whose money has moved. */
export type DollarSettled = Settled<DollarIn<'settled'>>

/** The members of every claim. All are JSON. */
interface DollarClaimBase {
  /** Hash over network, asset, payer and nonce. Another spelling or x402 version does not make it another payment. */
  readonly id: string
  readonly serviceId: ServiceId
  /** Hash of service and request text. Another request under this payment is refused. */
  readonly requestHash: Hash
  /** Hash of the signature's bytes: a repeated call must show the same one. */
  readonly signatureHash: Hash
  /** Hash of the payer and the call's name, which proves a repeat after the first delivery; null without a name. */
  readonly repeatKey: Hash | null
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly nonce: string
  /** Units of the asset, in decimal text. */
  readonly amount: string
  readonly priceUsdMicros: string
  /** Seconds since 1970. Later the authorization cannot be used. */
  readonly validBefore: number
  readonly version: 1 | 2
  readonly claimedAtMs: number
}

/** `request` and `payload` are empty once nothing more can come of the authorization. */
interface OpenDollarClaim extends DollarClaimBase {
  readonly request: string
  readonly payload: object
  /** Set while no facilitator was asked to settle it. Absent if one may have been, and in older claims. */
  readonly unsent?: true
  /** How often the work of the claim has failed; absent if it never has. */
  readonly failedRuns?: number
}

interface Worked {
  readonly finishedAtMs: number
  readonly durationMs: number
  readonly resultHash: Hash
  readonly result: string | null
}

/** An end without money. `reason` and `detail` make the fault for the caller. */
interface Unpaid {
  readonly state: 'unpaid'
  readonly endedAtMs: number
  readonly reason: FaultCode
  readonly detail: FaultDetail
  /** Nothing more can come of the authorization: it was used for something else, ran out unused, or its use can no longer be found out. */
  readonly over: boolean
}

/** A transfer on the token's chain. */
export interface DollarTransfer {
  readonly transaction: string
  readonly settledAtMs: number
}

/** A facilitator's report of a settlement: the facilitator's URL, the paid address in lower case, whether the chain denies it. */
export interface DollarReport {
  readonly by: string
  readonly payTo: string
  readonly isMissing: boolean
}

/** Owed, sent with an authorization of the operator's wallet whose outcome is not known yet, or paid. */
export interface DollarRefund {
  readonly status: 'owed' | 'sent' | 'paid'
  /** The nonce of the refund's authorization; null while owed. */
  readonly nonce: string | null
  readonly validBefore: number | null
  readonly transaction: string | null
  /** The wallet that signed the refund's authorization; absent while owed. */
  readonly from?: string
}

/**
 * A claim of the dollar rail, by state:
 * - `claimed`: a facilitator checks the payment, or the work waits for a place.
 * - `executing`: the work runs.
 * - `settling`: the result is kept; the outcome of the settlement is not known.
 * - `settled`: the money has come, as a facilitator or the chain says.
 * - `unpaid`: it ended without money. A result is kept, and delivered if the money does come. The authorization is watched until it has
 *   run out, since any party that saw it may use it.
 * - `owed`: the money of an unpaid claim without a result has come, and goes back.
 */
export type DollarClaim =
  | (OpenDollarClaim & {
      readonly state: 'claimed'
      /** How the claim ended before it was taken again; absent in a new claim. */
      readonly before?: Pick<Unpaid, 'endedAtMs' | 'reason' | 'detail'>
    })
  | (OpenDollarClaim & Executing & { readonly state: 'executing' })
  | (OpenDollarClaim & Worked & { readonly state: 'settling' })
  | (DollarClaimBase &
      Worked &
      DollarTransfer & {
        readonly state: 'settled'
        readonly deliveredAtMs: number | null
        /** Null if the chain itself showed the transfer. */
        readonly report: DollarReport | null
      })
  | (OpenDollarClaim & Unpaid)
  | (OpenDollarClaim & Worked & Unpaid)
  | (DollarClaimBase &
      DollarTransfer & {
        readonly state: 'owed'
        readonly reason: FaultCode
        readonly refund: DollarRefund
      })

/** A claim in one of its states. */
export type DollarIn<S extends DollarClaim['state']> = Extract<DollarClaim, { state: S }>

/** How stores keep claims of the dollar rail. */
export const DOLLAR_CLAIMS: ClaimKind<DollarClaim> = {
  name: 'stable',
  idOf: ({ id }) => id,
  isOpen: (claim) => {
    if (claim.state === 'settled') return false
    if (claim.state === 'unpaid') return !claim.over
    return claim.state !== 'owed' || claim.refund.status !== 'paid'
  },
  // Losing a `claimed` claim costs a second question to a facilitator. Losing a delivery costs a second delivery, to a caller that holds
  // the signature.
  isTentative: (claim) => claim.state === 'claimed' || (claim.state === 'settled' && claim.deliveredAtMs !== null),
  paidFor: (claim) => ({
    payer: claim.payer,
    priceUsdMicros: claim.state === 'unpaid' ? 0n : BigInt(claim.priceUsdMicros),
    isDelivered: claim.state === 'settled' && claim.deliveredAtMs !== null,
  }),
  nameOf: ({ state, repeatKey }) => (state === 'unpaid' || state === 'owed' ? null : repeatKey),
}

/** A store of claims of the dollar rail. */
export type DollarClaimStore = ClaimStore<DollarClaim>
