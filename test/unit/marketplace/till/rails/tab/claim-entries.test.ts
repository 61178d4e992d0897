import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ZERO_HEX_32 } from '../../../../../../consensus/primitives/bytes.ts'
import type { Hash, TxId } from '../../../../../../consensus/primitives/ids.ts'
import { encodeTabReceipt, type TabReceipt, tabReceiptsRoot } from '../../../../../../consensus/tx/tab-messages.ts'
import { EntryBuilder } from '../../../../../../marketplace/till/rails/tab/claim-entries.ts'
import { filled, serviceId, units } from '../../../../../support/unsigned.ts'

const TAB = filled<TxId>(7)
const VOUCHER = { seq: 9, ceiling: units(1_000_000), context: filled<Hash>(3), signature: 'ab'.repeat(64) }
const FROM = { deposit: units(1_000_000_000), tabId: TAB, claimed: units(500), receipts: 4, voucher: VOUCHER }

/** A call: the number of its service, and its charge; null for a failed one. */
type Call = readonly [number, number | null]

/** The receipts of calls after those that the chain has. */
function receiptsOf(calls: readonly Call[]): readonly TabReceipt[] {
  let cumulative = FROM.claimed as bigint
  return calls.map(([service, charge], i) => {
    cumulative += BigInt(charge ?? 0)
    const ids = { tabId: TAB, seq: i + 20, n: FROM.receipts + 1 + i, serviceId: serviceId(`node-${service}`) }
    const hashes = { context: filled<Hash>(1), resultHash: filled<Hash>(charge === null ? 0 : 2) }
    const sums = { outcome: charge === null ? 1 : 0, charged: units(charge ?? 0), cumulative: units(cumulative) }
    return { ...ids, ...hashes, ...sums, durationMs: 5, timeMs: 1_800_000_000_000 }
  })
}

function entriesOf(calls: readonly Call[], close = false, from = FROM) {
  const builder = new EntryBuilder(from)
  for (const receipt of receiptsOf(calls)) expect(builder.add(receipt)).toBe(true)
  return builder.entries(close)
}

const rootOf = (receipts: readonly TabReceipt[]): Hash => tabReceiptsRoot(receipts.map(encodeTabReceipt))

describe('the entries of a claim', () => {
  it('sum the calls by service and count failures, with a root over exactly these receipts', () => {
    const calls: readonly Call[] = [
      [1, 300],
      [2, 50],
      [1, null],
      [1, 100],
    ]
    const [entry, ...others] = entriesOf(calls)
    expect(others).toEqual([])
    expect(entry).toMatchObject({ tabId: TAB, claimed: 950n, receipts: 8, failed: 1, close: false })
    expect(entry?.services).toEqual([
      { serviceId: 'node-1', calls: 2, amount: 400n },
      { serviceId: 'node-2', calls: 1, amount: 50n },
    ])
    expect(entry?.root).toBe(rootOf(receiptsOf(calls)))
    expect(entry?.voucher).toEqual([{ ...VOUCHER, signature: new Uint8Array(64).fill(0xab) }])
  })

  it('need no voucher for failed calls alone, and end a tab with nothing to claim', () => {
    expect(entriesOf([[1, null]])).toMatchObject([{ voucher: [], claimed: 500n, receipts: 5, failed: 1, services: [] }])
    const nothing = { voucher: [], claimed: 500n, receipts: 4, failed: 0, services: [], root: ZERO_HEX_32, close: true }
    expect(entriesOf([], true)).toMatchObject([nothing])
    expect(entriesOf([], false)).toEqual([])
  })

  it('have at most eight services each, lose no receipt, and only the last ends the tab', () => {
    const call: fc.Arbitrary<Call> = fc.tuple(
      fc.integer({ min: 1, max: 20 }),
      fc.option(fc.integer({ min: 0, max: 9_000 }), { nil: null }),
    )
    fc.assert(
      fc.property(fc.array(call, { maxLength: 100 }), fc.boolean(), (calls, close) => {
        const receipts = receiptsOf(calls)
        const entries = entriesOf(calls, close)
        let [claimed, n] = [FROM.claimed as bigint, FROM.receipts]
        for (const [i, entry] of entries.entries()) {
          expect(entry.services.length).toBeLessThanOrEqual(8)
          const covered = receipts.slice(n - FROM.receipts, entry.receipts - FROM.receipts)
          expect(entry.root).toBe(covered.length === 0 ? ZERO_HEX_32 : rootOf(covered))
          expect(entry.services.reduce((sum, { amount }) => sum + amount, 0n)).toBe(entry.claimed - claimed)
          const calls = entry.services.reduce((sum, service) => sum + service.calls, 0)
          expect(calls + entry.failed).toBe(entry.receipts - n)
          expect(entry.close).toBe(close && i === entries.length - 1)
          ;[claimed, n] = [entry.claimed, entry.receipts]
        }
        expect([claimed, n]).toEqual([receipts.at(-1)?.cumulative ?? 500n, 4 + calls.length])
      }),
    )
  })
})

describe('a receipt', () => {
  const [first, second] = receiptsOf([
    [1, 300],
    [1, 300],
  ]) as [TabReceipt, TabReceipt]

  it('that is not the next one, or does not continue the sum, is refused and changes nothing', () => {
    const builder = new EntryBuilder(FROM)
    expect(builder.add(second)).toBe(false)
    expect(builder.add({ ...first, cumulative: units(799) })).toBe(false)
    expect(builder.add(first)).toBe(true)
    expect(builder.add(first)).toBe(false)
    expect([builder.next, builder.size]).toEqual([6, 1])
  })

  it('above the voucher is refused: the payer never signed for it', () => {
    const builder = new EntryBuilder({ ...FROM, voucher: { ...VOUCHER, ceiling: units(1_099) } })
    expect([builder.add(first), builder.add(second)]).toEqual([true, false])
    expect(new EntryBuilder({ ...FROM, voucher: null }).add(first)).toBe(false)
  })
})
