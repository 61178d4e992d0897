import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { ClaimKind, ClaimStore, StoredClaim } from '../../marketplace/till/claim-store.ts'
import { DOLLAR_CLAIMS, type DollarClaim } from '../../marketplace/till/rails/dollar/claim.ts'
import { type Claim, type FinishedClaim, NATIVE_CLAIMS } from '../../marketplace/till/rails/native/claim.ts'
import { claimed, delivered, dollarClaims, executing, failed, listed, txIdOf } from '../support/claims.ts'
import { listsOneService } from './claim-list.ts'

/** An open store of claims of one kind. */
export type OpenStore<C extends StoredClaim> = ClaimStore<C> & { close(): Promise<void> }

/** An implementation under test: a storage in which each kind of claims can be opened, closed and opened again. */
export interface ClaimStoreFixture {
  readonly open: <C extends StoredClaim>(kind: ClaimKind<C>) => Promise<OpenStore<C>>
  readonly remove: () => Promise<void>
}

type State = Claim['state']

/** Tests for every store of claims; `make` gives an empty one. */
export function claimStoreSuite(name: string, make: () => ClaimStoreFixture): void {
  describe(`the claim store ${name}`, () => {
    let fixture: ClaimStoreFixture
    let store: OpenStore<Claim>
    beforeEach(async () => {
      fixture = make()
      store = await fixture.open(NATIVE_CLAIMS)
    })
    afterEach(async () => {
      await store.close()
      await fixture.remove()
    })
    const reopen = async (): Promise<void> => {
      await store.close()
      store = await fixture.open(NATIVE_CLAIMS)
    }
    const idsOf = (claims: readonly Claim[]): readonly TxId[] => claims.map(({ txId }) => txId).sort()
    /** Brings a new claim to its state through the same steps as a call. */
    const put = async (claim: Claim): Promise<void> => {
      await store.claim({ ...claimed(0), txId: claim.txId, claimedAtMs: claim.claimedAtMs })
      if (claim.state === 'claimed') return
      await store.advance('claimed', { ...executing(0), txId: claim.txId, claimedAtMs: claim.claimedAtMs })
      if (claim.state !== 'executing') await store.advance('executing', claim)
    }

    it('gives back every field of a claim in every state', async () => {
      const states = [claimed(1), executing(2), delivered(3), failed(4)]
      for (const claim of states) await put(claim)
      for (const claim of states.slice(1)) expect(await store.get(claim.txId)).toEqual(claim)
      expect(await store.get(txIdOf(1))).toEqual({ ...claimed(0), txId: txIdOf(1), claimedAtMs: 1 })
      expect(await store.get(txIdOf(99))).toBeUndefined()
    })

    it('lets exactly one of many concurrent claims of a payment win and shows the winner to all others', async () => {
      const claims = Array.from({ length: 50 }, (_, i) => ({ ...claimed(1, i + 1), request: `call ${i}` }))
      const answers = await Promise.all(claims.map((claim) => store.claim(claim)))
      const winners = claims.filter((_, i) => answers[i] === null)
      expect(winners.length).toBe(1)
      expect(await store.get(txIdOf(1))).toEqual(winners[0])
      expect(answers.filter((known) => known !== null)).toEqual(Array.from({ length: 49 }, () => winners[0]))
    })

    it('claims different payments side by side', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => store.claim(claimed(i + 1))))
      expect(answers).toEqual(answers.map(() => null))
      expect((await store.open()).length).toBe(50)
    })

    it('does not write over a claim that is there, whatever its state', async () => {
      for (const claim of [executing(2), delivered(3), failed(4)]) {
        await put(claim)
        expect(await store.claim({ ...claimed(0), txId: claim.txId, request: 'another' })).toEqual(claim)
        expect(await store.get(claim.txId)).toEqual(claim)
      }
    })

    it('moves a claim only from the state that it is in', async () => {
      const all: readonly State[] = ['claimed', 'executing', 'delivered', 'failed']
      const number = { claimed: 1, executing: 2, delivered: 3, failed: 4 }
      for (const claim of [claimed(1), executing(2), delivered(3), failed(4)]) await put(claim)
      for (const state of all) {
        const before = await store.get(txIdOf(number[state]))
        for (const from of all.filter((other) => other !== state)) {
          expect(await store.advance(from, failed(number[state]))).toBe(false)
        }
        expect(await store.get(txIdOf(number[state]))).toEqual(before)
        expect(await store.advance(state, delivered(number[state]))).toBe(true)
        expect(await store.get(txIdOf(number[state]))).toEqual(delivered(number[state]))
      }
      expect(await store.advance('claimed', executing(99))).toBe(false)
      expect(await store.get(txIdOf(99))).toBeUndefined()
    })

    it('lets exactly one of many concurrent moves from a state happen', async () => {
      await put(executing(1))
      const ends = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? failed(1) : delivered(1)))
      const moved = await Promise.all(ends.map((next) => store.advance('executing', next)))
      expect(moved.filter(Boolean).length).toBe(1)
      expect(await store.get(txIdOf(1))).toEqual(ends[moved.indexOf(true)])
    })

    it('lists as open what is not finished or not settled, and nothing else', async () => {
      for (const claim of [claimed(1), executing(2), delivered(3), failed(4), delivered(5), failed(6)]) await put(claim)
      for (const claim of [delivered(5), failed(6)]) {
        await store.advance(claim.state, { ...claim, settlement: 'final' } as FinishedClaim)
      }
      expect(idsOf(await store.open())).toEqual([1, 2, 3, 4].map(txIdOf))
      await reopen()
      expect(idsOf(await store.open())).toEqual([1, 2, 3, 4].map(txIdOf))
      expect((await store.open()).find(({ txId }) => txId === txIdOf(3))).toEqual(delivered(3))
    })

    it('keeps everything that it confirmed over closing and opening again', async () => {
      for (const claim of [claimed(1), executing(2), delivered(3), failed(4)]) await put(claim)
      const before = await Promise.all([1, 2, 3, 4].map((number) => store.get(txIdOf(number))))
      const page = await store.recent(10, null)
      await reopen()
      expect(await Promise.all([1, 2, 3, 4].map((number) => store.get(txIdOf(number))))).toEqual(before)
      expect(await store.recent(10, null)).toEqual(page)
      expect(await store.claim(claimed(2))).toEqual(executing(2))
    })

    it('pages through claims newest first, each once, also while newer ones arrive', async () => {
      // Neighbours have the same time, so only their ids order them.
      for (let i = 1; i <= 23; i++) await put(claimed(i, 1_700_000_000_000 + (i >> 1)))
      const seen: Claim[] = []
      let cursor: string | null = null
      do {
        const page = await store.recent(5, cursor)
        seen.push(...page.claims)
        expect(page.claims.length).toBe(page.nextCursor === null ? 23 % 5 : 5)
        cursor = page.nextCursor
        await store.claim(claimed(1_000 + seen.length, 1_800_000_000_000 + seen.length))
      } while (cursor !== null)
      expect(idsOf(seen)).toEqual(idsOf(Array.from({ length: 23 }, (_, i) => claimed(i + 1))))
      const times = seen.map(({ claimedAtMs }) => claimedAtMs)
      expect(times).toEqual([...times].sort((a, b) => b - a))
    })

    it('says that a page is the last one when exactly as many claims are left', async () => {
      expect(await store.recent(5, null)).toEqual({ claims: [], nextCursor: null })
      for (let i = 1; i <= 5; i++) await put(claimed(i))
      expect((await store.recent(5, null)).nextCursor).toBeNull()
    })

    it('lists the claims of one service in the order of all, each once, in pages of any length', () =>
      listsOneService(store))

    it('lists claims without their results, which would have to be read for nothing', async () => {
      for (const claim of [executing(1), delivered(2), failed(3)]) await put(claim)
      const { claims } = await store.recent(10, null)
      expect(claims).toEqual(
        [...[executing(1), delivered(2), failed(3)].map(listed)].sort((a, b) => b.claimedAtMs - a.claimedAtMs),
      )
    })

    it('moves no claim to another place of the list when its state changes', async () => {
      for (let i = 1; i <= 3; i++) await put(claimed(i, i * 10))
      await store.advance('claimed', { ...executing(1), claimedAtMs: 10 })
      const { claims } = await store.recent(10, null)
      expect(claims.map(({ txId }) => txId)).toEqual([3, 2, 1].map(txIdOf))
    })

    it('forgets results finished before a time and keeps their claims', async () => {
      for (const [number, finishedAtMs] of [100, 200, 300].entries()) await put(delivered(number + 1, { finishedAtMs }))
      await put(failed(4))
      expect(await store.pruneResults(300, 1_000_000)).toBe(2)
      expect(await store.get(txIdOf(1))).toEqual(delivered(1, { result: null, finishedAtMs: 100 }))
      expect(await store.get(txIdOf(2))).toEqual(delivered(2, { result: null, finishedAtMs: 200 }))
      expect(await store.get(txIdOf(3))).toEqual(delivered(3, { finishedAtMs: 300 }))
      expect(await store.get(txIdOf(4))).toEqual(failed(4))
      expect(await store.pruneResults(300, 1_000_000)).toBe(0)
      expect(idsOf(await store.open())).toEqual([1, 2, 3, 4].map(txIdOf))
    })

    it('forgets the oldest results beyond a sum of bytes, until the rest fits', async () => {
      const result = `"${'x'.repeat(98)}"`
      for (let i = 1; i <= 5; i++) await put(delivered(i, { result, finishedAtMs: i }))
      expect(await store.pruneResults(0, 500)).toBe(0)
      expect(await store.pruneResults(0, 499)).toBe(1)
      expect(await store.pruneResults(0, 250)).toBe(2)
      const kept = await Promise.all([1, 2, 3, 4, 5].map((number) => store.get(txIdOf(number))))
      expect(kept.map((claim) => claim?.state === 'delivered' && claim.result !== null)).toEqual([
        false,
        false,
        false,
        true,
        true,
      ])
      expect(await store.pruneResults(0, 0)).toBe(2)
    })

    it('counts the bytes of a result, not its characters', async () => {
      const result = `"${'€'.repeat(100)}"`
      await put(delivered(1, { result, finishedAtMs: 1 }))
      await put(delivered(2, { result, finishedAtMs: 2 }))
      expect(await store.pruneResults(0, 604)).toBe(0)
      expect(await store.pruneResults(0, 603)).toBe(1)
      expect(await store.get(txIdOf(1))).toEqual(delivered(1, { result: null, finishedAtMs: 1 }))
    })

    it('counts a result once, however often its claim is written again', async () => {
      const result = `"${'x'.repeat(98)}"`
      await put(delivered(1, { result, finishedAtMs: 1 }))
      const claim = delivered(1, { result, finishedAtMs: 1 })
      await store.advance('delivered', { ...claim, settlement: 'final' } as FinishedClaim)
      expect(await store.pruneResults(0, 100)).toBe(0)
      expect(await store.pruneResults(0, 99)).toBe(1)
      expect(await store.get(txIdOf(1))).toEqual({ ...claim, result: null, settlement: 'final' })
      await reopen()
      expect(await store.pruneResults(0, 0)).toBe(0)
    })

    describe('beyond the bytes', () => {
      /** Stores results of given payers, lengths and prices; number 1 is the oldest. */
      const fill = async (...results: readonly { caller: string; bytes: number; price?: bigint }[]): Promise<void> => {
        for (const [i, { caller, bytes, price = 2_000n }] of results.entries()) {
          const paid = { caller, priceUsdMicros: price.toString() }
          const result = `"${'x'.repeat(bytes - 2)}"`
          await put({ ...delivered(i + 1, { result, finishedAtMs: i + 1 }), ...paid } as FinishedClaim)
        }
      }
      /** Of the claims 1 to `count`, the numbers of those whose results are kept. */
      const kept = async (count: number): Promise<readonly number[]> => {
        const numbers = Array.from({ length: count }, (_, i) => i + 1)
        const claims = await Promise.all(numbers.map((number) => store.get(txIdOf(number))))
        return numbers.filter((_, i) => claims[i]?.state === 'delivered' && claims[i].result !== null)
      }

      it('forgets results of a payer who holds more than its part before an older one of another', async () => {
        const crowd = Array.from({ length: 9 }, () => ({ caller: 'greedy', bytes: 100 }))
        await fill({ caller: 'modest', bytes: 10 }, ...crowd)
        await store.handedOver(txIdOf(1))
        expect(await store.pruneResults(0, 810)).toBe(1)
        expect(await kept(10)).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10])
        expect(await store.pruneResults(0, 210)).toBe(6)
        expect(await kept(10)).toEqual([1, 9, 10])
      })

      it('forgets results of who holds more than its part before one of the same size and price', async () => {
        await fill(
          { caller: 'modest', bytes: 100 },
          ...Array.from({ length: 39 }, () => ({ caller: 'greedy', bytes: 100 })),
        )
        await store.handedOver(txIdOf(1))
        expect(await store.pruneResults(0, 2_000)).toBe(20)
        expect((await kept(40)).slice(0, 3)).toEqual([1, 22, 23])
      })

      it('forgets a delivered result before one that was never delivered, then the oldest', async () => {
        await fill(...Array.from({ length: 5 }, () => ({ caller: 'one', bytes: 100 })))
        for (const number of [2, 4]) await store.handedOver(txIdOf(number))
        await reopen()
        expect(await store.pruneResults(0, 400)).toBe(1)
        expect(await kept(5)).toEqual([1, 3, 4, 5])
        expect(await store.pruneResults(0, 200)).toBe(2)
        expect(await kept(5)).toEqual([3, 5])
      })

      it('knows that a result was delivered when its claim is written again', async () => {
        await fill({ caller: 'a', bytes: 100 }, { caller: 'b', bytes: 100 })
        await store.handedOver(txIdOf(2))
        await store.handedOver(txIdOf(2))
        const claim = (await store.get(txIdOf(2))) as FinishedClaim
        expect(await store.advance('delivered', { ...claim, settlement: 'final' })).toBe(true)
        expect(await store.pruneResults(0, 100)).toBe(1)
        expect(await kept(2)).toEqual([1])
      })

      it('forgets what is large for its price, under however many addresses it was bought', async () => {
        const crowd = Array.from({ length: 40 }, (_, i) => ({ caller: `address ${i}`, bytes: 100 }))
        await fill({ caller: 'old', bytes: 20 }, { caller: 'dear', bytes: 100, price: 100_000n }, ...crowd)
        for (const number of [1, 2]) await store.handedOver(txIdOf(number))
        expect(await store.pruneResults(0, 2_000)).toBe(22)
        expect((await kept(42)).slice(0, 3)).toEqual([1, 2, 25])
      })

      it('marks no answer of a payment that is not known or has no result', async () => {
        await put(failed(1))
        await put(executing(2))
        for (const number of [1, 2, 3]) await store.handedOver(txIdOf(number))
        expect(await store.get(txIdOf(1))).toEqual(failed(1))
        expect(await store.get(txIdOf(3))).toBeUndefined()
        expect(await store.pruneResults(1_000, 0)).toBe(0)
      })
    })

    it('releases a claim only from the state that it is in, and its payment can be claimed anew', async () => {
      for (const claim of [claimed(1), executing(2), delivered(3), failed(4)]) await put(claim)
      for (const claim of [executing(1), claimed(2), failed(3), delivered(4), claimed(99)]) {
        expect(await store.release(claim.state, claim.txId)).toBe(false)
      }
      expect(idsOf(await store.open())).toEqual([1, 2, 3, 4].map(txIdOf))
      for (const claim of [claimed(1), executing(2), delivered(3), failed(4)]) {
        expect(await store.release(claim.state, claim.txId)).toBe(true)
        expect(await store.get(claim.txId)).toBeUndefined()
        expect(await store.release(claim.state, claim.txId)).toBe(false)
      }
      expect(await store.open()).toEqual([])
      expect(await store.recent(10, null)).toEqual({ claims: [], nextCursor: null })
      expect(await store.pruneResults(1_000, 0)).toBe(0)
      expect(await store.claim(claimed(1))).toBeNull()
      await reopen()
      expect(idsOf(await store.open())).toEqual([txIdOf(1)])
    })

    it('lets a claim be released or moved, not both', async () => {
      await put(claimed(1))
      const did = await Promise.all([
        ...Array.from({ length: 10 }, () => store.release('claimed', txIdOf(1))),
        ...Array.from({ length: 10 }, () => store.advance('claimed', executing(1))),
      ])
      expect(did.filter(Boolean).length).toBe(1)
      expect(await store.get(txIdOf(1))).toEqual(did.indexOf(true) < 10 ? undefined : executing(1))
    })

    it('has a page begin where the one before ended, by a cursor of time and id', async () => {
      for (let i = 1; i <= 3; i++) await put(claimed(i, 1_700_000_000_000))
      const { nextCursor } = await store.recent(2, null)
      expect(nextCursor).toBe(`001700000000000/${txIdOf(2)}`)
      expect(idsOf((await store.recent(2, nextCursor)).claims)).toEqual([txIdOf(1)])
    })
  })

  dollarClaimsSuite(name, make)
}

function dollarClaimsSuite(name: string, make: () => ClaimStoreFixture): void {
  describe(`the claim store ${name}, for the stablecoin rail`, () => {
    let fixture: ClaimStoreFixture
    let store: OpenStore<DollarClaim>
    beforeEach(async () => {
      fixture = make()
      store = await fixture.open(DOLLAR_CLAIMS)
    })
    afterEach(async () => {
      await store.close()
      await fixture.remove()
    })
    /** Brings a new claim to a state in one step. */
    const put = async (claim: DollarClaim): Promise<void> => {
      const first = { ...dollarClaims(0).claimed, id: claim.id }
      expect(await store.claim(first)).toBeNull()
      if (claim.state !== 'claimed') expect(await store.advance('claimed', claim)).toBe(true)
    }

    it('gives back every field of a claim in every state, over closing and opening again', async () => {
      const claims = Object.values(dollarClaims(0)).map((claim, i) => ({ ...claim, id: txIdOf(i + 1) }))
      for (const claim of claims) await put(claim)
      for (const claim of claims) expect(await store.get(claim.id)).toEqual(claim)
      await store.close()
      store = await fixture.open(DOLLAR_CLAIMS)
      for (const claim of claims) expect(await store.get(claim.id)).toEqual(claim)
    })

    it('lists as open what is not settled, not over and not paid back', async () => {
      const { claimed: first, settled, unpaid, owed } = dollarClaims(0)
      const over = { ...unpaid, over: true }
      const paid = { ...owed, refund: { ...owed.refund, status: 'paid' as const } }
      for (const [i, claim] of [first, settled, unpaid, owed, over, paid].entries())
        await put({ ...claim, id: txIdOf(i) })
      expect((await store.open()).map(({ id }) => id).sort()).toEqual([0, 2, 3].map(txIdOf))
    })

    it('forgets what was not paid for first, then what was delivered', async () => {
      const { settled, unpaid } = dollarClaims(0)
      const { finishedAtMs, durationMs, resultHash, result } = settled
      await put({ ...settled, id: txIdOf(1) })
      await put({ ...settled, id: txIdOf(2), deliveredAtMs: 12 })
      await put({ ...unpaid, id: txIdOf(3), finishedAtMs, durationMs, resultHash, result })
      const bytes = Buffer.byteLength(result)
      const kept = async (): Promise<readonly unknown[]> => {
        const claims = await Promise.all([1, 2, 3].map((number) => store.get(txIdOf(number))))
        return claims.map((claim) => claim !== undefined && 'result' in claim && claim.result !== null)
      }
      expect(await store.pruneResults(0, 2 * bytes)).toBe(1)
      expect(await kept()).toEqual([true, true, false])
      expect(await store.pruneResults(0, bytes)).toBe(1)
      expect(await kept()).toEqual([true, false, false])
    })

    it('keeps the kinds apart, even under the same id', async () => {
      const native = await fixture.open(NATIVE_CLAIMS)
      const { claimed: first, settling } = dollarClaims(1)
      expect(await native.claim(claimed(1))).toBeNull()
      expect(await store.claim(first)).toBeNull()
      expect(await native.advance('claimed', delivered(1, { result: '"native"' }))).toBe(true)
      expect(await store.advance('claimed', settling)).toBe(true)
      expect(await native.get(txIdOf(1))).toEqual(delivered(1, { result: '"native"' }))
      expect(await store.get(txIdOf(1))).toEqual(settling)
      expect((await store.recent(10, null)).claims).toEqual([{ ...settling, result: null }])
      expect(await native.pruneResults(1_000, 0)).toBe(1)
      expect(await store.get(txIdOf(1))).toEqual(settling)
      expect(await store.release('settling', txIdOf(1))).toBe(true)
      expect((await native.open()).length).toBe(1)
      await native.close()
    })
  })
}
