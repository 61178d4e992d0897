import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hash } from '../../consensus/primitives/ids.ts'
import type { ClaimKind, SharedClaims, StoredClaim } from '../../marketplace/till/claim-store.ts'
import { DOLLAR_CLAIMS } from '../../marketplace/till/rails/dollar/claim.ts'
import {
  type Claim,
  type FinishedClaim,
  NATIVE_CLAIMS,
  type NativeClaimStore,
} from '../../marketplace/till/rails/native/claim.ts'
import { claimed, delivered, dollarClaims, executing, failed, txIdOf } from '../support/claims.ts'
import { until } from '../support/processes.ts'
import type { OpenStore } from './claim-store.suite.ts'

export interface ReplicaFixture {
  readonly open: <C extends StoredClaim>(
    kind: ClaimKind<C>,
  ) => Promise<OpenStore<C> & { readonly shared: SharedClaims }>
  /** Stops the renewals of the replica's lease, as when the process is paused or the machine sleeps. */
  readonly pause: () => void
  /** Continues the renewals. */
  readonly wake: () => void
}

/** An implementation under test: a storage shared by replicas with separate data folders. */
export interface SharedStoreFixture {
  /** Starts a replica. A used folder means a restart of that replica, whose earlier process is dead. */
  readonly replica: (folder: string) => ReplicaFixture
  readonly remove: () => Promise<void>
}

/** Further tests for every shared store; `make` gives an empty one with a short lease. */
export function sharedClaimStoreSuite(name: string, make: () => Promise<SharedStoreFixture>): void {
  describe(`the shared claim store ${name}`, () => {
    let fixture: SharedStoreFixture
    const opened: { close(): Promise<void> }[] = []
    beforeEach(async () => {
      fixture = await make()
    })
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close()
      await fixture.remove()
    })
    const openNative = async (replica: ReplicaFixture) => {
      const store = await replica.open(NATIVE_CLAIMS)
      opened.push(store)
      return store
    }
    const two = async () => {
      const [one, other] = [fixture.replica('a'), fixture.replica('b')]
      return { one, a: await openNative(one), other, b: await openNative(other) }
    }
    const openIds = async (store: NativeClaimStore): Promise<readonly string[]> =>
      (await store.open()).map(({ txId }) => txId).sort()
    const hasOpen = (store: NativeClaimStore, count: number): Promise<unknown> =>
      until(`${count} open claims`, async () => (await store.open()).length === count)

    it('lets one of many claims of a payment through two replicas win, and shows the winner to all', async () => {
      const { a, b } = await two()
      const claims = Array.from({ length: 60 }, (_, i) => ({ ...claimed(1, i + 1), request: `call ${i}` }))
      const answers = await Promise.all(claims.map((claim, i) => (i % 2 === 0 ? a : b).claim(claim)))
      const winners = claims.filter((_, i) => answers[i] === null)
      expect(winners.length).toBe(1)
      expect(answers.filter((known) => known !== null)).toEqual(Array.from({ length: 59 }, () => winners[0]))
    })

    it('gives each replica its own open claims alone, while both live', async () => {
      const { a, b } = await two()
      for (const [i, store] of [a, b, a, b].entries()) await store.claim(claimed(i + 1))
      expect(await openIds(a)).toEqual([1, 3].map(txIdOf))
      expect(await openIds(b)).toEqual([2, 4].map(txIdOf))
    })

    it('lets only its owner move or release an open claim, and shows it to all', async () => {
      const { a, b } = await two()
      await a.claim(claimed(1))
      expect(await b.advance('claimed', executing(1))).toBe(false)
      expect(await b.release('claimed', txIdOf(1))).toBe(false)
      expect(await b.get(txIdOf(1))).toEqual(claimed(1))
      expect(await a.advance('claimed', executing(1))).toBe(true)
      expect(await b.advance('executing', failed(1))).toBe(false)
      expect(await a.advance('executing', delivered(1))).toBe(true)
      expect(await b.get(txIdOf(1))).toEqual(delivered(1))
    })

    it('lets the first replica take up a claim that was over', async () => {
      const { a, b } = await two()
      const final = { ...delivered(1), settlement: 'final' } as FinishedClaim
      await a.claim(claimed(1))
      await a.advance('claimed', final)
      expect(await openIds(a)).toEqual([])
      const taken = await Promise.all([a, b].map((store) => store.advance('delivered', delivered(1))))
      expect(taken.filter(Boolean).length).toBe(1)
      expect([await openIds(a), await openIds(b)].flat()).toEqual([txIdOf(1)])
    })

    it('hands over everything that a silent replica had open, and tells who took it over', async () => {
      const { one, a, b } = await two()
      const states: readonly Claim[] = [claimed(1), executing(2), delivered(3), failed(4)]
      for (const [i, claim] of states.entries()) {
        await a.claim({ ...claimed(i + 1), claimedAtMs: claim.claimedAtMs })
        if (claim.state !== 'claimed') await a.advance('claimed', claim)
      }
      const { arrivals } = b.shared
      one.pause()
      await hasOpen(b, 4)
      expect(b.shared.arrivals).toBeGreaterThan(arrivals)
      expect((await b.open()).find(({ txId }) => txId === txIdOf(3))).toEqual(delivered(3))
      expect(await b.advance('claimed', executing(1))).toBe(true)
    })

    it('fences a replica that comes back: it can neither move nor release, and learns that it was taken for dead', async () => {
      const { one, a, b } = await two()
      for (const number of [1, 2]) {
        await a.claim(claimed(number))
        await a.advance('claimed', executing(number))
      }
      one.pause()
      await hasOpen(b, 2)
      expect(a.shared.awayBecause).not.toBeNull()
      expect(await a.advance('executing', delivered(1))).toBe(false)
      expect(await a.release('executing', txIdOf(2))).toBe(false)
      expect(await b.advance('executing', failed(1))).toBe(true)
      expect(await a.get(txIdOf(1))).toEqual(failed(1))
      one.wake()
      await until('the replica is back', () => a.shared.awayBecause === null && a.shared.lapses === 1)
      expect(await openIds(a)).toEqual([])
      expect(await a.advance('failed', { ...failed(1), settlement: 'final' } as FinishedClaim)).toBe(false)
      expect(await a.claim(claimed(3))).toBeNull()
      expect(await openIds(a)).toEqual([txIdOf(3)])
      expect(await openIds(b)).toEqual([1, 2].map(txIdOf))
    })

    it('takes a claim of a replica that was just taken for dead, and still notices when that replica stops', async () => {
      const { one, a, b } = await two()
      await a.claim(claimed(1))
      one.pause()
      await hasOpen(b, 1)
      // The paused replica does not know yet that its lease has lapsed, and claims before its next renewal.
      expect(await a.claim(claimed(2))).toBeNull()
      expect(a.shared.lapses).toBe(1)
      expect(await openIds(a)).toEqual([txIdOf(2)])
      one.pause()
      await hasOpen(b, 2)
    })

    it('gives a replica that starts again what it had, at once', async () => {
      const { one, a, b } = await two()
      await a.claim(claimed(1))
      await a.advance('claimed', executing(1))
      one.pause()
      const next = await openNative(fixture.replica('a'))
      expect(await next.open()).toEqual([executing(1)])
      expect(await openIds(b)).toEqual([])
      expect(await a.advance('executing', delivered(1))).toBe(false)
    })

    it('hands over at once what a replica that leaves had open', async () => {
      const { a, b } = await two()
      await hasOpen(b, 0)
      await a.claim(claimed(1))
      opened.splice(opened.indexOf(a), 1)
      await a.close()
      await hasOpen(b, 1)
    })

    it('hands over both kinds of claims', async () => {
      const { one, a, other, b } = await two()
      const [stableA, stableB] = [await one.open(DOLLAR_CLAIMS), await other.open(DOLLAR_CLAIMS)]
      opened.push(stableA, stableB)
      const { claimed: first } = dollarClaims(1)
      await a.claim(claimed(1))
      await stableA.claim(first)
      expect(await stableB.claim(first)).toEqual(first)
      one.pause()
      await hasOpen(b, 1)
      expect(await stableB.open()).toEqual([first])
    })

    describe('with names', () => {
      const nameOf = (number: number): Hash => `${number}`.padStart(64, 'e') as Hash
      const named = (number: number, name: number) => {
        const states = dollarClaims(number)
        const repeatKey = nameOf(name)
        return {
          claimed: { ...states.claimed, repeatKey },
          settled: { ...states.settled, repeatKey },
          unpaid: { ...states.unpaid, repeatKey },
        }
      }
      const twoStable = async () => {
        const stores = [await fixture.replica('a').open(DOLLAR_CLAIMS), await fixture.replica('b').open(DOLLAR_CLAIMS)]
        opened.push(...stores)
        return stores as [(typeof stores)[0], (typeof stores)[0]]
      }

      it('lets one of many payments through two replicas have a name, and shows it to all', async () => {
        const [a, b] = await twoStable()
        const claims = Array.from({ length: 40 }, (_, i) => named(i + 1, 1).claimed)
        const answers = await Promise.all(claims.map((claim, i) => (i % 2 === 0 ? a : b).claim(claim)))
        const winners = claims.filter((_, i) => answers[i] === null)
        expect(winners.length).toBe(1)
        expect(answers.filter((known) => known !== null)).toEqual(Array.from({ length: 39 }, () => winners[0]))
        expect(await a.named?.(nameOf(1))).toEqual(winners[0])
        expect(await b.named?.(nameOf(2))).toBeUndefined()
        expect(await b.claim(named(50, 2).claimed)).toBeNull()
      })

      it('frees the name of a payment that came to nothing, and lets it not be taken up while another has it', async () => {
        const [a, b] = await twoStable()
        const [one, other] = [named(1, 1), named(2, 1)]
        await a.claim(one.claimed)
        expect(await a.advance('claimed', one.unpaid)).toBe(true)
        expect(await b.claim(other.claimed)).toBeNull()
        expect(await a.advance('unpaid', one.claimed)).toBe(false)
        expect(await a.get(one.claimed.id)).toEqual(one.unpaid)
        expect(a.shared.awayBecause).toBeNull()
        expect(await b.release('claimed', other.claimed.id)).toBe(true)
        expect(await a.advance('unpaid', one.claimed)).toBe(true)
        expect(await b.claim(other.claimed)).toEqual(one.claimed)
      })

      it('writes down what is over although another has its name', async () => {
        const [a, b] = await twoStable()
        const [one, other] = [named(1, 1), named(2, 1)]
        await a.claim(one.claimed)
        await a.advance('claimed', one.unpaid)
        await b.claim(other.claimed)
        expect(await a.advance('unpaid', one.settled)).toBe(true)
        expect(await b.get(one.settled.id)).toEqual(one.settled)
        expect(await a.named?.(nameOf(1))).toEqual(other.claimed)
      })
    })

    it('moves each claim once, even during a takeover', async () => {
      const { one, a, b } = await two()
      const numbers = Array.from({ length: 40 }, (_, i) => i + 1)
      for (const number of numbers) await a.claim(claimed(number))
      one.pause()
      const moves: boolean[][] = numbers.map(() => [])
      const tryAll = async (store: NativeClaimStore): Promise<void> => {
        await Promise.all(
          numbers.map(async (number, i) => moves[i]?.push(await store.advance('claimed', executing(number)))),
        )
      }
      // The first replica, without renewals, advances half of the claims while the other replica takes them over.
      for (const number of numbers.slice(0, 20)) moves[number - 1]?.push(await a.advance('claimed', executing(number)))
      await hasOpen(b, 40)
      await Promise.all([tryAll(a), tryAll(b)])
      expect(moves.map((each) => each.filter(Boolean).length)).toEqual(numbers.map(() => 1))
    })
  })
}
