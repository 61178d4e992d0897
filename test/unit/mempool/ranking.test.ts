import { describe, expect, it } from 'vitest'
import type { Address } from '../../../consensus/primitives/ids.ts'
import type { MempoolEntry } from '../../../mempool/account-queue.ts'
import { AccountQueue } from '../../../mempool/account-queue.ts'
import { Pool } from '../../../mempool/pool.ts'
import { Ranking } from '../../../mempool/ranking.ts'
import { type EntryOptions, entryOf, nameOf } from '../../support/mempool.ts'
import { filled } from '../../support/unsigned.ts'

const BASE_FEE = 32n

function queueOf(...entries: readonly EntryOptions[]): AccountQueue {
  const queue = new AccountQueue()
  for (const entry of entries) queue.put(entryOf(entry))
  return queue
}

/** A pool and its ranking under a head that the test moves. Counts lookups of accounts. */
class Ranked {
  readonly pool = new Pool()
  readonly nonces = new Map<Address, bigint>()
  readonly ranking: Ranking
  headId = 'head'
  baseFee = BASE_FEE
  lookUps = 0

  constructor(...entries: readonly EntryOptions[]) {
    const nonceOf = (address: Address): bigint => {
      this.lookUps++
      return this.nonces.get(address) ?? 0n
    }
    const self = this
    this.ranking = new Ranking(this.pool, {
      get headId() {
        return self.headId
      },
      get baseFee() {
        return self.baseFee
      },
      nonceOf,
    })
    for (const entry of entries) this.pool.insert(entryOf(entry))
  }

  /** Removes all entries, worst first. */
  drain(): readonly string[] {
    const order: string[] = []
    for (let worst = this.ranking.worst(); worst !== undefined; worst = this.ranking.worst()) {
      order.push(`${nameOf(worst.entry)} ${worst.rank}`)
      this.pool.remove(worst.entry)
    }
    return order
  }
}

describe('the rank of a transaction', () => {
  const turn = { nonce: 5n, baseFee: BASE_FEE }

  it('is the least rate of the way to it', () => {
    const queue = queueOf({ nonce: 5, rate: 90 }, { nonce: 6, rate: 50 }, { nonce: 7, rate: 70 })
    expect(queue.rankOfLast(turn)).toBe(50n)
    expect(queue.rankOf(entryOf({ nonce: 8, rate: 40 }), turn)).toBe(40n)
    expect(queue.rankOf(entryOf({ nonce: 8, rate: 99 }), turn)).toBe(50n)
    expect(new AccountQueue().rankOf(entryOf({ nonce: 5, rate: 99 }), turn)).toBe(99n)
  })

  it('is nothing behind a gap, whatever it promises', () => {
    const queue = queueOf({ nonce: 5, rate: 90 }, { nonce: 7, rate: 9_000 })
    expect(queue.rankOfLast(turn)).toBe(0n)
    expect(queue.rankOf(entryOf({ nonce: 8, rate: 9_000 }), turn)).toBe(0n)
    expect(queue.rankOf(entryOf({ nonce: 6, rate: 80 }), turn)).toBe(80n)
    expect(new AccountQueue().rankOf(entryOf({ nonce: 6, rate: 80 }), turn)).toBe(0n)
    expect(queue.unminable(turn).map(nameOf)).toEqual(['1/7'])
  })

  it('is nothing below the base fee, nor behind such a one', () => {
    const queue = queueOf({ nonce: 5, rate: 90 }, { nonce: 6, rate: 31 }, { nonce: 7, rate: 9_000 })
    expect(queue.rankOfLast(turn)).toBe(0n)
    expect(queue.unminable(turn).map(nameOf)).toEqual(['1/6', '1/7'])
    expect(queue.rankOfLast({ nonce: 5n, baseFee: 31n })).toBe(31n)
    expect(queue.unminable({ nonce: 5n, baseFee: 91n }).map(nameOf)).toEqual(['1/5', '1/6', '1/7'])
  })

  it('is nothing if its nonce was used', () => {
    const queue = queueOf({ nonce: 3, rate: 90 }, { nonce: 4, rate: 90 })
    expect(queue.rankOfLast(turn)).toBe(0n)
    queue.put(entryOf({ nonce: 5, rate: 70 }))
    expect(queue.rankOfLast(turn)).toBe(70n)
  })

  it('follows what comes, goes and is replaced before it', () => {
    const queue = queueOf({ nonce: 5, rate: 90 }, { nonce: 7, rate: 80 })
    expect(queue.rankOfLast(turn)).toBe(0n)
    queue.put(entryOf({ nonce: 6, rate: 60 }))
    expect(queue.rankOfLast(turn)).toBe(60n)
    queue.put(entryOf({ nonce: 6, rate: 85 }))
    expect(queue.rankOfLast(turn)).toBe(80n)
    queue.remove(5n)
    expect(queue.rankOfLast(turn)).toBe(0n)
    expect(queue.rankOfLast({ ...turn, nonce: 6n })).toBe(80n)
  })
})

describe('a ranking', () => {
  it('has the worst account first: what no block can take, then what a block takes last', () => {
    const ranked = new Ranked(
      { account: 1, nonce: 0, rate: 90, sequence: 0 },
      { account: 1, nonce: 1, rate: 60, sequence: 1 },
      { account: 2, nonce: 1, rate: 9_000, sequence: 2 },
      { account: 3, nonce: 0, rate: 31, sequence: 3 },
      { account: 3, nonce: 1, rate: 9_000, sequence: 4 },
      { account: 4, nonce: 0, rate: 70, sequence: 5 },
    )
    expect(ranked.drain()).toEqual(['3/1 0', '3/0 0', '2/1 0', '1/1 60', '4/0 70', '1/0 90'])
  })

  it('sees what came and went since it was asked, and a new head', () => {
    const ranked = new Ranked({ account: 1, rate: 50 }, { account: 2, rate: 60 })
    const { pool, ranking } = ranked
    expect(ranking.worst()?.rank).toBe(50n)
    pool.insert(entryOf({ account: 3, nonce: 1, rate: 900 }))
    expect(nameOf(ranking.worst()?.entry as MempoolEntry)).toBe('3/1')
    pool.insert(entryOf({ account: 3, nonce: 0, rate: 55 }))
    expect(ranking.worst()?.rank).toBe(50n)
    ranked.nonces.set(filled(1), 1n)
    ranked.baseFee = 56n
    // Under the same head the ranking does not notice the change.
    expect(ranking.worst()?.rank).toBe(50n)
    ranked.headId = 'next'
    expect(ranked.drain()).toEqual(['1/0 0', '3/1 0', '3/0 0', '2/0 60'])
  })

  it('ranks a newcomer as it would stand', () => {
    const { ranking } = new Ranked({ account: 1, nonce: 0, rate: 50 })
    const rankOf = (entry: EntryOptions): bigint => ranking.rankOf(entryOf(entry).tx)
    expect(rankOf({ account: 1, nonce: 1, rate: 90 })).toBe(50n)
    expect(rankOf({ account: 1, nonce: 2, rate: 90 })).toBe(0n)
    expect(rankOf({ account: 2, nonce: 0, rate: 90 })).toBe(90n)
    expect(rankOf({ account: 2, nonce: 1, rate: 90 })).toBe(0n)
    expect(rankOf({ account: 2, nonce: 0, rate: 31 })).toBe(0n)
  })

  it('leaves out the spared account', () => {
    const ranked = new Ranked({ account: 1, rate: 50 }, { account: 2, rate: 60 })
    expect(ranked.ranking.worst()?.rank).toBe(50n)
    ranked.ranking.spare(filled(1))
    expect(ranked.drain()).toEqual(['2/0 60'])
    expect(ranked.pool.count).toBe(1)
  })

  it('looks at every account once for a head, and later only at those that changed', () => {
    const entries = Array.from({ length: 200 }, (_, i) => ({ account: i + 1, rate: 100 + i, sequence: i }))
    const ranked = new Ranked(...entries)
    const { pool, ranking } = ranked
    for (let i = 0; i < 1_000; i++) ranking.worst()
    expect(ranked.lookUps).toBe(200)
    for (let i = 0; i < 20; i++) pool.insert(entryOf({ account: 5, nonce: i + 1, rate: 90 }))
    for (let i = 0; i < 1_000; i++) ranking.worst()
    expect(ranked.lookUps).toBe(201)
    // Outdated items of the heap are dropped before they pile up.
    for (let i = 0; i < 2_000; i++) {
      pool.insert(entryOf({ account: 5, nonce: 1, rate: 200 + i }))
      ranking.worst()
    }
    expect(ranked.lookUps).toBeLessThan(5_000)
  })
})

describe('the queue of an account with thousands of entries', () => {
  it('is emptied from its end without being walked for each', () => {
    const count = 2_000
    let reads = 0
    const queue = new AccountQueue()
    const { tx } = entryOf()
    for (let nonce = 0; nonce < count; nonce++) {
      const own = { ...tx, body: { ...tx.body, nonce: BigInt(nonce) } }
      const entry = {
        ...entryOf(),
        get tx() {
          reads++
          return own
        },
        get needs() {
          reads++
          return 1n
        },
      } as MempoolEntry
      queue.put(entry)
    }
    reads = 0
    while (queue.needs() > 0n) queue.remove((queue.last() as MempoolEntry).tx.body.nonce)
    expect(queue.size).toBe(0)
    expect(reads).toBeLessThan(50 * count)
  })
})
