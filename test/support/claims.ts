import type { Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { DollarClaim } from '../../marketplace/till/rails/dollar/claim.ts'
import type { Claim, FinishedClaim } from '../../marketplace/till/rails/native/claim.ts'

export const txIdOf = (number: number): TxId => number.toString(16).padStart(64, '0') as TxId

/** Claim `number`, claimed at millisecond `number` by default. */
export function claimed(number: number, claimedAtMs = number): Claim & { state: 'claimed' } {
  return {
    state: 'claimed',
    txId: txIdOf(number),
    serviceId: 'node-test-again' as ServiceId,
    requestHash: 'ab'.repeat(32) as Hash,
    request: 'ok – ünïcode "quoted"\n',
    caller: 'cd'.repeat(32),
    amount: '123456789012345678901234567890',
    priceUsdMicros: '2000',
    opener: null,
    minedAt: 12,
    claimedAtMs,
  }
}

/** The fields that a claim keeps after its work: all but the request. */
function finished(number: number) {
  const { request: _, ...base } = claimed(number)
  return base
}

/** The claim as lists show it: without its result. */
export function listed(claim: Claim): Claim {
  return claim.state === 'delivered' ? { ...claim, result: null } : claim
}

/** Claim `number` with its work under way. */
export function executing(number: number): Claim {
  return { ...claimed(number), state: 'executing', startedAtMs: 5 }
}

/** Claim `number` with its result. */
export function delivered(
  number: number,
  { result = '{"echo":"ok"}' as string | null, finishedAtMs = 9 } = {},
): FinishedClaim {
  const base = { ...finished(number), finishedAtMs, durationMs: 4, resultHash: 'ef'.repeat(32) as Hash, result }
  return { ...base, state: 'delivered', settlement: 'owed' }
}

/** Claim `number`, failed and not refunded yet. */
export function failed(number: number): FinishedClaim {
  const outcome = { reason: 'service/failed', message: 'it was told to fail', settlement: 'owed' } as const
  return { ...finished(number), state: 'failed', finishedAtMs: 9, durationMs: 4, ...outcome }
}

const STABLE = {
  serviceId: 'node-test-again' as ServiceId,
  requestHash: 'ab'.repeat(32) as Hash,
  signatureHash: 'ac'.repeat(32) as Hash,
  repeatKey: null,
  network: 'eip155:31337',
  asset: `0x${'11'.repeat(20)}`,
  payer: `0x${'22'.repeat(20)}`,
  nonce: `0x${'33'.repeat(32)}`,
  amount: '2000',
  priceUsdMicros: '2000',
  validBefore: 1_800_000_000,
  version: 2,
  claimedAtMs: 7,
} as const
const STABLE_OPEN = { ...STABLE, request: 'ok – ünïcode', payload: { signature: '0x00', nested: { list: [1, null] } } }
const WORKED = { finishedAtMs: 9, durationMs: 4, resultHash: 'ef'.repeat(32) as Hash, result: '{"echo":"€"}' }
const MOVED = { transaction: `0x${'44'.repeat(32)}`, settledAtMs: 11 }
const UNPAID = { endedAtMs: 12, reason: 'stable/refused', detail: { reason: 'it was refused' } } as const
const REFUND = { status: 'owed', nonce: null, validBefore: null, transaction: null } as const

/** Claims of the dollar rail for payment `number`, one in each state. */
export function dollarClaims(number: number) {
  const id = txIdOf(number)
  return {
    claimed: { ...STABLE_OPEN, id, state: 'claimed' },
    executing: { ...STABLE_OPEN, id, state: 'executing', startedAtMs: 8 },
    settling: { ...STABLE_OPEN, ...WORKED, id, state: 'settling' },
    settled: { ...STABLE, ...WORKED, ...MOVED, id, state: 'settled', deliveredAtMs: null, report: null },
    unpaid: { ...STABLE_OPEN, ...UNPAID, id, state: 'unpaid', over: false },
    owed: { ...STABLE, ...MOVED, id, state: 'owed', reason: UNPAID.reason, refund: REFUND },
  } as const satisfies Record<string, DollarClaim>
}
