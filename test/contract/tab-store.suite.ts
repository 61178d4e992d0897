import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hash, TxId } from '../../consensus/primitives/ids.ts'
import { sealer } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import type { EndedTabCall, ReservedTabCall, TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import { AGAIN } from '../support/market.ts'
import { TEST_SIGNER } from '../support/tabs.ts'
import { filled, units } from '../support/unsigned.ts'

/** An open store of tabs. */
export type OpenTabStore = TabStore & { close(): Promise<void> }

/** An implementation under test: a storage that can be opened, closed and opened again. */
export interface TabStoreFixture {
  readonly open: () => Promise<OpenTabStore>
  readonly remove: () => Promise<void>
}

const TAB = filled<TxId>(1)
const PRICE = 100n
const BOUNDS = { most: units(1_000_000), claimed: units(0), receipts: 0 }
const SEAL = sealer(TEST_SIGNER, { chainId: 1, genesis: filled(0) })

function callOf(seq: number, change: Partial<ReservedTabCall> = {}): ReservedTabCall {
  const voucher = { seq, ceiling: units(BigInt(seq) * PRICE), context: filled<Hash>(seq), signature: 'ab'.repeat(64) }
  return {
    ...{ state: 'claimed', tabId: TAB, seq, serviceId: AGAIN, request: `ok – ${seq} "quoted"`, voucher },
    ...{ requestHash: filled(2), caller: 'cd'.repeat(32), price: `${PRICE}`, priceUsdMicros: '7', claimedAtMs: 5 },
    isRepeatable: true,
    ...change,
  }
}

function endedOf(call: ReservedTabCall, change: Partial<EndedTabCall> = {}): EndedTabCall {
  const end = { charge: units(PRICE), result: `"€ ${call.seq}"`, resultHash: filled<Hash>(3), finishedAtMs: 1_000 }
  return { call, ...end, reason: null, message: null, ...change }
}

/** Tests for every store of tabs; `make` gives an empty one. */
export function tabStoreSuite(name: string, make: () => TabStoreFixture): void {
  describe(`the store of tabs ${name}`, () => {
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
    const hold = async (...calls: readonly ReservedTabCall[]): Promise<void> => {
      for (const call of calls) {
        expect(await store.reserve(call, BOUNDS)).toEqual({ is: 'held' })
        expect(await store.begin({ ...call, state: 'executing', startedAtMs: 6 })).toBe(true)
      }
    }
    const answer = async (...calls: readonly ReservedTabCall[]) => {
      await hold(...calls)
      return store.commit(
        calls.map((call) => endedOf(call)),
        SEAL,
      )
    }

    it('gives back every field of an answer, its receipt and its tab, also after a start', async () => {
      const [answered] = await answer(callOf(1))
      await reopen()
      expect(await store.call(TAB, 1)).toEqual(answered)
      expect(await store.receiptsFrom(TAB, 1, 10)).toEqual([answered?.receipt])
      const row = { charged: PRICE, reserved: 0n, receipts: 1, window: { low: 2, used: 0n }, seqMax: 1 }
      expect(await store.tab(TAB)).toMatchObject({ ...row, voucher: callOf(1).voucher, lastReceipt: answered?.receipt })
      expect(await store.call(TAB, 2)).toBeUndefined()
      expect(await store.tab(filled(9))).toBeUndefined()
    })

    it('lets one of many reservations of a number win, and shows the winner to the others', async () => {
      const calls = Array.from({ length: 50 }, (_, i) => callOf(1, { request: `call ${i}` }))
      const told = await Promise.all(calls.map((call) => store.reserve(call, BOUNDS)))
      expect(told.filter(({ is }) => is === 'held')).toHaveLength(1)
      const winner = calls[told.findIndex(({ is }) => is === 'held')]
      expect(new Set(told.flatMap((one) => (one.is === 'known' ? [one.call] : [])))).toEqual(new Set([winner]))
      expect(store.peek(TAB)?.reserved).toBe(PRICE)
    })

    it('holds no more than the highest ceiling and the bound', async () => {
      const low = { ...callOf(2).voucher, ceiling: units(PRICE) }
      expect(await store.reserve(callOf(3, { voucher: low, price: '101' }), BOUNDS)).toEqual({ is: 'refused' })
      await hold(callOf(1))
      expect(await store.reserve(callOf(2, { voucher: low }), BOUNDS)).toEqual({ is: 'refused' })
      expect(await store.reserve(callOf(2), { ...BOUNDS, most: units(199) })).toEqual({ is: 'refused' })
      expect(await store.reserve(callOf(2), { ...BOUNDS, most: units(200) })).toEqual({ is: 'held' })
      expect(await store.reserve(callOf(400), BOUNDS)).toEqual({ is: 'refused' })
    })

    it('goes on from the claims on chain where it has less', async () => {
      const bounds = { ...BOUNDS, claimed: units(500), receipts: 4 }
      expect(await store.reserve(callOf(5), bounds)).toEqual({ is: 'refused' })
      expect(await store.reserve(callOf(6), bounds)).toEqual({ is: 'held' })
      const [answered] = await store.commit([endedOf(callOf(6))], SEAL)
      expect(answered?.receipt.receipt).toMatchObject({ n: 5, cumulative: 600n })
    })

    it('gives receipts without holes, in the order of the commits, and answers no call twice', async () => {
      await hold(callOf(1), callOf(2), callOf(3))
      const [third] = await store.commit([endedOf(callOf(3))], SEAL)
      const rest = await store.commit([endedOf(callOf(2)), endedOf(callOf(3)), endedOf(callOf(1))], SEAL)
      expect(rest[1]).toEqual(third)
      const receipts = await store.receiptsFrom(TAB, 1, 10)
      expect(receipts.map(({ receipt }) => [receipt.n, receipt.seq])).toEqual([
        [1, 3],
        [2, 2],
        [3, 1],
      ])
      expect(await store.receiptsFrom(TAB, 2, 1)).toEqual([receipts[1]])
      expect(store.peek(TAB)).toMatchObject({ charged: 300n, reserved: 0n, window: { low: 4 } })
      expect(await store.begin(callOf(1))).toBe(false)
    })

    it('keeps work that must not be done twice, and forgets the other at a start', async () => {
      await hold(callOf(1), callOf(2, { isRepeatable: false }))
      expect((await store.open()).map(({ seq }) => seq)).toEqual([1, 2])
      await reopen()
      const begun = { ...callOf(2, { isRepeatable: false }), state: 'executing', startedAtMs: 6 }
      expect(await store.open()).toEqual([begun])
      expect([await store.call(TAB, 1), await store.call(TAB, 2)]).toEqual([undefined, begun])
      const failed = { charge: units(0), result: null, reason: 'service/interrupted', message: 'it was' } as const
      const [answered] = await store.commit([endedOf(callOf(2, { isRepeatable: false }), failed)], SEAL)
      expect(answered).toMatchObject({ state: 'failed', reason: 'service/interrupted', receipt: { receipt: { n: 1 } } })
      await reopen()
      expect(await store.open()).toEqual([])
    })

    it('lists tabs that a claim may be due for', async () => {
      expect(await store.unclaimed()).toEqual([])
      await answer(callOf(1))
      await store.mark(filled(2), { refundAskedAtMs: 9 })
      const due = async () => (await store.unclaimed()).map(({ tabId }) => tabId)
      expect(await due()).toEqual([TAB, filled(2)])
      await store.mark(TAB, { finalReceipts: 1 })
      await store.mark(filled(2), { endedAtMs: 10 })
      expect(await due()).toEqual([])
      await answer(callOf(2))
      await reopen()
      expect(await due()).toEqual([TAB])
    })

    it('keeps marks and calls that are written at the same time', async () => {
      await hold(callOf(1))
      await Promise.all([
        store.commit([endedOf(callOf(1))], SEAL),
        store.mark(TAB, { lostReceipt: 7 }),
        store.mark(TAB, { refundAskedAtMs: 8 }),
      ])
      await reopen()
      expect(await store.tab(TAB)).toMatchObject({ receipts: 1, charged: PRICE, lostReceipt: 7, refundAskedAtMs: 8 })
    })

    it('keeps claims until they are dropped', async () => {
      const entry = { tabId: TAB, claimed: units(5), receipts: 2, root: filled<Hash>(4), close: false }
      const claims = [2, 1].map((number) => ({
        ...{ txId: filled<TxId>(number), entries: [entry], transaction: '00ff', madeAtMs: 3 - number },
      }))
      for (const claim of claims.toReversed()) await store.putClaim(claim)
      await reopen()
      expect(await store.claims()).toEqual(claims)
      await store.dropClaim(filled(2))
      expect(await store.claims()).toEqual(claims.slice(1))
    })

    it('deletes old results whose receipts are final, the oldest beyond the bytes, and tabs some time after their end', async () => {
      await answer(callOf(1), callOf(2), callOf(3))
      const results = async () => Promise.all([1, 2, 3].map(async (seq) => (await store.call(TAB, seq))?.result))
      expect(await store.prune(2_000, 1_000)).toBe(0)
      await store.mark(TAB, { finalReceipts: 1 })
      expect(await store.prune(1_000, 1_000)).toBe(0)
      expect(await store.prune(1_001, 1_000)).toBe(1)
      expect(await results()).toEqual([null, '"€ 2"', '"€ 3"'])
      expect(await store.prune(1_001, 7)).toBe(1)
      expect(await results()).toEqual([null, null, '"€ 3"'])
      await store.mark(TAB, { endedAtMs: 5_000 })
      expect(await store.prune(5_000, 1_000)).toBe(1)
      expect((await store.receiptsFrom(TAB, 1, 9)).length).toBe(3)
      await store.prune(5_001, 1_000)
      expect([await store.tab(TAB), await store.call(TAB, 3), await store.unclaimed()]).toEqual([
        undefined,
        undefined,
        [],
      ])
    })
  })
}
