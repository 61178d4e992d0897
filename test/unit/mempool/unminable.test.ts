import { describe, expect, it } from 'vitest'
import type { BlockRules } from '../../../consensus/block/rules.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { wallet } from '../../support/chain.ts'
import { overtake, TestMempool } from '../../support/mempool.ts'
import { testParams, testRuleBook } from '../../support/network.ts'

const idsOf = (transactions: Iterable<Transaction>) => [...transactions].map(({ txId }) => txId)
const FULL = { code: 'mempool/full', detail: { minFeeRate: '0' } }

/** Rules under which two transactions more than half fill a block. */
function smallBlocks() {
  return testRuleBook({ block: { ...(testParams().steps[0]?.rules.block as BlockRules), weightMax: 10_000 } })
}

/** A mempool where the keys of these wallets are known and their next nonce is 1. */
async function known(numbers: readonly number[], parts: Parameters<typeof TestMempool.open>[0] = {}) {
  const pool = await TestMempool.open(parts)
  for (const number of numbers) await pool.test.mine([await pool.pay(number, 0)])
  return pool
}

describe('a pool full of what no block can take', () => {
  it('behind missing nonces has room for whatever can be mined, at any rate', async () => {
    const pool = await known([1, 3, 4], { policy: { countMax: 48 } })
    for (const number of [1, 3, 4]) await pool.putRun(number, 2, 17, { rate: 32_000n })
    expect([pool.mempool.count, [...pool.mempool.candidates()]]).toEqual([48, []])
    const honest = await pool.put(5, 0, { rate: 32n })
    expect(idsOf(pool.mempool.candidates())).toEqual([honest.txId])
    // A twentieth was evicted: the latest of the unminable ones.
    expect([pool.mempool.count, pool.noncesOf(4).at(-1)]).toEqual([46, 14n])
  })

  it('takes nothing more of that kind, until the next head even if it has got room', async () => {
    const pool = await known([1, 3, 4], { policy: { countMax: 20 } })
    await pool.putRun(1, 2, 17, { rate: 100n })
    await pool.putRun(3, 2, 5, { rate: 100n })
    const dear = await pool.pay(4, 2, { rate: 99_000n })
    expect(await pool.submit(dear)).toEqual(FULL)
    await pool.put(5, 0, { rate: 40n })
    expect(pool.mempool.count).toBe(19)
    expect(await pool.submit(dear)).toEqual(FULL)
    await pool.test.mine()
    expect(await pool.submit(dear)).toBeNull()
  })

  it('below the base fee, with one dear transaction behind, has room as well', async () => {
    const pool = await known([1, 3], { policy: { countMax: 8 }, ruleBook: smallBlocks() })
    for (const number of [1, 3]) {
      await pool.putRun(number, 1, 3, { rate: 32n })
      await pool.put(number, 4, { rate: 100_000n })
    }
    await pool.test.mine([await pool.pay(4, 0), await pool.pay(4, 1)])
    expect([pool.mempool.minFeeRate, [...pool.mempool.candidates()]]).toEqual([33n, []])
    const honest = await pool.put(5, 0, { rate: 33n })
    expect(idsOf(pool.mempool.candidates())).toEqual([honest.txId])
    expect(pool.mempool.get(honest.txId)).toBe(honest)
  })

  it('lets the missing nonce in, which makes the others minable', async () => {
    const pool = await known([1], { policy: { countMax: 4 } })
    await pool.putRun(1, 2, 5, { rate: 60n })
    const closing = await pool.put(1, 1, { rate: 50n })
    expect([...pool.mempool.candidates()][0]).toBe(closing)
    expect(pool.noncesOf(1)).toEqual([1n, 2n, 3n, 4n])
  })

  it('counts a dear transaction for no more than those before it', async () => {
    const pool = await known([1], { policy: { countMax: 3 } })
    await pool.put(1, 1, { rate: 40n })
    await pool.put(1, 2, { rate: 9_000n })
    await pool.put(3, 0, { rate: 50n })
    expect(await pool.submit(await pool.pay(4, 0, { rate: 40n }))).toEqual({ ...FULL, detail: { minFeeRate: '40' } })
    const better = await pool.put(4, 0, { rate: 41n })
    expect([pool.noncesOf(1), pool.mempool.get(better.txId), pool.mempool.minFeeRate]).toEqual([[1n], better, 41n])
    // Its own high rate does not bring it back, because its account's first transaction pays less.
    expect(await pool.submit(await pool.pay(1, 2, { rate: 9_000n }))).toEqual({ ...FULL, detail: { minFeeRate: '40' } })
  })
})

describe('what no block can take', () => {
  it('leaves after some blocks, however dear it is', async () => {
    const pool = await known([1, 3], { policy: { unminableBlocksMax: 3 } })
    const minable = await pool.put(1, 1)
    await pool.put(1, 3, { rate: 90_000n })
    await pool.test.mineTo(4)
    await pool.put(3, 2)
    await pool.test.mineTo(5)
    expect([pool.noncesOf(1), pool.noncesOf(3)]).toEqual([[1n, 3n], [2n]])
    await pool.test.mineTo(6)
    expect([pool.noncesOf(1), pool.noncesOf(3)]).toEqual([[1n], [2n]])
    await pool.test.mineTo(8)
    expect(idsOf(pool.mempool.transactions())).toEqual([minable.txId])
  })

  it('stays if its turn comes meanwhile, and begins anew when that passes', async () => {
    const pool = await known([1], { policy: { unminableBlocksMax: 3 } })
    const waiting = await pool.put(1, 2)
    await pool.test.mineTo(3)
    const first = await pool.put(1, 1)
    await pool.test.mineTo(7)
    expect(idsOf(pool.mempool.candidates())).toEqual(idsOf([first, waiting]))
    pool.mempool.drop(first.txId)
    await pool.test.mineTo(10)
    expect(pool.noncesOf(1)).toEqual([2n])
    await pool.test.mineTo(11)
    expect(pool.noncesOf(1)).toEqual([])
  })

  it('may wait for the base fee to fall as long', async () => {
    const pool = await known([1], { policy: { unminableBlocksMax: 2 }, ruleBook: smallBlocks() })
    await pool.put(1, 1, { rate: 32n })
    await pool.put(5, 0, { rate: 90n })
    const full = async (first: number) =>
      pool.test.mine([await pool.pay(4, first, { rate: 900n }), await pool.pay(4, first + 1, { rate: 900n })])
    await full(0)
    await full(2)
    expect(pool.noncesOf(1)).toEqual([1n])
    await full(4)
    expect([pool.noncesOf(1), pool.noncesOf(5)]).toEqual([[], [0n]])
  })

  it('is the same after a reorganisation', async () => {
    const pool = await known([1], { policy: { unminableBlocksMax: 4 } })
    await pool.put(1, 2)
    await pool.test.mineTo(3)
    await overtake(pool.test, 2, [[await pool.pay(5, 0)], [], []])
    expect(pool.noncesOf(1)).toEqual([2n])
    await pool.test.mineTo(6)
    expect(pool.noncesOf(1)).toEqual([])
  })
})

describe('a protected account', () => {
  it('loses nothing to dearer strangers, and gets in when the pool is full', async () => {
    const pool = await TestMempool.open({ policy: { countMax: 4 } })
    pool.mempool.protect(wallet(1).address)
    const own = await pool.putRun(1, 0, 2, { rate: 32n })
    await pool.put(3, 0, { rate: 900n })
    await pool.put(4, 0, { rate: 1_000n })
    expect([pool.noncesOf(1), pool.noncesOf(3), pool.noncesOf(4)]).toEqual([[0n, 1n, 2n], [], [0n]])
    expect(pool.mempool.minFeeRate).toBe(901n)
    // The pool now asks others for more, but not the operator.
    own.push(await pool.put(1, 3, { rate: 32n }))
    expect(idsOf(pool.mempool.transactions())).toEqual(idsOf(own))
    own.push(await pool.put(1, 4, { rate: 32n }))
    expect(await pool.submit(await pool.pay(5, 0, { rate: 5_000n }))).toMatchObject({ code: 'mempool/full' })
    expect([idsOf(pool.mempool.transactions()), pool.mempool.minFeeRate]).toEqual([idsOf(own), 1_001n])
  })

  it('is bounded like every other', async () => {
    const pool = await TestMempool.open({ policy: { countMax: 2, executablePerAccount: 3 } })
    pool.mempool.protect(wallet(1).address)
    await pool.putRun(1, 0, 2, { rate: 32n })
    expect(await pool.submit(await pool.pay(1, 3, { rate: 900n }))).toMatchObject({ code: 'mempool/account-limit' })
    expect(await pool.submit(await pool.pay(1, 0, { rate: 34n }))).toMatchObject({
      code: 'mempool/replacement-fee-too-low',
    })
  })

  it('is protected too if it has transactions already', async () => {
    const pool = await TestMempool.open({ policy: { countMax: 2 } })
    const own = await pool.put(1, 0, { rate: 32n })
    await pool.put(3, 0, { rate: 900n })
    expect(await pool.submit(await pool.pay(4, 0, { rate: 32n }))).toMatchObject({ code: 'mempool/full' })
    pool.mempool.protect(wallet(1).address)
    const dearest = await pool.put(4, 0, { rate: 901n })
    expect(idsOf(pool.mempool.transactions())).toEqual(idsOf([own, dearest]))
  })

  it('comes first among the candidates, at the base fee at least', async () => {
    const pool = await TestMempool.open({ ruleBook: smallBlocks() })
    pool.mempool.protect(wallet(1).address)
    pool.mempool.protect(wallet(3).address)
    const stranger = await pool.put(5, 0, { rate: 900n })
    const own = [await pool.put(1, 0, { rate: 40n }), await pool.put(1, 1, { rate: 32n })]
    const other = await pool.put(3, 0, { rate: 50n })
    const order = [other, ...own, stranger]
    expect(idsOf(pool.mempool.candidates())).toEqual(idsOf(order))
    await pool.test.mine([await pool.pay(4, 0, { rate: 9_000n }), await pool.pay(4, 1, { rate: 9_000n })])
    expect(idsOf(pool.mempool.candidates())).toEqual(idsOf([other, own[0] as Transaction, stranger]))
  })

  it('may wait for its turn for ever', async () => {
    const pool = await known([1, 3], { policy: { unminableBlocksMax: 2 } })
    pool.mempool.protect(wallet(1).address)
    await pool.put(1, 2)
    await pool.put(3, 2)
    await pool.test.mineTo(8)
    expect([pool.noncesOf(1), pool.noncesOf(3)]).toEqual([[2n], []])
  })
})
