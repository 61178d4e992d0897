import { describe, expect, it } from 'vitest'
import type { MempoolEntry } from '../../../mempool/account-queue.ts'
import { evict } from '../../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY, type MempoolPolicy } from '../../../mempool/policy.ts'
import { Pool } from '../../../mempool/pool.ts'
import { Ranking } from '../../../mempool/ranking.ts'
import { contentsOf, entryOf, nameOf } from '../../support/mempool.ts'

const BASE_FEE = 32n

function poolOf(entries: readonly MempoolEntry[]): Pool {
  const pool = new Pool()
  for (const entry of entries) pool.insert(entry)
  return pool
}

function evicted(pool: Pool, policy: Partial<MempoolPolicy>, baseFee = BASE_FEE): readonly string[] {
  const ranking = new Ranking(pool, { headId: 'head', baseFee, nonceOf: () => 0n })
  return evict(pool, { ...DEFAULT_MEMPOOL_POLICY, ...policy }, ranking).map(({ entry }) => nameOf(entry))
}

/** One entry for each rate, each of another account: 1, 2, 3 and so on. */
function strangers(...rates: number[]): readonly MempoolEntry[] {
  return rates.map((rate, i) => entryOf({ account: i + 1, rate, sequence: i }))
}

describe('eviction', () => {
  it('takes nothing from a pool within its limits', () => {
    const entries = strangers(90, 50, 70)
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
    const pool = poolOf(entries)
    expect(evicted(pool, { countMax: 3, bytesMax: bytes })).toEqual([])
    expect(pool.count).toBe(3)
  })

  it('takes the cheapest of a pool that holds too many', () => {
    const pool = poolOf(strangers(90, 50, 70))
    expect(evicted(pool, { countMax: 2 })).toEqual(['2/0'])
    expect(contentsOf(pool)).toEqual(['1/0', '3/0'])
    expect(evicted(pool, { countMax: 2 })).toEqual([])
  })

  it('takes the cheapest of a pool that is too big, as many as it needs', () => {
    const entries = strangers(90, 50, 70, 60)
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
    const pool = poolOf(entries)
    // Room for a little more than two.
    expect(evicted(pool, { bytesMax: Math.floor(bytes * 0.6) })).toEqual(['2/0', '4/0'])
    expect(contentsOf(pool)).toEqual(['1/0', '3/0'])
  })

  it('of equally cheap ones takes the latest arrival', () => {
    const pool = poolOf([
      entryOf({ account: 1, rate: 50, sequence: 3 }),
      entryOf({ account: 2, rate: 50, sequence: 9 }),
      entryOf({ account: 3, rate: 50, sequence: 1 }),
    ])
    expect(evicted(pool, { countMax: 2 })).toEqual(['2/0'])
  })

  it('compares what is paid at the base fee', () => {
    const entries = [
      entryOf({ account: 1, maxFeeRate: 1_000n, tip: 5n, sequence: 0 }),
      entryOf({ account: 2, maxFeeRate: 60n, tip: 60n, sequence: 1 }),
    ]
    expect(evicted(poolOf(entries), { countMax: 1 }, 50n)).toEqual(['1/0'])
    expect(evicted(poolOf(entries), { countMax: 1 }, 58n)).toEqual(['2/0'])
  })

  it('takes an account’s last one first, so that nothing is stranded behind a hole', () => {
    const pool = poolOf([
      entryOf({ account: 1, nonce: 0, rate: 90, sequence: 0 }),
      entryOf({ account: 1, nonce: 1, rate: 40, sequence: 1 }),
      entryOf({ account: 1, nonce: 2, rate: 80, sequence: 2 }),
      entryOf({ account: 2, nonce: 0, rate: 60, sequence: 3 }),
    ])
    // A later nonce cannot be mined before the cheapest entry, so its rank is no higher, and it goes first.
    expect(evicted(pool, { countMax: 3 })).toEqual(['1/2'])
    expect(contentsOf(pool)).toEqual(['1/0', '1/1', '2/0'])
  })

  it('goes on with what it has laid open', () => {
    const pool = poolOf([
      entryOf({ account: 1, nonce: 0, rate: 70, sequence: 0 }),
      entryOf({ account: 1, nonce: 1, rate: 40, sequence: 1 }),
      entryOf({ account: 2, nonce: 0, rate: 80, sequence: 2 }),
      entryOf({ account: 3, nonce: 0, rate: 60, sequence: 3 }),
    ])
    expect(evicted(pool, { countMax: 1 })).toEqual(['1/1', '3/0', '1/0'])
    expect(contentsOf(pool)).toEqual(['2/0'])
  })

  it('makes room for a twentieth more, so that the next arrivals need not pay for it again', () => {
    const rates = Array.from({ length: 41 }, (_, i) => 100 + i)
    const pool = poolOf(strangers(...rates))
    expect(evicted(pool, { countMax: 40 })).toEqual(['1/0', '2/0', '3/0'])
    expect(pool.count).toBe(38)
  })

  it('makes that room in bytes too', () => {
    const entries = strangers(...Array.from({ length: 41 }, (_, i) => 100 + i))
    const { bytes } = entries[0] as MempoolEntry
    const pool = poolOf(entries)
    expect(evicted(pool, { bytesMax: 40 * bytes })).toEqual(['1/0', '2/0', '3/0'])
    expect(pool.bytes).toBe(38 * bytes)
  })

  it('can empty a pool', () => {
    const pool = poolOf(strangers(90, 50))
    expect(evicted(pool, { bytesMax: 1 })).toEqual(['2/0', '1/0'])
    expect([pool.count, pool.bytes]).toEqual([0, 0])
  })
})
