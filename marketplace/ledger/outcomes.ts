import type { FoldedIndex, IndexRead, IndexWrite } from '../../consensus/chain/chain-index.ts'
import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import { type Amount, add, ZERO } from '../../consensus/primitives/amount.ts'
import { concat, fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import {
  container,
  decodeOwn,
  encode,
  list,
  safeUint64,
  uint32,
  uint128,
  type ValueOf,
} from '../../consensus/primitives/codec.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import { OUTCOME_DELIVERED } from '../../consensus/tx/payloads.ts'
import { type ServiceName, serviceKey } from './agents.ts'
import { EscrowParties, type Parties } from './escrow-parties.ts'

/** Classes of durations: class i holds those up to 2^i ms, the last one all that are longer. */
export const DURATION_CLASSES = 24

const OUTCOMES_RECORD = container('Outcomes', {
  delivered: safeUint64,
  failed: safeUint64,
  expired: safeUint64,
  volume: uint128,
  topPayerVolume: uint128,
  durations: list(uint32, DURATION_CLASSES),
})

/**
 * How the paid calls of a service ended, those of the agent's own owner, payout and settlers left out: delivered, failed by
 * the operator's own word, expired at the deadline. `volume` is what delivered calls paid, `topPayerVolume` how much of it
 * came from the one caller who paid most, `durations` how many deliveries took how long by the operator's own claim.
 */
export type Outcomes = ValueOf<typeof OUTCOMES_RECORD>

/** Nothing has ended yet. */
export const NO_OUTCOMES: Outcomes = {
  delivered: 0,
  failed: 0,
  expired: 0,
  volume: ZERO,
  topPayerVolume: ZERO,
  durations: new Array<number>(DURATION_CLASSES).fill(0),
}

/** Outcomes by service: 0 || agent id `/` service id -> record; and 1 || the same || caller -> what that caller paid. */
export const OUTCOMES: FoldedIndex = { name: 'outcomes', prefix: 0x07, fold }

/** Key of a service's record. */
export function outcomesKey(name: ServiceName): Uint8Array {
  return concat(Uint8Array.of(0), fromHex(serviceKey(name)))
}

/** Reads a service's record. */
export function decodeOutcomes(value: Uint8Array | undefined): Outcomes {
  return value === undefined ? NO_OUTCOMES : decodeOwn(OUTCOMES_RECORD, value)
}

/** Upper bound of the time that a share of deliveries took, in ms: 95 for the 95th percentile; null where there is none. */
export function durationPercentile({ durations }: Outcomes, percent: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let seen = 0
  const enough = durations.findIndex((count) => {
    seen += count
    return seen * 100 >= total * percent
  })
  return 2 ** enough
}

/** Most bytes of the key of one of a caller's payments: see {@link OUTCOMES}. */
function payerKey(name: ServiceName, { caller }: Parties): Uint8Array {
  // The separator is none of the letters of an id, so that no id is the beginning of another with a caller behind it.
  return concat(Uint8Array.of(1), fromHex(serviceKey(name)), encodeText('/'), fromHex(caller))
}

interface End {
  readonly how: 'delivered' | 'failed' | 'expired'
  readonly parties: Parties
  readonly durationMs: number
}

function fold(connected: ConnectedBlock, read: IndexRead): readonly IndexWrite[] {
  const writes = new Map<string, Uint8Array>()
  const latest: IndexRead = (key) => writes.get(toHex(key)) ?? read(key)
  for (const end of endsOf(connected)) {
    if (end.parties.insider) continue
    const { key, value, payer } = counted(end, latest)
    writes.set(toHex(key), value)
    if (payer !== null) writes.set(toHex(payer.key), payer.value)
  }
  return [...writes].map(([key, value]) => ({ key: fromHex(key), value }))
}

function counted(
  { how, parties, durationMs }: End,
  read: IndexRead,
): {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly payer: { readonly key: Uint8Array; readonly value: Uint8Array } | null
} {
  const key = outcomesKey(parties)
  const known = decodeOutcomes(read(key))
  const outcomes = { ...known, [how]: known[how] + 1 }
  if (how !== 'delivered') return { key, value: encode(OUTCOMES_RECORD, outcomes), payer: null }
  const payer = payerKey(parties, parties)
  const before = read(payer)
  const paid = add(before === undefined ? ZERO : decodeOwn(uint128, before), parties.amount)
  const value = encode(OUTCOMES_RECORD, {
    ...outcomes,
    volume: add(known.volume, parties.amount),
    topPayerVolume: larger(known.topPayerVolume, paid),
    durations: known.durations.map((count, i) => count + (i === durationClass(durationMs) ? 1 : 0)),
  })
  return { key, value, payer: { key: payer, value: encode(uint128, paid) } }
}

function larger(a: Amount, b: Amount): Amount {
  return a > b ? a : b
}

function durationClass(durationMs: number): number {
  return Math.min(DURATION_CLASSES - 1, durationMs <= 1 ? 0 : 32 - Math.clz32(durationMs - 1))
}

/** Escrows that a block closed, in order. */
function endsOf(connected: ConnectedBlock): readonly End[] {
  const { block, receipts } = connected
  const transactions = new Map(block.transactions.map((tx) => [tx.txId, tx]))
  const escrows = new EscrowParties(connected)
  return receipts.flatMap((receipt): readonly End[] => {
    if (receipt.type === 'refund') return [{ how: 'expired', parties: escrows.of(receipt.txId), durationMs: 0 }]
    const tx = receipt.type === 'transaction' ? transactions.get(receipt.txId) : undefined
    if (receipt.type !== 'transaction' || tx === undefined || receipt.code !== OUTCOME_OK) return []
    escrows.see(tx)
    if (tx.body.kind !== 'agent_receipt') return []
    return tx.body.payload.entries.flatMap(({ txId, outcome, durationMs }, i): readonly End[] => {
      if (receipt.entries[i] !== OUTCOME_OK) return []
      return [{ how: outcome === OUTCOME_DELIVERED ? 'delivered' : 'failed', parties: escrows.of(txId), durationMs }]
    })
  })
}
