import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AMOUNT_MAX } from '../../consensus/primitives/amount.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { NEW_WINDOW, SEQ_WINDOW } from '../../marketplace/till/rails/tab/seq-window.ts'
import type {
  ReservedTabCall,
  TabClaimRow,
  TabMark,
  TabRow,
  TabStore,
} from '../../marketplace/till/rails/tab/tab-store.ts'
import { txIdOf } from '../support/claims.ts'
import {
  begun,
  type CallFacts,
  delivering,
  failing,
  reserved,
  sealed,
  tabIdOf,
  units,
  upTo,
} from '../support/tab-calls.ts'

/** An open store of tabs. */
export type OpenTabStore = TabStore & { close(): Promise<void> }

/** An implementation under test: a place in which the store can be opened, closed and opened again. */
export interface TabStoreFixture {
  readonly open: () => Promise<OpenTabStore>
  readonly remove: () => Promise<void>
}

const PLENTY = upTo(1_000_000)

/** Tests for every store of tabs; `make` gives an empty one. */
export function tabStoreSuite(name: string, make: () => TabStoreFixture): void {
  describe(`the tab store ${name}`, () => {
    let fixture: TabStoreFixture
    let store: OpenTabStore
    beforeEach(async () => {
      fixture = make()
      store = await fixture.open()
    })
    afterEach(async () => {
      await store.close()
      await fixture.remove()
    })
    const reopen = async (): Promise<void> => {
      await store.close()
      store = await fixture.open()
    }
    const hold = async (seq: number, facts: CallFacts = {}): Promise<ReservedTabCall> => {
      const call = reserved(seq, facts)
      expect(await store.reserve(call, PLENTY)).toEqual({ is: 'held' })
      return call
    }
    /** Brings a new call to its end through the same steps as a paid call. */
    const deliver = async (seq: number, facts: CallFacts = {}, end: Parameters<typeof delivering>[1] = {}) => {
      const call = begun(await hold(seq, facts))
      expect(await store.begin(call)).toBe(true)
      const [answered] = await store.commit([delivering(call, end)], sealed)
      return answered
    }

    it('gives back every field of a call under way, delivered or failed, and of its tab', async () => {
      expect(await store.tab(tabIdOf(1))).toBeUndefined()
      expect(await store.call(tabIdOf(1), 1)).toBeUndefined()
      const [first, second, third] = [await hold(1), await hold(2, { isRepeatable: false }), await hold(3)]
      expect(await store.call(first.tabId, 1)).toEqual(first)
      expect(await store.begin(begun(second))).toBe(true)
      expect(await store.call(second.tabId, 2)).toEqual(begun(second))
      const [delivered, failed] = await store.commit([delivering(begun(first)), failing(third)], sealed)
      expect(delivered).toMatchObject({ state: 'delivered', result: '{"echo":"€"}', receipt: { receipt: { n: 1 } } })
      expect(failed).toMatchObject({
        state: 'failed',
        result: null,
        reason: 'service/failed',
        receipt: { receipt: { n: 2 } },
      })
      for (const answered of [delivered, failed])
        expect(await store.call(tabIdOf(1), answered?.seq as number)).toEqual(answered)
      const tab = {
        tabId: tabIdOf(1),
        charged: units(10),
        receipts: 2,
        uncharged: 1,
        window: { low: 2, used: 2n },
        seqMax: 3,
        voucher: first.voucher,
        lastReceipt: failed?.receipt,
        refundAskedAtMs: null,
        lostReceipt: null,
        finalReceipts: 0,
        endedAtMs: null,
      }
      expect(store.peek(tabIdOf(1))).toEqual({ ...tab, reserved: units(10) })
      expect(await store.tab(tabIdOf(1))).toMatchObject(tab)
      await reopen()
      expect(await store.tab(tabIdOf(1))).toMatchObject(tab)
      for (const answered of [delivered, failed])
        expect(await store.call(tabIdOf(1), answered?.seq as number)).toEqual(answered)
    })

    it('holds amounts of any size exactly', async () => {
      const ceiling = AMOUNT_MAX
      const call = reserved(1, { price: ceiling - 1n, ceiling })
      expect(await store.reserve(call, { most: units(ceiling), claimed: units(1), receipts: 0 })).toEqual({
        is: 'held',
      })
      await store.commit([delivering(call)], sealed)
      expect(await store.tab(tabIdOf(1))).toMatchObject({ charged: ceiling, voucher: { ceiling } })
    })

    it('lets exactly one of many concurrent calls have a number, and shows it to all others', async () => {
      const calls = Array.from({ length: 50 }, (_, i) => ({ ...reserved(1), request: `call ${i}` }))
      const answers = await Promise.all(calls.map((call) => store.reserve(call, PLENTY)))
      const winners = calls.filter((_, i) => answers[i]?.is === 'held')
      expect(winners.length).toBe(1)
      expect(answers.filter(({ is }) => is !== 'held')).toEqual(
        Array.from({ length: 49 }, () => ({ is: 'known', call: winners[0] })),
      )
      expect(store.peek(tabIdOf(1))?.reserved).toBe(units(10))
    })

    it('shows a call that has its answer to one that has its number', async () => {
      const answered = await deliver(1)
      expect(await store.reserve(reserved(1), PLENTY)).toEqual({ is: 'known', call: answered })
    })

    it('holds calls up to the highest ceiling seen, in any order, and not a unit more', async () => {
      expect(await store.reserve(reserved(1, { ceiling: 9 }), PLENTY)).toEqual({ is: 'refused' })
      await hold(2, { ceiling: 25 })
      await hold(1, { ceiling: 5 })
      expect(await store.reserve(reserved(3, { price: 6, ceiling: 25 }), PLENTY)).toEqual({ is: 'refused' })
      await hold(3, { price: 5, ceiling: 1 })
      await hold(4, { price: 1, ceiling: 26 })
      expect(store.peek(tabIdOf(1))).toMatchObject({ reserved: units(26), voucher: { ceiling: units(26) }, seqMax: 4 })
    })

    it('holds calls up to what may be risked, whatever the ceiling', async () => {
      expect(await store.reserve(reserved(1), upTo(10))).toEqual({ is: 'held' })
      expect(await store.reserve(reserved(2), upTo(19))).toEqual({ is: 'refused' })
      expect(await store.reserve(reserved(2), upTo(20))).toEqual({ is: 'held' })
    })

    it('holds numbers within the window, and no number twice', async () => {
      expect(await store.reserve(reserved(SEQ_WINDOW + 1), PLENTY)).toEqual({ is: 'refused' })
      await deliver(SEQ_WINDOW)
      await deliver(2)
      expect(store.peek(tabIdOf(1))?.window).toEqual({ low: 1, used: (1n << BigInt(SEQ_WINDOW - 1)) | 2n })
      await deliver(1)
      expect(store.peek(tabIdOf(1))?.window.low).toBe(3)
      expect((await store.reserve(reserved(2), PLENTY)).is).toBe('known')
      expect((await store.reserve(reserved(SEQ_WINDOW), PLENTY)).is).toBe('known')
      expect(await store.reserve(reserved(SEQ_WINDOW + 3), PLENTY)).toEqual({ is: 'refused' })
      await deliver(SEQ_WINDOW + 2)
    })

    it('leaves a tab as it was when it refuses a call', async () => {
      await deliver(1)
      const before = store.peek(tabIdOf(1))
      await store.reserve(reserved(2, { price: 1_000_001, ceiling: 1_000_000 }), PLENTY)
      await store.reserve(reserved(2, { price: 1_000, ceiling: 2_000_000 }), upTo(500))
      await store.reserve(reserved(1_000, { ceiling: 2_000_000 }), PLENTY)
      expect(await store.call(tabIdOf(1), 2)).toBeUndefined()
      expect(store.peek(tabIdOf(1))).toEqual(before)
    })

    it('goes on from what was claimed on chain if it has less', async () => {
      const bounds = { most: units(1_000), claimed: units(100), receipts: 7 }
      expect(await store.reserve(reserved(1, { ceiling: 109 }), bounds)).toEqual({ is: 'refused' })
      const call = reserved(1, { ceiling: 110 })
      expect(await store.reserve(call, bounds)).toEqual({ is: 'held' })
      const [answered] = await store.commit([delivering(call)], sealed)
      expect(answered?.receipt.receipt).toMatchObject({ n: 8, cumulative: units(110) })
      expect(await store.tab(tabIdOf(1))).toMatchObject({ charged: units(110), receipts: 8 })
    })

    it('gives back the rest of a price when less was charged, and all of it after a failure', async () => {
      const [first, second] = [await hold(1, { ceiling: 20 }), await hold(2, { ceiling: 20 })]
      expect(await store.reserve(reserved(3, { ceiling: 20 }), PLENTY)).toEqual({ is: 'refused' })
      await store.commit([delivering(first, { charge: 4 }), failing(second)], sealed)
      expect(store.peek(tabIdOf(1))).toMatchObject({ charged: units(4), reserved: units(0) })
      await hold(3, { price: 16, ceiling: 20 })
    })

    it('numbers the receipts of all groups without holes, whatever their order', async () => {
      const calls: ReservedTabCall[] = []
      for (let seq = 1; seq <= 40; seq++) for (const tab of [1, 2, 3]) calls.push(await hold(seq, { tab, price: seq }))
      const groups = Array.from({ length: 12 }, (_, i) => calls.filter((__, j) => (j * 7) % 12 === i).reverse())
      const ends = groups.map((group) => group.map((call) => (call.seq % 5 === 0 ? failing(call) : delivering(call))))
      await Promise.all(ends.map((group) => store.commit(group, sealed)))
      for (const tab of [1, 2, 3].map(tabIdOf)) {
        const receipts = (await store.receiptsFrom(tab, 1, 100)).map(({ receipt }) => receipt)
        expect(receipts.map(({ n }) => n)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
        expect(receipts.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(
          Array.from({ length: 40 }, (_, i) => i + 1),
        )
        let sum = 0n
        for (const { charged, cumulative } of receipts) {
          sum += charged
          expect(cumulative).toBe(sum)
        }
        expect(await store.tab(tab)).toMatchObject({
          charged: sum,
          receipts: 40,
          lastReceipt: { receipt: receipts[39] },
        })
        expect(store.peek(tab)?.reserved).toBe(units(0))
      }
    })

    it('pages through receipts', async () => {
      for (let seq = 1; seq <= 12; seq++) await deliver(seq)
      const ns = async (n: number, limit: number) =>
        (await store.receiptsFrom(tabIdOf(1), n, limit)).map(({ receipt }) => receipt.n)
      expect(await ns(1, 5)).toEqual([1, 2, 3, 4, 5])
      expect(await ns(9, 5)).toEqual([9, 10, 11, 12])
      expect(await ns(13, 5)).toEqual([])
      expect(await store.receiptsFrom(tabIdOf(2), 1, 5)).toEqual([])
    })

    it('gives a call one answer, however often and with whatever end it is committed', async () => {
      const call = await hold(1)
      const ends = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? failing(call) : delivering(call)))
      const answers = (await Promise.all(ends.map((end) => store.commit([end], sealed)))).flat()
      expect(new Set(answers.map((answer) => JSON.stringify(answer?.receipt.signature))).size).toBe(1)
      await reopen()
      const other = await hold(2)
      expect(await store.commit([delivering(call, { result: '"another"' }), delivering(other)], sealed)).toEqual([
        answers[0],
        await store.call(tabIdOf(1), 2),
      ])
      expect((await store.tab(tabIdOf(1)))?.receipts).toBe(2)
    })

    it('neither begins nor answers a call that was never taken', async () => {
      await hold(1)
      expect(await store.begin(begun(reserved(2)))).toBe(false)
      expect(await store.begin(begun(reserved(2, { isRepeatable: false })))).toBe(false)
      expect(await store.commit([delivering(reserved(2)), delivering(reserved(1, { tab: 2 }))], sealed)).toEqual([
        null,
        null,
      ])
      expect(await store.tab(tabIdOf(2))).toBeUndefined()
    })

    it('knows after a start the calls whose work must not be done twice; the others are simply asked again', async () => {
      const calls = [await hold(1), await hold(2, { isRepeatable: false }), await hold(3, { isRepeatable: false })]
      for (const call of calls.slice(0, 2)) expect(await store.begin(begun(call))).toBe(true)
      expect((await store.open()).map(({ seq }) => seq).sort()).toEqual([1, 2, 3])
      await reopen()
      expect(await store.open()).toEqual([begun(calls[1] as ReservedTabCall)])
      expect(await store.call(tabIdOf(1), 2)).toEqual(begun(calls[1] as ReservedTabCall))
      expect(store.peek(tabIdOf(1))?.reserved).toBe(units(10))
      for (const seq of [1, 3]) await deliver(seq)
      await store.commit([failing(calls[1] as ReservedTabCall)], sealed)
      expect(store.peek(tabIdOf(1))).toMatchObject({ charged: units(20), reserved: units(0), receipts: 3 })
      expect(await store.open()).toEqual([])
    })

    it('knows after a start the vouchers of calls whose work must not be done twice: they cover the calls before them', async () => {
      const first = await hold(1, { ceiling: 10 })
      await store.begin(begun(await hold(2, { ceiling: 20, isRepeatable: false })))
      await reopen()
      expect(await store.reserve(first, PLENTY)).toEqual({ is: 'held' })
      expect(await store.reserve(reserved(3, { ceiling: 20 }), PLENTY)).toEqual({ is: 'refused' })
    })

    it('never holds more than the ceilings and the bounds, in whatever order calls come', async () => {
      const tabs = Array.from({ length: 8 }, (_, i) => i + 1)
      // 125 calls of each tab want 10 each; its ceiling covers 60 of them, or the bound 40.
      const most = (tab: number): number => (tab % 2 === 0 ? 400 : 1_000_000)
      const calls = tabs.flatMap((tab) =>
        Array.from({ length: 125 }, (_, i) => ({ tab, call: reserved(i + 1, { tab, ceiling: 605 }) })),
      )
      const order = calls.map((one, i) => ({ ...one, at: (i * 619) % calls.length })).sort((a, b) => a.at - b.at)
      const answers = await Promise.all(order.map(({ tab, call }) => store.reserve(call, upTo(most(tab)))))
      for (const tab of tabs) {
        const held = order.filter((one, i) => one.tab === tab && answers[i]?.is === 'held').length
        expect(held).toBe(tab % 2 === 0 ? 40 : 60)
        await store.call(tabIdOf(tab), 1)
        expect(store.peek(tabIdOf(tab))?.reserved).toBe(units(held * 10))
      }
    })

    it('keeps what is noted of a tab, and makes a row for one without calls', async () => {
      const marks: readonly TabMark[] = [
        { refundAskedAtMs: 5 },
        { lostReceipt: 9 },
        { finalReceipts: 4, endedAtMs: 1_800_000_000_000 },
        { refundAskedAtMs: null },
      ]
      for (const mark of marks) await store.mark(tabIdOf(1), mark)
      const row = {
        refundAskedAtMs: null,
        lostReceipt: 9,
        finalReceipts: 4,
        endedAtMs: 1_800_000_000_000,
        window: NEW_WINDOW,
      }
      expect(await store.tab(tabIdOf(1))).toMatchObject(row)
      await reopen()
      expect(await store.tab(tabIdOf(1))).toMatchObject({ ...row, receipts: 0, charged: units(0), voucher: null })
    })

    it('keeps marks and calls that are written at the same time', async () => {
      const call = await hold(1)
      const commit = store.commit([delivering(call)], sealed)
      await Promise.all([
        commit,
        store.mark(tabIdOf(1), { lostReceipt: 7 }),
        store.mark(tabIdOf(1), { finalReceipts: 8 }),
      ])
      await reopen()
      expect(await store.tab(tabIdOf(1))).toMatchObject({
        receipts: 1,
        charged: units(10),
        lostReceipt: 7,
        finalReceipts: 8,
      })
    })

    it('lists the tabs that a claim may be due for', async () => {
      const due = async () => (await store.unclaimed()).map(({ tabId }) => tabId).sort()
      for (const tab of [1, 2, 3, 4]) await deliver(1, { tab })
      await hold(1, { tab: 5 })
      await store.mark(tabIdOf(2), { finalReceipts: 1 })
      await store.mark(tabIdOf(3), { endedAtMs: 5 })
      await store.mark(tabIdOf(4), { finalReceipts: 1, refundAskedAtMs: 5 })
      await store.mark(tabIdOf(6), { refundAskedAtMs: 5 })
      expect(await due()).toEqual([1, 4, 6].map(tabIdOf))
      await deliver(2, { tab: 2 })
      await reopen()
      expect(await due()).toEqual([1, 2, 4, 6].map(tabIdOf))
      const [first] = (await store.unclaimed()) as [TabRow]
      expect(first).toEqual(await store.tab(first.tabId))
    })

    it('keeps claims, oldest first, until they are dropped', async () => {
      const claim = (number: number, madeAtMs: number): TabClaimRow => ({
        txId: txIdOf(number),
        entries: [{ tabId: tabIdOf(1), claimed: units(30), receipts: 3, root: 'aa'.repeat(32) as Hash, close: true }],
        transaction: 'ff00',
        madeAtMs,
      })
      for (const one of [claim(1, 20), claim(2, 9), claim(3, 100)]) await store.putClaim(one)
      expect(await store.claims()).toEqual([claim(2, 9), claim(1, 20), claim(3, 100)])
      await store.dropClaim(txIdOf(1))
      await reopen()
      expect(await store.claims()).toEqual([claim(2, 9), claim(3, 100)])
    })

    describe('forgets', () => {
      const result = `"${'€'.repeat(100)}"`
      /** Of the calls 1 to `count` of tab 1, those whose results are kept. */
      const kept = async (count: number): Promise<readonly number[]> => {
        const seqs = Array.from({ length: count }, (_, i) => i + 1)
        const calls = await Promise.all(seqs.map((seq) => store.call(tabIdOf(1), seq)))
        return seqs.filter((_, i) => typeof calls[i]?.result === 'string')
      }

      it('results that are old and whose receipts are final, and keeps their receipts', async () => {
        for (let seq = 1; seq <= 4; seq++) await deliver(seq, {}, { result, finishedAtMs: seq * 100 })
        await store.mark(tabIdOf(1), { finalReceipts: 2 })
        expect(await store.prune(100, 1_000_000)).toBe(0)
        expect(await store.prune(401, 1_000_000)).toBe(2)
        expect(await kept(4)).toEqual([3, 4])
        expect(await store.call(tabIdOf(1), 1)).toMatchObject({ state: 'delivered', result: null })
        await reopen()
        expect(await store.prune(401, 1_000_000)).toBe(0)
        expect((await store.receiptsFrom(tabIdOf(1), 1, 10)).length).toBe(4)
      })

      it('the oldest results beyond a sum of bytes, until the rest fits', async () => {
        for (let seq = 1; seq <= 5; seq++) await deliver(seq, {}, { result, finishedAtMs: 10 - seq })
        expect(await store.prune(0, 5 * 302)).toBe(0)
        expect(await store.prune(0, 5 * 302 - 1)).toBe(1)
        expect(await kept(5)).toEqual([1, 2, 3, 4])
        expect(await store.prune(0, 2 * 302 + 1)).toBe(2)
        expect(await kept(5)).toEqual([1, 2])
        expect(await store.prune(0, 0)).toBe(2)
      })

      it('results of a payer that holds most of them before those of others', async () => {
        await deliver(1, { tab: 2, caller: '22'.repeat(32) }, { result, finishedAtMs: 1 })
        for (let seq = 1; seq <= 40; seq++) await deliver(seq, {}, { result, finishedAtMs: 1 + seq })
        expect(await store.prune(0, 38 * 302)).toBe(3)
        expect((await kept(40))[0]).toBe(4)
        expect(await store.call(tabIdOf(2), 1)).toMatchObject({ result })
      })

      it('everything of a tab some time after its end', async () => {
        await deliver(1, {}, { finishedAtMs: 5 })
        await deliver(1, { tab: 2 }, { finishedAtMs: 5 })
        await store.mark(tabIdOf(1), { endedAtMs: 50 })
        expect(await store.prune(6, 1_000_000)).toBe(1)
        expect(await store.tab(tabIdOf(1))).toMatchObject({ endedAtMs: 50 })
        await store.prune(51, 1_000_000)
        expect(await store.tab(tabIdOf(1))).toBeUndefined()
        expect(await store.call(tabIdOf(1), 1)).toBeUndefined()
        expect(await store.receiptsFrom(tabIdOf(1), 1, 10)).toEqual([])
        expect(await store.call(tabIdOf(2), 1)).toMatchObject({ state: 'delivered', result: '{"echo":"€"}' })
      })
    })
  })
}
