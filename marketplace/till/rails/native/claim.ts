import type { FaultCode } from '../../../../consensus/primitives/fault-table.ts'
import type { Hash, ServiceId, TxId } from '../../../../consensus/primitives/ids.ts'
import type { ClaimKind, ClaimStore, Executing } from '../../claim-store.ts'
import type { TillCall } from '../../rail.ts'

/** A call that is paid with an escrow in the native coin. */
export interface PaidCall extends TillCall {
  readonly txId: TxId
  readonly secret: Uint8Array | null
}

interface ClaimBase {
  readonly txId: TxId
  readonly serviceId: ServiceId
  /** Hash of service and request text. Another request with this payment is refused. */
  readonly requestHash: Hash
  /** Caller's address in hex, exact amount in base units, and the price in millionths of a dollar. */
  readonly caller: string
  readonly amount: string
  readonly priceUsdMicros: string
  /** Opener of the payer's secret. A repeat must show the secret. Null for a payment without lock and commitment. */
  readonly opener: Hash | null
  /** Height of the payment's block when it was taken. */
  readonly minedAt: number
  readonly claimedAtMs: number
}

/** A receipt is owed, or the escrow is closed or gone for good. */
export type ReceiptState = 'owed' | 'final'

/** The request text is kept until the work is done, so that a start can do interrupted work. */
interface OpenBase extends ClaimBase {
  readonly request: string
}

/** The claim of a payment, by state. */
export type Claim =
  | (OpenBase & { readonly state: 'claimed' })
  | (OpenBase & Executing & { readonly state: 'executing' })
  | (ClaimBase & {
      readonly state: 'delivered'
      readonly finishedAtMs: number
      readonly durationMs: number
      readonly resultHash: Hash
      /** JSON text. Null once it was deleted, and in listings. */
      readonly result: string | null
      readonly settlement: ReceiptState
    })
  | (ClaimBase & {
      readonly state: 'failed'
      readonly finishedAtMs: number
      readonly durationMs: number
      readonly reason: FaultCode
      /** What went wrong, as the caller is told. */
      readonly message: string
      readonly settlement: ReceiptState
    })

/** A claim whose work is over. */
export type FinishedClaim = Extract<Claim, { state: 'delivered' | 'failed' }>

/** A claim whose work is still to be done. */
export type OpenClaim = Exclude<Claim, FinishedClaim>

/** Whether the work of a claim is over. */
export function isFinished(claim: Claim): claim is FinishedClaim {
  return claim.state === 'delivered' || claim.state === 'failed'
}

/** Stored under the id of the payment's transaction. */
export const NATIVE_CLAIMS: ClaimKind<Claim> = {
  name: 'native',
  idOf: ({ txId }) => txId,
  isOpen: (claim) => !isFinished(claim) || claim.settlement === 'owed',
  paidFor: ({ caller, priceUsdMicros }) => ({
    payer: caller,
    priceUsdMicros: BigInt(priceUsdMicros),
    isDelivered: false,
  }),
}

/** Where claims of the native rail are kept. */
export type NativeClaimStore = ClaimStore<Claim>
