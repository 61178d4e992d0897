import { expect, it } from 'vitest'
import { LAUNCH_RULES, TAB_RULES } from '../../../../config/networks/rules.ts'
import type { ConnectedBlock } from '../../../../consensus/chain/events.ts'
import { fromHex, toHex, uintLE } from '../../../../consensus/primitives/bytes.ts'
import type { Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import { decodeOutcomes, OUTCOMES, operatorOutcomesKey } from '../../../../marketplace/ledger/outcomes.ts'
import { TABS, type Tab } from '../../../../marketplace/ledger/tab-records.ts'
import { agentId, filled, SAMPLE, units } from '../../../support/unsigned.ts'

const MOST = 0xffff_ffff
const PER_BLOCK = 64

function tabIdOf(number: number): TxId {
  return number.toString(16).padStart(64, '0') as TxId
}

function hexOf(count: number): string {
  return toHex(uintLE(BigInt(count), 8))
}

const TAB = {
  ...{ version: 1, agentId: agentId('acme'), payer: filled(7), payout: filled(8), insider: false, scheme: 0x11 },
  ...{ voucherKey: filled<Hash>(1), receiptKey: filled<Hash>(1), deposit: units(1_000_000), claimed: units(0) },
  ...{ receipts: 0, chain: filled<Hash>(0), openedAt: 1, expiresAt: 1_201, closeDelay: 400, closesAt: 0 },
} as Tab

/** A block with a claim that ends tabs and counts as many failed calls as an entry can hold. */
function blockOf(first: number): ConnectedBlock {
  const ids = Array.from({ length: PER_BLOCK }, (_, i) => tabIdOf(first + i))
  const entry = { voucher: [], claimed: units(0), close: true, receipts: MOST, failed: MOST, services: [] }
  const payload = SAMPLE.tab_claim(ids.map((tabId) => ({ ...entry, tabId, root: filled<Hash>(5) })))
  const txId = tabIdOf(1_000_000_000 + first)
  return {
    block: { header: { height: 5 }, transactions: [{ txId, body: { kind: 'tab_claim', sender: filled(9), payload } }] },
    receipts: [{ type: 'transaction', txId, code: 0, entries: ids.map(() => 0), amounts: [] }],
    parentState: { get: (table: unknown, id: TxId) => (table === TABS && ids.includes(id) ? TAB : undefined) },
    rules: { ...LAUNCH_RULES, tx: { ...LAUNCH_RULES.tx, tabs: TAB_RULES } },
    changes: [],
  } as unknown as ConnectedBlock
}

it('failed calls of tabs are counted up to what a record holds: a seller can claim any number of them', () => {
  const key = operatorOutcomesKey(agentId('acme'))
  const store = new Map<string, Uint8Array>()
  const fold = (first: number): void => {
    for (const { key: at, value } of OUTCOMES.fold(blockOf(first), (one) => store.get(toHex(one))))
      if (value !== undefined) store.set(toHex(at), value)
  }
  const failed = (): number => decodeOutcomes(store.get(toHex(key))).failedByTab
  fold(0)
  expect(failed()).toBe(PER_BLOCK * MOST)
  // Two million such entries bring the count to its bound. One short cut stands for them.
  const later = toHex(store.get(toHex(key)) as Uint8Array).replace(
    hexOf(failed()),
    hexOf(Number.MAX_SAFE_INTEGER - MOST),
  )
  store.set(toHex(key), fromHex(later))
  expect(failed()).toBe(Number.MAX_SAFE_INTEGER - MOST)
  fold(PER_BLOCK)
  expect(failed()).toBe(Number.MAX_SAFE_INTEGER)
})
