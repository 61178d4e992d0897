import type { Chain } from '../../../../consensus/chain/chain.ts'
import { resultHash } from '../../../../consensus/ledger/receipt.ts'
import { type Fault, fault, faultMessage } from '../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { closureOf, endText } from '../../../ledger/closures.ts'
import type { Claim, FinishedClaim, OpenClaim } from './claim.ts'

/** A call that was answered, now or before. */
export interface Settled {
  readonly claim: FinishedClaim
  /** Whether the work had been done for an earlier call. */
  readonly replayed: boolean
}

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
export function answer(claim: FinishedClaim, replayed: boolean): Result<Settled> {
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
