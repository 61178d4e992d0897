import { BLOCK_TRANSACTIONS_MAX } from '../../consensus/block/block.ts'
import { credit, debit } from '../../consensus/ledger/account.ts'
import type { BlockContext, KindHandler, LedgerModule, StateRecord } from '../../consensus/ledger/module.ts'
import { OUTCOME_NUMBERS, OUTCOME_OK, type OutcomeCode } from '../../consensus/ledger/outcome.ts'
import { burnNative } from '../../consensus/ledger/supply.ts'
import { add, amount, mulDivUp, subtractProven, ZERO } from '../../consensus/primitives/amount.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import {
  bool,
  container,
  hex32,
  list,
  safeUint64,
  uint32,
  uint128,
  type ValueOf,
} from '../../consensus/primitives/codec.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { Address, Hash, TxId } from '../../consensus/primitives/ids.ts'
import type { Overlay, ValueChange } from '../../consensus/state/overlay.ts'
import { anyTable, heightKey, NATIVE_ASSET, noKey, stateTable } from '../../consensus/state/table.ts'
import { agentIdCodec, OUTCOME_DELIVERED, type ReceiptEntry, serviceIdCodec } from '../../consensus/tx/payloads.ts'
import { lockOf } from '../../consensus/tx/redeem-lock.ts'
import { AGENTS, isInsider, liveService, mayActFor } from './agents.ts'
import { AGENT_STATISTICS, countDeliveries, PAYERS, SERVICE_STATISTICS } from './statistics.ts'

const ESCROW_RECORD = container('Escrow', {
  agentId: agentIdCodec,
  serviceId: serviceIdCodec,
  caller: hex32<Address>(),
  payout: hex32<Address>(),
  amount: uint128,
  insider: bool,
  minedAt: uint32,
  index: uint32,
  deadline: uint32,
  requestCommitment: hex32<Hash>(),
  redeemLock: hex32<Hash>(),
})

/** A paid call that is neither delivered nor refunded. `payout` and `insider` are frozen at mining. */
export type Escrow = ValueOf<typeof ESCROW_RECORD>

/** By the id of the `agent_invoke`. A closed escrow is gone. */
export const ESCROWS = stateTable<TxId, Escrow>({
  name: 'escrows',
  prefix: 0x65,
  codec: ESCROW_RECORD,
  id: (txId) => txId,
  holdings: (escrow) => [{ asset: NATIVE_ASSET, amount: escrow.amount }],
})

const TOTALS_RECORD = container('EscrowTotals', { amount: uint128, count: safeUint64 })

/** Of open escrows. */
export const ESCROW_TOTALS = stateTable<void, ValueOf<typeof TOTALS_RECORD>>({
  name: 'escrow-totals',
  prefix: 0x66,
  codec: TOTALS_RECORD,
  id: noKey,
})

const INVOKES_RECORD = list(container('MinedInvoke', { txId: hex32<TxId>(), term: uint32 }), BLOCK_TRANSACTIONS_MAX)

/**
 * Invokes by mining height, in block order. They are derived from the escrow records, so they stay outside the state
 * root.
 */
export const INVOKES = stateTable<number, ValueOf<typeof INVOKES_RECORD>>({
  name: 'invokes',
  prefix: 0xe0,
  codec: INVOKES_RECORD,
  id: heightKey,
  rooted: false,
})

const RELISTED_PER_STEP = 64

interface PlacedInvoke {
  readonly invoke: ValueOf<typeof INVOKES_RECORD>[number]
  readonly index: number
}

const agentInvoke: KindHandler<'agent_invoke'> = {
  spends: ({ payload }) => payload.amount,
  apply: ({ overlay, height, index }, { txId, body: { sender, payload } }) => {
    const { agentId, serviceId, term } = payload
    const agent = overlay.get(AGENTS, agentId)
    if (agent === undefined) return fault('ledger/agent-unknown', { agentId })
    const service = liveService(overlay, { agentId, serviceId })
    if ('code' in service) return service
    const short = debit(overlay, sender, payload.amount)
    if (short !== null) return short
    overlay.put(ESCROWS, txId, {
      agentId,
      serviceId,
      caller: sender,
      payout: agent.payout,
      amount: payload.amount,
      insider: isInsider(agent, sender),
      minedAt: height,
      index,
      deadline: height + term,
      requestCommitment: payload.requestCommitment,
      redeemLock: payload.redeemLock,
    })
    const { amount, count } = totalsOf(overlay)
    overlay.put(ESCROW_TOTALS, undefined, { amount: add(amount, payload.amount), count: count + 1 })
    overlay.put(INVOKES, height, [...(overlay.get(INVOKES, height) ?? []), { txId, term }])
    return null
  },
}

/** Every entry succeeds or fails by itself. */
const agentReceipt: KindHandler<'agent_receipt'> = {
  spends: () => ZERO,
  apply: ({ overlay, rules, reportEntries }, { body: { sender, payload } }) => {
    const settle = (entry: ReceiptEntry): number => {
      const refusal = settleEntry(overlay, entry, sender, rules.market.deliveredBurnDivisor)
      return refusal === null ? OUTCOME_OK : OUTCOME_NUMBERS[refusal]
    }
    reportEntries(payload.entries.map(settle))
    return null
  },
}

function settleEntry(overlay: Overlay, entry: ReceiptEntry, sender: Address, burnDivisor: bigint): OutcomeCode | null {
  const { txId, outcome, opener } = entry
  const escrow = overlay.get(ESCROWS, txId)
  if (escrow === undefined) return 'receipt/closed'
  const agent = overlay.get(AGENTS, escrow.agentId)
  assert(agent !== undefined, 'an escrow of an agent that is not there')
  if (!mayActFor(agent, sender)) return 'receipt/foreign'
  if (outcome !== OUTCOME_DELIVERED) {
    closeEscrow(overlay, txId, escrow)
    returnToCaller(overlay, escrow)
    return null
  }
  if (escrow.redeemLock !== ZERO_HEX_32 && lockOf(opener) !== escrow.redeemLock) return 'receipt/bad-opener'
  closeEscrow(overlay, txId, escrow)
  payOut(overlay, escrow, burnDivisor)
  return null
}

/** ceil(amount / divisor) is burned, so that faking volume has a cost. */
function payOut(overlay: Overlay, escrow: Escrow, burnDivisor: bigint): void {
  const burned = amount(mulDivUp(escrow.amount, 1n, burnDivisor))
  burnNative(overlay, burned)
  const paid = credit(overlay, escrow.payout, subtractProven(escrow.amount, burned))
  assert(paid, 'a payout account is gone')
  if (escrow.insider) return
  const { agentId, serviceId, caller } = escrow
  countDeliveries(overlay, agentId, caller, [{ serviceId, calls: 1, charged: escrow.amount }])
}

function returnToCaller(overlay: Overlay, escrow: Escrow): void {
  const returned = credit(overlay, escrow.caller, escrow.amount)
  assert(returned, 'a caller account is gone')
}

function closeEscrow(overlay: Overlay, txId: TxId, escrow: Escrow): void {
  overlay.delete(ESCROWS, txId)
  const { amount, count } = totalsOf(overlay)
  overlay.put(ESCROW_TOTALS, undefined, { amount: subtractProven(amount, escrow.amount), count: count - 1 })
}

function totalsOf(overlay: Overlay): ValueOf<typeof TOTALS_RECORD> {
  return overlay.get(ESCROW_TOTALS, undefined) ?? { amount: ZERO, count: 0 }
}

/**
 * Every escrow whose deadline is this height goes back to its caller, in order of mining height and index. No operator
 * takes part, so no operator can withhold it.
 */
function* refundDue({ rules, height, overlay, emit }: BlockContext): Iterable<void> {
  const terms = [...rules.tx.invokeTerms].sort((a, b) => b - a)
  for (const term of terms) {
    const minedAt = height - term
    if (minedAt < 1) continue
    for (const invoke of overlay.get(INVOKES, minedAt) ?? []) {
      const escrow = invoke.term === term ? overlay.get(ESCROWS, invoke.txId) : undefined
      if (escrow === undefined) continue
      closeEscrow(overlay, invoke.txId, escrow)
      returnToCaller(overlay, escrow)
      emit({ type: 'refund', txId: invoke.txId, caller: escrow.caller, amount: escrow.amount })
      yield
    }
  }
  const expired = height - (terms[0] as number)
  if (expired >= 1 && overlay.get(INVOKES, expired) !== undefined) overlay.delete(INVOKES, expired)
}

/** Rebuilds the lists of open escrows. Closed escrows are left out: no rule reads them again. */
function* relistInvokes(overlay: Overlay, records: Iterable<StateRecord>): Iterable<void> {
  const found = new Map<number, PlacedInvoke[]>()
  let seen = 0
  for (const { key, value } of records) {
    if (!key.startsWith(ESCROWS.key('' as TxId))) continue
    const { minedAt, deadline, index } = value as Escrow
    const invoke = { txId: key.slice(2) as TxId, term: deadline - minedAt }
    const listed = found.get(minedAt)
    if (listed === undefined) found.set(minedAt, [{ invoke, index }])
    else listed.push({ invoke, index })
    if (++seen % RELISTED_PER_STEP === 0) yield
  }
  for (const [minedAt, added] of found) {
    const placed: PlacedInvoke[] = []
    for (const invoke of overlay.get(INVOKES, minedAt) ?? []) {
      placed.push({ invoke, index: overlay.get(ESCROWS, invoke.txId)?.index ?? 0 })
      if (++seen % RELISTED_PER_STEP === 0) yield
    }
    placed.push(...added)
    placed.sort((a, b) => a.index - b.index)
    const listed = placed.map(({ invoke }) => invoke)
    overlay.put(INVOKES, minedAt, listed)
    yield
  }
}

/** The totals must change exactly as the escrows do. */
function escrowInvariant(changes: readonly ValueChange[]): string | null {
  let difference = 0n
  for (const { table, before, after } of changes) {
    const sign = table.name === ESCROWS.name ? 1n : table.name === ESCROW_TOTALS.name ? -1n : 0n
    if (sign === 0n) continue
    difference += sign * (heldBy(after) - heldBy(before))
  }
  return difference === 0n ? null : 'escrow-sum'
}

function heldBy(value: unknown): bigint {
  return (value as { readonly amount: bigint } | undefined)?.amount ?? 0n
}

/** Escrows, receipts, and the refund that no operator can withhold. */
export const escrowModule = {
  name: 'escrow',
  tables: [ESCROWS, ESCROW_TOTALS, INVOKES, AGENT_STATISTICS, SERVICE_STATISTICS, PAYERS].map((table) =>
    anyTable(table as never),
  ),
  handlers: { agent_invoke: agentInvoke, agent_receipt: agentReceipt },
  beginBlock: refundDue,
  derive: relistInvokes,
  invariant: escrowInvariant,
} satisfies LedgerModule
