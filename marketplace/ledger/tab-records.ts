import { BLOCK_TRANSACTIONS_MAX } from '../../consensus/block/block.ts'
import { type Amount, subtractProven, ZERO } from '../../consensus/primitives/amount.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import {
  bool,
  container,
  hex32,
  list,
  safeUint64,
  uint8,
  uint32,
  uint128,
  type ValueOf,
} from '../../consensus/primitives/codec.ts'
import type { Address, AgentId, Hash, TxId } from '../../consensus/primitives/ids.ts'
import type { Overlay } from '../../consensus/state/overlay.ts'
import { heightKey, NATIVE_ASSET, noKey, stateTable, textKey } from '../../consensus/state/table.ts'
import type { StateView } from '../../consensus/state/view.ts'
import { agentIdCodec } from '../../consensus/tx/payloads.ts'

/** Codec of a {@link Tab}. */
export const TAB_RECORD = container('Tab', {
  version: uint8,
  agentId: agentIdCodec,
  payer: hex32<Address>(),
  payout: hex32<Address>(),
  insider: bool,
  scheme: uint8,
  voucherKey: hex32<Hash>(),
  receiptKey: hex32<Hash>(),
  deposit: uint128,
  claimed: uint128,
  receipts: uint32,
  chain: hex32<Hash>(),
  openedAt: uint32,
  expiresAt: uint32,
  closeDelay: uint32,
  closesAt: uint32,
})

/**
 * A deposit that a payer locked for one agent. `payout`, `insider` and both keys are those of the opening. `deposit`,
 * `claimed` and `receipts` only rise. `chain` links all claims. `closesAt` is 0 until the payer asks to close.
 */
export type Tab = ValueOf<typeof TAB_RECORD>

/** By the id of the `tab_open`, so that no id is used twice. A tab that has ended is gone. */
export const TABS = stateTable<TxId, Tab>({
  name: 'tabs',
  prefix: 0x67,
  codec: TAB_RECORD,
  id: (txId) => txId,
  holdings: (tab) => [{ asset: NATIVE_ASSET, amount: lockedIn(tab) }],
})

const TOTALS_RECORD = container('TabTotals', { open: safeUint64, locked: uint128, claimed: uint128, burned: uint128 })

/** Open tabs and what they lock; and what all tabs ever paid by claims, with the part of it that was burned. */
export type TabTotals = ValueOf<typeof TOTALS_RECORD>

/** Totals of all tabs. */
export const TAB_TOTALS = stateTable<void, TabTotals>({
  name: 'tab-totals',
  prefix: 0x68,
  codec: TOTALS_RECORD,
  id: noKey,
})

const TERMS_RECORD = container('TabTermsRecord', {
  receiptKey: hex32<Hash>(),
  minDeposit: uint128,
  minCloseDelay: uint32,
})

/** On which terms an agent takes tabs. A zero receipt key: it takes no new ones. */
export type AgentTabTerms = ValueOf<typeof TERMS_RECORD>

/** Terms by agent. No payer can lock money with an agent that has none. */
export const TAB_TERMS_TABLE = stateTable<AgentId, AgentTabTerms>({
  name: 'tab-terms',
  prefix: 0x69,
  codec: TERMS_RECORD,
  id: textKey,
})

/** Above what four terms and three delays can bring to one height. */
const DUE_TABS_MAX = 16 * BLOCK_TRANSACTIONS_MAX

/** Ids of the tabs that end at a height, ascending. Derived from the tabs, so they stay outside the state root. */
export const TAB_DUES = stateTable<number, readonly TxId[]>({
  name: 'tab-dues',
  prefix: 0xe1,
  codec: list(hex32<TxId>(), DUE_TABS_MAX),
  id: heightKey,
  rooted: false,
})

/** What the payer would get back now. */
export function lockedIn({ deposit, claimed }: Pick<Tab, 'deposit' | 'claimed'>): Amount {
  return subtractProven(deposit, claimed)
}

/** Height at whose beginning the tab ends. A claim in that block is too late. */
export function dueHeight({ closesAt, expiresAt }: Pick<Tab, 'closesAt' | 'expiresAt'>): number {
  return closesAt === 0 ? expiresAt : closesAt
}

/** The totals; zeros before the first tab. */
export function tabTotals(view: StateView): TabTotals {
  return view.get(TAB_TOTALS, undefined) ?? { open: 0, locked: ZERO, claimed: ZERO, burned: ZERO }
}

/** Files a tab under its due height. */
export function addDue(overlay: Overlay, height: number, tabId: TxId): void {
  const ids = overlay.get(TAB_DUES, height) ?? []
  overlay.put(TAB_DUES, height, ids.toSpliced(placeOf(ids, tabId), 0, tabId))
}

/** Takes a tab out of the list of its due height. */
export function removeDue(overlay: Overlay, height: number, tabId: TxId): void {
  const ids = overlay.get(TAB_DUES, height) ?? []
  const at = placeOf(ids, tabId)
  assert(ids[at] === tabId, 'a tab is not in the list of its due height')
  if (ids.length === 1) overlay.delete(TAB_DUES, height)
  else overlay.put(TAB_DUES, height, ids.toSpliced(at, 1))
}

/** Index of the first id that is not below `id`. */
function placeOf(ids: readonly TxId[], id: TxId): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ids[middle] as TxId) < id) low = middle + 1
    else high = middle
  }
  return low
}
