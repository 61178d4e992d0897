import { resultHash } from '../../../../consensus/ledger/receipt.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { runsOf } from '../../claim-store.ts'
import type { DollarClaim, DollarIn, DollarReport, DollarTransfer } from './claim.ts'

/** A claim whose work is done, with its result as JSON text. */
export function settling(claim: DollarIn<'executing'>, json: string, nowMs: number): DollarIn<'settling'> {
  const { startedAtMs, runs: _, unsent: __, failedRuns: ___, ...open } = claim
  return {
    ...open,
    state: 'settling',
    finishedAtMs: nowMs,
    durationMs: Math.max(0, nowMs - startedAtMs),
    resultHash: resultHash(encodeText(json)),
    result: json,
  }
}

/** A claim whose money has come. Members that only a settlement needs are dropped. */
export function settled(
  claim: DollarIn<'settling'> | (DollarIn<'unpaid'> & Pick<DollarIn<'settling'>, 'result' | 'resultHash'>),
  transfer: DollarTransfer,
  report: DollarReport | null,
): DollarIn<'settled'> {
  const { finishedAtMs, durationMs, resultHash: hash, result } = claim as DollarIn<'settling'>
  const worked = { finishedAtMs, durationMs, resultHash: hash, result }
  return { ...baseOf(claim), ...worked, ...transfer, state: 'settled', deliveredAtMs: null, report }
}

const SPENT = { request: '', payload: {} }

/** A result is kept, since the money may still come. */
export function unpaid(
  claim: DollarIn<'claimed' | 'executing' | 'settling' | 'unpaid'>,
  cause: Fault,
  { nowMs, over }: { readonly nowMs: number; readonly over: boolean },
): DollarIn<'unpaid'> {
  const open = over ? SPENT : openOf(claim)
  const worked =
    'result' in claim && claim.result !== null
      ? {
          finishedAtMs: claim.finishedAtMs,
          durationMs: claim.durationMs,
          resultHash: claim.resultHash,
          result: claim.result,
        }
      : {}
  const end = { endedAtMs: nowMs, reason: cause.code, detail: cause.detail, over }
  return { ...baseOf(claim), ...open, ...worked, ...end, state: 'unpaid' }
}

/** The authorization cannot be used any more. */
export function unpaidForGood(claim: DollarIn<'unpaid'>): DollarIn<'unpaid'> {
  return { ...claim, ...SPENT, over: true }
}

/** A claim whose money has come, without a result to deliver. */
export function owed(claim: DollarIn<'unpaid'>, transfer: DollarTransfer): DollarIn<'owed'> {
  const refund = { status: 'owed', nonce: null, validBefore: null, transaction: null } as const
  return { ...baseOf(claim), ...transfer, state: 'owed', reason: claim.reason, refund }
}

/** An unpaid claim that is worked on again. It keeps its former end, for the case that the call is turned away. */
export function claimedAgain(claim: DollarIn<'unpaid'>): DollarIn<'claimed'> {
  const { endedAtMs, reason, detail } = claim
  return { ...baseOf(claim), ...openOf(claim), state: 'claimed', before: { endedAtMs, reason, detail } }
}

/** A claim as it was before it was taken again; null for a new one. */
export function asBefore(claim: DollarIn<'claimed'>): DollarIn<'unpaid'> | null {
  const { before } = claim
  return before === undefined ? null : { ...baseOf(claim), ...openOf(claim), ...before, over: false, state: 'unpaid' }
}

/** A claim whose work begins, for the first time or again. */
export function executing(claim: DollarIn<'claimed' | 'executing'>, nowMs: number): DollarIn<'executing'> {
  return { ...baseOf(claim), ...openOf(claim), state: 'executing', startedAtMs: nowMs, runs: runsOf(claim) }
}

/** An unpaid claim with a result, to be settled again; null without a result. */
export function settlingAgain(claim: DollarIn<'unpaid'>): DollarIn<'settling'> | null {
  if (!('result' in claim) || claim.result === null) return null
  const { request, payload, finishedAtMs, durationMs, resultHash: hash, result } = claim
  return {
    ...baseOf(claim),
    ...{ request, payload, finishedAtMs, durationMs, resultHash: hash, result },
    state: 'settling',
  }
}

/** The fault for the caller of an unpaid claim. */
export function causeOf({ reason, detail }: DollarIn<'unpaid'>): Fault {
  return fault(reason, detail)
}

function openOf({ request, payload, unsent, failedRuns }: DollarIn<'claimed' | 'executing' | 'settling' | 'unpaid'>) {
  return { request, payload, ...(unsent && { unsent }), ...(failedRuns !== undefined && { failedRuns }) }
}

function baseOf(claim: DollarClaim) {
  const { id, serviceId, requestHash, signatureHash, repeatKey, network, asset, payer, nonce } = claim
  const { amount, priceUsdMicros, validBefore, version, claimedAtMs } = claim
  return {
    ...{ id, serviceId, requestHash, signatureHash, repeatKey, network, asset, payer, nonce },
    ...{ amount, priceUsdMicros, validBefore, version, claimedAtMs },
  }
}
