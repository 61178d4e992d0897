import { describe, expect, it } from 'vitest'
import type { Address } from '../../../consensus/primitives/ids.ts'
import type { MempoolEntry } from '../../../mempool/account-queue.ts'
import { AccountQueue } from '../../../mempool/account-queue.ts'
import { candidatesOf } from '../../../mempool/mempool.ts'
import { Pool } from '../../../mempool/pool.ts'
import { contentsOf, entryOf, nameOf } from '../../support/mempool.ts'
import { filled } from '../../support/unsigned.ts'

function queueOf(...nonces: number[]): AccountQueue {
  const queue = new AccountQueue()
  for (const nonce of nonces) queue.put(entryOf({ nonce }))
  return queue
}

function poolOf(...entries: readonly MempoolEntry[]): Pool {
  const pool = new Pool()
  for (const entry of entries) pool.insert(entry)
  return pool
}

const noncesOf = (entries: readonly MempoolEntry[] | undefined): readonly bigint[] | undefined =>
  entries?.map(({ tx }) => tx.body.nonce)

describe('the queue of an account', () => {
  it('lists its entries by nonce, whatever the order they came in', () => {
    const queue = queueOf(10, 2, 9, 0)
    expect(noncesOf(queue.entries())).toEqual([0n, 2n, 9n, 10n])
    expect([queue.size, queue.last()?.tx.body.nonce, queue.at(9n)?.tx.body.nonce]).toEqual([4, 10n, 9n])
    expect(queue.at(1n)).toBeUndefined()
  })

  it('can be mined from a nonce on as far as there is no gap', () => {
    const queue = queueOf(3, 4, 5, 7)
    expect(noncesOf(queue.executable(3n))).toEqual([3n, 4n, 5n])
    expect(noncesOf(queue.executable(5n))).toEqual([5n])
    expect(noncesOf(queue.executable(7n))).toEqual([7n])
    expect([queue.executable(2n), queue.executable(6n), queue.executable(8n)]).toEqual([[], [], []])
  })

  it('knows what all of it takes from the account, and what the rest of it takes', () => {
    const queue = queueOf(1, 2)
    const [one, two] = queue.entries() as [MempoolEntry, MempoolEntry]
    expect(queue.needs()).toBe(one.needs + two.needs)
    expect([queue.needs(1n), queue.needs(2n), queue.needs(3n)]).toEqual([two.needs, one.needs, one.needs + two.needs])
  })

  it('of an unknown account is empty', () => {
    const queue = queueOf(4)
    queue.remove(4n)
    expect([queue.size, queue.last(), queue.needs(), queue.entries()]).toEqual([0, undefined, 0n, []])
  })
})

describe('the indexes of a pool', () => {
  it('find an entry by its id, its witness and its account', () => {
    const [entry, other] = [entryOf({ account: 1, nonce: 3 }), entryOf({ account: 2 })]
    const pool = poolOf(entry, other)
    expect(pool.get(entry.tx.txId)).toBe(entry)
    expect(pool.hasWitness(entry.tx.wtxId)).toBe(true)
    expect(pool.account(filled<Address>(1))?.at(3n)).toBe(entry)
    expect([...pool.accounts()].map(([address]) => address)).toEqual([filled(1), filled(2)])
    expect([pool.count, pool.bytes]).toEqual([2, entry.bytes + other.bytes])
  })

  it('forget an entry that was taken out, and an account with its last one', () => {
    const [first, second, other] = [entryOf({ nonce: 0 }), entryOf({ nonce: 1 }), entryOf({ account: 2 })]
    const pool = poolOf(first, second, other)
    pool.remove(first)
    expect([pool.get(first.tx.txId), pool.hasWitness(first.tx.wtxId)]).toEqual([undefined, false])
    expect(noncesOf(pool.account(filled<Address>(1))?.entries())).toEqual([1n])
    expect([pool.count, pool.bytes]).toEqual([2, second.bytes + other.bytes])
    pool.remove(second)
    expect(pool.account(filled<Address>(1))).toBeUndefined()
    expect(contentsOf(pool)).toEqual(['2/0'])
  })

  it('hold one entry for a nonce of an account: the later one', () => {
    const old = entryOf({ nonce: 1, rate: 50 })
    const behind = entryOf({ nonce: 2 })
    const better = entryOf({ nonce: 1, rate: 60, memo: new Uint8Array(9) })
    const pool = poolOf(old, behind)
    expect(pool.insert(better)).toBe(old)
    expect([pool.get(old.tx.txId), pool.hasWitness(old.tx.wtxId)]).toEqual([undefined, false])
    expect(pool.account(filled<Address>(1))?.entries()).toEqual([better, behind])
    expect([pool.count, pool.bytes]).toEqual([2, better.bytes + behind.bytes])
  })

  it('hold the later one too if it replaced the only entry of its account', () => {
    const better = entryOf({ rate: 60 })
    const pool = poolOf(entryOf({ rate: 50 }), better)
    expect(pool.account(filled<Address>(1))?.entries()).toEqual([better])
    expect(pool.insert(entryOf({ account: 2 }))).toBeUndefined()
  })

  it('lose nothing when something is taken out that is not there', () => {
    const [old, better] = [entryOf({ rate: 50 }), entryOf({ rate: 60 })]
    const pool = poolOf(old, better)
    pool.remove(old)
    pool.remove(entryOf({ account: 3 }))
    expect(pool.account(filled<Address>(1))?.at(0n)).toBe(better)
    expect([pool.count, pool.bytes]).toEqual([1, better.bytes])
  })
})

describe('the candidates of a pool', () => {
  const BASE_FEE = 32n
  const fromZero = (): bigint => 0n
  const candidates = (pool: Pool, baseFee = BASE_FEE, nonceOf: (address: Address) => bigint = fromZero) =>
    [...candidatesOf(pool, { baseFee, nonceOf })].map(nameOf)

  it('come dearest first, each account in nonce order', () => {
    const pool = poolOf(
      entryOf({ account: 1, nonce: 1, rate: 900, sequence: 0 }),
      entryOf({ account: 1, nonce: 0, rate: 40, sequence: 1 }),
      entryOf({ account: 2, nonce: 0, rate: 80, sequence: 2 }),
      entryOf({ account: 2, nonce: 1, rate: 35, sequence: 3 }),
      entryOf({ account: 3, nonce: 0, rate: 60, sequence: 4 }),
    )
    // Account 1's high-fee transaction must wait for its cheap one. After that it goes first.
    expect(candidates(pool)).toEqual(['2/0', '3/0', '1/0', '1/1', '2/1'])
  })

  it('of equal rate come in order of arrival', () => {
    const pool = poolOf(
      ...[7, 3, 5].map((account, i) => entryOf({ account, rate: 50, sequence: 10 - i })),
      entryOf({ account: 9, rate: 50, sequence: 1 }),
    )
    expect(candidates(pool)).toEqual(['9/0', '5/0', '3/0', '7/0'])
  })

  it('begin at each account’s own nonce and end at its first gap', () => {
    const pool = poolOf(
      ...[0, 1, 3].map((nonce) => entryOf({ account: 1, nonce, rate: 90 })),
      ...[5, 6, 8].map((nonce) => entryOf({ account: 2, nonce, rate: 80 })),
      ...[1, 2].map((nonce) => entryOf({ account: 3, nonce, rate: 70 })),
    )
    const nonceOf = (address: Address): bigint => (address === filled(2) ? 5n : 0n)
    expect(candidates(pool, BASE_FEE, nonceOf)).toEqual(['1/0', '1/1', '2/5', '2/6'])
  })

  it('leave out what the base fee excludes, and what waits behind it', () => {
    const pool = poolOf(
      entryOf({ account: 1, nonce: 0, rate: 49 }),
      entryOf({ account: 1, nonce: 1, rate: 900 }),
      entryOf({ account: 2, nonce: 0, rate: 50 }),
      entryOf({ account: 2, nonce: 1, rate: 49 }),
    )
    expect(candidates(pool, 49n)).toEqual(['2/0', '1/0', '1/1', '2/1'])
    expect(candidates(pool, 50n)).toEqual(['2/0'])
    expect(candidates(pool, 51n)).toEqual([])
  })

  it('are ranked by what they pay at the base fee of the block', () => {
    const pool = poolOf(
      entryOf({ account: 1, maxFeeRate: 1_000n, tip: 5n }),
      entryOf({ account: 2, maxFeeRate: 60n, tip: 60n }),
    )
    expect(candidates(pool, 50n)).toEqual(['2/0', '1/0'])
    expect(candidates(pool, 58n)).toEqual(['1/0', '2/0'])
  })
})
