import { type Amount, amount } from '../../consensus/primitives/amount.ts'
import type { BlockId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { sealer } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import type { EndedTabCall, ReserveBounds, ReservedTabCall } from '../../marketplace/till/rails/tab/tab-store.ts'
import { TEST_SIGNER } from './tabs.ts'

/** Makes receipts, signed by the key of the test seller. */
export const sealed = sealer(TEST_SIGNER, { chainId: 1, genesis: '0b'.repeat(32) as BlockId })

/** Id of tab `number`. */
export const tabIdOf = (number: number): TxId => number.toString(16).padStart(64, '0') as TxId

/** Amount of so many base units. */
export const units = (value: number | bigint): Amount => amount(BigInt(value))

/** Bounds of a tab of which nothing was claimed. */
export const upTo = (most: number): ReserveBounds => ({ most: units(most), claimed: units(0), receipts: 0 })

/** Facts of a call that a test chooses. */
export interface CallFacts {
  readonly tab?: number
  readonly price?: number | bigint
  readonly ceiling?: number | bigint
  readonly isRepeatable?: boolean
  readonly caller?: string
}

/** Call `seq` on a tab before its work. */
export function reserved(seq: number, facts: CallFacts = {}): ReservedTabCall {
  const { tab = 1, price = 10, ceiling = 1_000_000, isRepeatable = true, caller = 'cd'.repeat(32) } = facts
  return {
    state: 'claimed',
    tabId: tabIdOf(tab),
    seq,
    serviceId: 'node-test-again' as ServiceId,
    request: 'ok – ünïcode "quoted"\n',
    requestHash: 'ab'.repeat(32) as Hash,
    caller,
    voucher: { seq, ceiling: units(ceiling), context: 'ac'.repeat(32) as Hash, signature: 'ad'.repeat(64) },
    price: `${price}`,
    priceUsdMicros: '2000',
    isRepeatable,
    claimedAtMs: 3,
  }
}

/** The call with its work under way. */
export function begun(call: ReservedTabCall): ReservedTabCall {
  return { ...call, state: 'executing', startedAtMs: 5, runs: 1 }
}

/** The end of a call: delivered for its price, or for another charge. */
export function delivering(
  call: ReservedTabCall,
  { charge = call.price as string | number, result = '{"echo":"€"}', finishedAtMs = 9 } = {},
): EndedTabCall {
  const resultHash = 'ef'.repeat(32) as Hash
  return { call, charge: units(BigInt(charge)), result, resultHash, reason: null, message: null, finishedAtMs }
}

/** The end of a call whose service failed: nothing is charged. */
export function failing(call: ReservedTabCall): EndedTabCall {
  const outcome = { reason: 'service/failed', message: 'it was told to fail' } as const
  return { call, charge: units(0), result: null, resultHash: '00'.repeat(32) as Hash, ...outcome, finishedAtMs: 9 }
}
