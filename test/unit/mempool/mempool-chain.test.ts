import { describe, expect, it } from 'vitest'
import type { BlockRules } from '../../../consensus/block/rules.ts'
import type { RuleBook } from '../../../consensus/chain/rule-book.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { weightOf } from '../../../consensus/tx/weight.ts'
import { walletKey } from '../../../src/crypto/wallet-key.ts'
import { seedOf } from '../../support/actors.ts'
import { wallet } from '../../support/chain.ts'
import { HeldVerifier, overtake, TestMempool } from '../../support/mempool.ts'
import { testParams, testRuleBook } from '../../support/network.ts'

const ALICE = wallet(1).address
const NEWCOMER = walletKey(seedOf(1))
const idsOf = (transactions: Iterable<Transaction>) => [...transactions].map(({ txId }) => txId)
const waiting = ({ mempool }: TestMempool) => idsOf(mempool.transactions())
const candidates = ({ mempool }: TestMempool) => idsOf(mempool.candidates())

/** Rules under which two transactions more than half fill a block. */
function smallBlocks(): RuleBook {
  return testRuleBook({ block: { ...(testParams().steps[0]?.rules.block as BlockRules), weightMax: 10_000 } })
}

/** Transactions that fill a block so far that the base fee rises. */
async function fullBody(pool: TestMempool): Promise<readonly Transaction[]> {
  return [await pool.pay(4, 0), await pool.pay(4, 1)]
}

describe('a block', () => {
  it('takes out what it holds and leaves the rest', async () => {
    const pool = await TestMempool.open()
    const [first, second, third] = (await pool.putRun(1, 0, 2)) as [Transaction, Transaction, Transaction]
    const other = await pool.put(3, 0)
    await pool.test.mine([first, second])
    expect(waiting(pool)).toEqual(idsOf([third, other]))
    expect(pool.mempool.bytes).toBe(third.size + other.size + 8)
    expect(candidates(pool)).toEqual(idsOf([third, other]))
    await pool.test.mine([third, other])
    expect([pool.mempool.count, pool.mempool.bytes]).toEqual([0, 0])
  })

  it('takes out what its transactions have taken the nonce of', async () => {
    const pool = await TestMempool.open()
    const [, , third] = (await pool.putRun(1, 0, 2)) as [Transaction, Transaction, Transaction]
    const foreign = [await pool.pay(1, 0, { amount: 1n }), await pool.pay(1, 1, { amount: 1n })]
    await pool.test.mine(foreign)
    expect(waiting(pool)).toEqual([third.txId])
    expect([candidates(pool), pool.mempool.nextNonce(ALICE)]).toEqual([[third.txId], 3n])
  })

  it('closes a gap', async () => {
    const pool = await TestMempool.open()
    await pool.put(1, 0)
    const behind = await pool.put(1, 2)
    await pool.test.mine([...pool.mempool.ofAccount(ALICE).slice(0, 1), await pool.pay(1, 1)])
    expect([candidates(pool), pool.mempool.nextNonce(ALICE)]).toEqual([[behind.txId], 3n])
  })

  it('takes out what can no longer be mined in time, and nothing before', async () => {
    const pool = await TestMempool.open()
    const short = await pool.put(1, 0, { validUntil: 2 })
    const long = await pool.put(3, 0, { validUntil: 3 })
    const always = await pool.put(4, 0)
    await pool.test.mine()
    expect(waiting(pool)).toEqual(idsOf([short, long, always]))
    await pool.test.mine()
    expect(waiting(pool)).toEqual(idsOf([long, always]))
    await pool.test.mine()
    expect(waiting(pool)).toEqual([always.txId])
  })

  it('takes out an expired one from the middle: what is behind waits for another with its nonce', async () => {
    const pool = await TestMempool.open()
    const first = await pool.put(1, 0)
    await pool.put(1, 1, { validUntil: 1 })
    const third = await pool.put(1, 2)
    await pool.test.mine()
    expect([waiting(pool), candidates(pool)]).toEqual([idsOf([first, third]), [first.txId]])
    expect(pool.mempool.nextNonce(ALICE)).toBe(1n)
    const second = await pool.put(1, 1)
    expect(candidates(pool)).toEqual(idsOf([first, second, third]))
  })

  it('takes out, from the last on, what the balance no longer covers', async () => {
    const pool = await TestMempool.open()
    const balance = pool.test.balance(ALICE)
    const [, small] = [await pool.put(1, 0), await pool.put(1, 1)]
    await pool.put(1, 2, { amount: balance / 2n })
    await pool.put(1, 5)
    // A transaction that never waited here spends half of the balance.
    await pool.test.mine([await pool.pay(1, 0, { amount: balance / 2n })])
    expect(waiting(pool)).toEqual([small.txId])
  })

  it('takes out nothing that the balance covers to the last unit', async () => {
    const pool = await TestMempool.open()
    // Its highest rate is the base fee, so the transaction costs exactly what was reserved for it.
    const first = await pool.put(1, 0, { rate: 32n })
    const { tx: rules } = pool.test.ruleBook.at(1)
    const fee = 32n * BigInt(weightOf(await pool.pay(1, 1, { rate: 32n }), rules))
    const spent = 5_000n + 32n * BigInt(weightOf(first, rules))
    const last = await pool.put(1, 1, { rate: 32n, amount: pool.test.balance(ALICE) - spent - fee })
    await pool.test.mine([first])
    expect(waiting(pool)).toEqual([last.txId])
    await pool.test.mine([last])
    expect(pool.test.balance(ALICE)).toBe(0n)
  })

  it('takes nothing of accounts that it does not take from', async () => {
    const pool = await TestMempool.open()
    const tx = await pool.put(1, 0, { amount: pool.test.balance(ALICE) - 10n ** 9n })
    await pool.test.mine([await pool.pay(3, 0, { to: ALICE })])
    expect(waiting(pool)).toEqual([tx.txId])
  })

  it('that raises the base fee beyond a maximum makes it wait until the base fee has fallen', async () => {
    const pool = await TestMempool.open({ ruleBook: smallBlocks() })
    const patient = await pool.put(3, 0, { rate: 32n })
    expect(candidates(pool)).toEqual([patient.txId])
    await pool.test.mine(await fullBody(pool))
    expect(pool.mempool.minFeeRate).toBe(33n)
    expect([waiting(pool), candidates(pool)]).toEqual([[patient.txId], []])
    await pool.test.mine()
    expect([pool.mempool.minFeeRate, candidates(pool)]).toEqual([32n, [patient.txId]])
  })
})

describe('a reorganisation', () => {
  it('gives back what was mined, oldest first, and it can be mined again', async () => {
    const pool = await TestMempool.open()
    const [first, second, third] = (await pool.putRun(1, 0, 2)) as [Transaction, Transaction, Transaction]
    const other = await pool.pay(3, 0)
    await pool.test.mine([first, other])
    await pool.test.mine([second])
    await overtake(pool.test, 2, [[], [], []])
    expect(pool.test.height).toBe(3)
    expect(waiting(pool)).toEqual(idsOf([third, first, other, second]))
    expect(pool.noncesOf(1)).toEqual([0n, 1n, 2n])
    const block = await pool.test.mine([...pool.mempool.candidates()])
    expect(block.transactions.length).toBe(4)
    expect(pool.mempool.count).toBe(0)
  })

  it('gives back only what the new branch does not hold', async () => {
    const pool = await TestMempool.open()
    const [first, second] = [await pool.put(1, 0), await pool.put(3, 0)]
    await pool.test.mine([first, second])
    const heard: string[] = []
    pool.mempool.onAdmission(({ txId }) => heard.push(txId))
    await overtake(pool.test, 1, [[], [second]])
    expect([waiting(pool), heard]).toEqual([[first.txId], [first.txId]])
    expect(await pool.submit(second)).toEqual({ code: 'mempool/mined', detail: {} })
  })

  it('gives back nothing whose nonce the new branch has used', async () => {
    const pool = await TestMempool.open()
    const [first, second] = [await pool.put(1, 0), await pool.put(1, 1)]
    await pool.test.mine([first])
    await pool.test.mine([second])
    await overtake(pool.test, 2, [[await pool.pay(1, 0, { amount: 1n })], [], []])
    // The second fits behind the foreign first one.
    expect([waiting(pool), candidates(pool)]).toEqual([[second.txId], [second.txId]])
  })

  it('takes out what the new branch holds', async () => {
    const pool = await TestMempool.open()
    await pool.test.mine()
    const [first, second] = [await pool.put(1, 0), await pool.put(1, 1)]
    await overtake(pool.test, 1, [[first], []])
    expect(waiting(pool)).toEqual([second.txId])
  })

  it('gives back nothing that expires on the longer branch', async () => {
    const pool = await TestMempool.open()
    const [short, long] = [await pool.put(1, 0, { validUntil: 2 }), await pool.put(3, 0, { validUntil: 3 })]
    await pool.test.mine([short, long])
    await overtake(pool.test, 1, [[], []])
    expect(waiting(pool)).toEqual([long.txId])
  })

  it('gives back what is too cheap to be admitted now: the base fee may fall again', async () => {
    const pool = await TestMempool.open({ ruleBook: smallBlocks() })
    const cheap = await pool.put(1, 0, { rate: 32n })
    await pool.test.mine([cheap])
    await overtake(pool.test, 1, [[], await fullBody(pool)])
    expect(pool.mempool.minFeeRate).toBe(33n)
    expect([waiting(pool), candidates(pool)]).toEqual([[cheap.txId], []])
  })

  it('tells listeners what waits again, and keeps its signature checked', async () => {
    const verifier = new HeldVerifier()
    const pool = await TestMempool.open({ verifier })
    const tx = await pool.pay(1, 0)
    await pool.test.mine([tx])
    const heard: string[] = []
    pool.mempool.onAdmission(({ txId }) => heard.push(txId))
    await overtake(pool.test, 1, [[], []])
    expect([heard, waiting(pool)]).toEqual([[tx.txId], [tx.txId]])
    pool.mempool.drop(tx.txId)
    expect(await pool.submit(tx)).toBeNull()
    expect(verifier.held).toBe(0)
  })

  it('that takes an account away takes its transactions too', async () => {
    const pool = await TestMempool.open()
    const funding = await pool.pay(1, 0, { to: NEWCOMER.address, amount: 10n ** 10n, create: true })
    await pool.test.mine([funding])
    await pool.put(NEWCOMER, 0)
    await pool.put(NEWCOMER, 1)
    await overtake(pool.test, 1, [[], []])
    expect(waiting(pool)).toEqual([funding.txId])
  })

  it('that takes coins away takes out, from the last on, what they would have paid', async () => {
    const pool = await TestMempool.open()
    const balance = pool.test.balance(wallet(3).address)
    const funding = await pool.pay(1, 0, { to: wallet(3).address, amount: 10n ** 10n })
    await pool.test.mine([funding])
    const most = await pool.put(3, 0, { amount: balance - 10n ** 9n })
    await pool.put(3, 1, { amount: 9n * 10n ** 9n })
    await overtake(pool.test, 1, [[], []])
    expect(waiting(pool)).toEqual([most.txId, funding.txId])
  })

  it('leaves a pool within its limits', async () => {
    const pool = await TestMempool.open({ policy: { countMax: 3 } })
    const mined = await pool.putRun(1, 0, 2, { rate: 60n })
    await pool.test.mine(mined)
    const dear = [await pool.put(3, 0, { rate: 90n }), await pool.put(4, 0, { rate: 80n })]
    await overtake(pool.test, 1, [[], []])
    expect([...waiting(pool)].sort()).toEqual(idsOf([...dear, mined[0] as Transaction]).sort())
    expect(pool.mempool.bytes).toBe(pool.mempool.transactions().reduce((sum, { size }) => sum + size + 4, 0))
  })

  it('gives back many blocks in order, and another takes them again', async () => {
    const pool = await TestMempool.open()
    for (let i = 0; i < 4; i++) await pool.test.mine([await pool.pay(1, i), await pool.pay(3, i)])
    await pool.put(1, 4)
    await overtake(pool.test, 4, [[], [], [], [], []])
    expect([pool.noncesOf(1), pool.noncesOf(3)]).toEqual([
      [0n, 1n, 2n, 3n, 4n],
      [0n, 1n, 2n, 3n],
    ])
    const all = [...pool.mempool.candidates()]
    expect(all.length).toBe(9)
    await overtake(pool.test, pool.test.height, [all.slice(0, 5), all.slice(5, 8), [], [], [], []])
    expect(waiting(pool)).toEqual([(all[8] as Transaction).txId])
  })
})
