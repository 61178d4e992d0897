import type { Chain } from '../../../../consensus/chain/chain.ts'
import { resultHash } from '../../../../consensus/ledger/receipt.ts'
import { type Fault, fault, faultMessage } from '../../../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../../../consensus/primitives/fault-table.ts'
import type { Hash, ServiceId, TxId } from '../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { closureOf, endText } from '../../../ledger/closures.ts'
import type { ClaimKind, ClaimStore, Executing } from '../../claim-store.ts'
import type { Settled } from '../../rail.ts'

/** What every claim knows: which payment was taken for which call. */
interface ClaimBase {
  readonly txId: TxId
  readonly serviceId: ServiceId
  /** The request's hash: another request under this payment is refused. */
  readonly requestHash: Hash
  /** Caller's address in hex, exact amount in base units, and the price in millionths of a dollar. */
  readonly caller: string
  readonly amount: string
  readonly priceUsdMicros: string
  /** H(opener tag, secret) of a payment with a lock or a commitment: repeats must know the secret; null without either. */
  readonly opener: Hash | null
  /** Height of the block that held the payment when it was taken. */
  readonly minedAt: number
  readonly claimedAtMs: number
}

/** How a finished claim stands on chain: its receipt entry is owed, or the escrow is closed for good. */
export type Settlement = 'owed' | 'final'

/** The request text is kept until the work is done, so that a crash can be resumed, and no longer. */
interface OpenBase extends ClaimBase {
  readonly request: string
}

/** A payment's way through the market. Each state holds what only it has. */
export type Claim =
  | (OpenBase & { readonly state: 'claimed' })
  | (OpenBase & Executing & { readonly state: 'executing' })
  | (ClaimBase & {
      readonly state: 'delivered'
      readonly finishedAtMs: number
      readonly durationMs: number
      readonly resultHash: Hash
      /** The result as JSON text; null once its keeping time is over, and in listings. */
      readonly result: string | null
      readonly settlement: Settlement
    })
  | (ClaimBase & {
      readonly state: 'failed'
      readonly finishedAtMs: number
      readonly durationMs: number
      readonly reason: FaultCode
      /** What went wrong, as the caller is told. */
      readonly message: string
      readonly settlement: Settlement
    })

/** A claim whose work is over. */
export type FinishedClaim = Extract<Claim, { state: 'delivered' | 'failed' }>

/** A claim whose work is still to be done. */
export type OpenClaim = Exclude<Claim, FinishedClaim>

/** Whether the work of a claim is over. */
export function isFinished(claim: Claim): claim is FinishedClaim {
  return claim.state === 'delivered' || claim.state === 'failed'
}

/** Claims of the native rail, as stores know them: named by the id of the payment's transaction. */
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

/** A claim whose work is done, with its result as JSON text; the time is in milliseconds since 1970. */
export function delivered(
  claim: OpenClaim & { readonly startedAtMs: number },
  json: string,
  nowMs: number,
): FinishedClaim {
  return {
    ...finishedBase(claim),
    state: 'delivered',
    finishedAtMs: nowMs,
    durationMs: elapsed(claim.startedAtMs, nowMs),
    resultHash: resultHash(encodeText(json)),
    result: json,
    settlement: 'owed',
  }
}

/** A claim whose payment is owed back, and why. */
export function failed(claim: OpenClaim, cause: Fault, nowMs: number): FinishedClaim {
  return {
    ...finishedBase(claim),
    state: 'failed',
    finishedAtMs: nowMs,
    durationMs: claim.state === 'executing' ? elapsed(claim.startedAtMs, nowMs) : 0,
    reason: cause.code,
    message: faultMessage(cause),
    settlement: 'owed',
  }
}

/** What a call is answered whose claim is over. */
export function answer(claim: FinishedClaim, replayed: boolean): Result<Settled<FinishedClaim>> {
  if (claim.state === 'delivered' && claim.result === null)
    return fail(fault('pay/result-expired', { txId: claim.txId }))
  return ok({ claim, replayed })
}

/** Why a payment that is taken does not buy another request. */
export function takenFault({ database }: Pick<Chain, 'database'>, claim: Claim): Fault {
  const { txId, serviceId, claimedAtMs } = claim
  const facts = { txId, serviceId, redeemedAt: new Date(claimedAtMs).toISOString() }
  if (claim.state !== 'failed') return fault('pay/already-redeemed', facts)
  const isClosed = closureOf(database, txId) !== undefined
  return fault('pay/refunded', { ...facts, end: isClosed ? endText(database, txId) : 'its refund is on the way' })
}

/** What a claim keeps when its work is over. */
function finishedBase({
  txId,
  serviceId,
  requestHash,
  caller,
  amount,
  priceUsdMicros,
  opener,
  minedAt,
  claimedAtMs,
}: OpenClaim) {
  return { txId, serviceId, requestHash, caller, amount, priceUsdMicros, opener, minedAt, claimedAtMs }
}

/** The clock of a machine can be set back. */
function elapsed(sinceMs: number, nowMs: number): number {
  return Math.max(0, nowMs - sinceMs)
}
