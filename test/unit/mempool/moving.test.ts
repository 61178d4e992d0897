import { describe, expect, it } from 'vitest'
import type { Block } from '../../../consensus/block/block.ts'
import type { HeadChange, HeadListener } from '../../../consensus/chain/events.ts'
import type { Rules } from '../../../consensus/chain/params.ts'
import { createRuleBook, type RuleBook } from '../../../consensus/chain/rule-book.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { weightOf } from '../../../consensus/tx/weight.ts'
import { PROTOCOL } from '../../../src/protocol.ts'
import { blocksFrom, deviantRuleBook, fork, mineBranch, outcomeOf } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { behind, HeldVerifier, overtake, TestMempool } from '../../support/mempool.ts'
import { testParams } from '../../support/network.ts'
import { SAMPLE, units } from '../../support/unsigned.ts'

const BUSY = { code: 'mempool/busy', detail: {} }
const idsOf = (transactions: Iterable<Transaction>) => [...transactions].map(({ txId }) => txId)

/** Runs `during` in every state that a chain passes through while it unwinds. */
function inPassing({ chain }: TestChain, during: () => Promise<void>): void {
  const { database } = chain
  const disconnect = database.disconnect.bind(database)
  database.disconnect = async (...parts) => {
    await disconnect(...parts)
    await during()
  }
}

describe('while a reorganisation is under way', () => {
  it('what comes is told to come again: what is mined looks as if it were not', async () => {
    const pool = await TestMempool.open()
    const mined = await pool.pay(1, 0)
    await pool.test.mine([mined])
    const answers: unknown[] = []
    const [other, later] = [await pool.pay(3, 0), await pool.pay(4, 0)]
    inPassing(pool.test, async () => {
      expect(pool.test.chain.moving).toBe(true)
      for (const tx of [mined, other]) answers.push(await pool.submit(tx))
    })
    await overtake(pool.test, 1, [[mined], [later]])
    expect([answers, pool.mempool.count]).toEqual([[BUSY, BUSY], 0])
    const after = [await pool.submit(mined), await pool.submit(other), await pool.submit(later)]
    expect(after.map((fault) => fault?.code)).toEqual(['mempool/mined', undefined, 'mempool/mined'])
  })

  it('that fails, nothing mined comes to wait, now or when its signature is checked', async () => {
    const verifier = new HeldVerifier()
    const test = await TestChain.open()
    const pool = await TestMempool.open({ test, verifier })
    await test.mine()
    const evil = await fork(test, { ruleBook: deviantRuleBook(4) })
    const branch = await mineBranch(evil, 3, 9)
    const mined = await pool.pay(1, 0)
    const early = pool.submit(await pool.pay(3, 0))
    await test.mine([mined])
    await test.mine()
    const outcomes: unknown[] = []
    for (const block of branch.slice(0, 2)) outcomes.push(await outcomeOf(test, block))
    const answers: unknown[] = []
    inPassing(test, async () => {
      verifier.release()
      answers.push(await pool.submit(mined), await early)
    })
    test.nowMs += 60_000
    outcomes.push(await outcomeOf(test, branch[2] as Block))
    expect(outcomes).toMatchObject(['side', 'side', { code: 'block/receipts-root' }])
    expect(answers.slice(0, 2)).toEqual([BUSY, BUSY])
    expect([pool.mempool.transactions(), test.height]).toEqual([[], 3])
    expect(await pool.submit(mined)).toMatchObject({ code: 'mempool/mined' })
  })
})

describe('a move that was taken back', () => {
  it('gives nothing back, and everything is looked at again', async () => {
    const test = await TestChain.open()
    const listeners: HeadListener[] = []
    const { chain } = test
    const subscribe = chain.onHeadChange.bind(chain)
    chain.onHeadChange = (listener) => {
      listeners.push(listener)
      subscribe(listener)
    }
    const pool = await TestMempool.open({ test })
    const bodies = [[await pool.pay(1, 0), await pool.pay(3, 0)], [await pool.pay(1, 1)]]
    for (const body of bodies) await test.mine(body)
    const waiting = [await pool.put(1, 2), await pool.put(4, 0)]
    const entries = blocksFrom(test, 1).map(({ id }) => chain.database.entry(id))
    const restored = { head: chain.head, disconnected: entries.toReversed(), connected: entries } as HeadChange
    const heard: string[] = []
    pool.mempool.onAdmission(({ txId }) => heard.push(txId))
    for (const listener of listeners) listener(restored)
    expect([idsOf(pool.mempool.transactions()), heard]).toEqual([idsOf(waiting), []])
    expect(await pool.submit(bodies[0]?.[0] as Transaction)).toMatchObject({ code: 'mempool/mined' })
  })
})

/** The test network with other rules from a height on. */
function stepAt(fromHeight: number, change: (rules: Rules) => Partial<Rules>): RuleBook {
  const params = testParams()
  const { rules } = params.steps[0] as (typeof params.steps)[number]
  return createRuleBook(
    { ...params, steps: [...params.steps, { fromHeight, rules: { ...rules, ...change(rules) } }] },
    PROTOCOL,
  )
}

describe('a step of the rules', () => {
  const invoke = (test: TestChain, amount: bigint, from = 1) =>
    test.tx(wallet(from), 'agent_invoke', SAMPLE.agent_invoke({ amount: units(amount) }))

  it('takes out what the next block may no longer hold', async () => {
    const ruleBook = stepAt(3, ({ tx }) => ({ tx: { ...tx, invokeAmountMin: 200_000n } }))
    const pool = await TestMempool.open({ ruleBook })
    const [low, high] = [await invoke(pool.test, 199_999n), await invoke(pool.test, 200_000n, 3)]
    const behind = await pool.pay(1, 1)
    for (const tx of [low, high, behind]) expect(await pool.submit(tx)).toBeNull()
    await pool.test.mine()
    expect(idsOf(pool.mempool.transactions())).toEqual(idsOf([low, high, behind]))
    await pool.test.mine()
    expect(idsOf(pool.mempool.transactions())).toEqual(idsOf([high, behind]))
    expect(idsOf(pool.mempool.candidates())).toEqual([high.txId])
    await pool.test.mine([...pool.mempool.candidates()])
  })

  it('gives back nothing that was sound before it alone', async () => {
    const ruleBook = stepAt(3, ({ tx }) => ({ tx: { ...tx, invokeAmountMin: 200_000n } }))
    const pool = await TestMempool.open({ ruleBook })
    const [low, high] = [await invoke(pool.test, 199_999n), await invoke(pool.test, 200_000n, 3)]
    await pool.test.mine([low, high])
    await overtake(pool.test, 1, [[], []])
    expect(idsOf(pool.mempool.transactions())).toEqual([high.txId])
  })

  it('weighs anew, so that what the balance no longer covers goes', async () => {
    const heavier = 1_000_000
    const ruleBook = stepAt(3, ({ tx, block }) => ({
      tx: { ...tx, weight: { ...tx.weight, perSignature: tx.weight.perSignature + heavier } },
      block: { ...block, weightMax: block.weightMax + 10 * heavier },
    }))
    const pool = await TestMempool.open({ ruleBook })
    const probe = await pool.pay(1, 0, { rate: 32n })
    const most = pool.test.balance(wallet(1).address) - BigInt(weightOf(probe, ruleBook.at(2).tx) + heavier) * 32n
    await pool.put(1, 0, { rate: 32n, amount: most + 1n })
    const fits = await pool.put(3, 0, { rate: 32n, amount: most })
    await pool.test.mineTo(2)
    expect(idsOf(pool.mempool.transactions())).toEqual([fits.txId])
    expect(pool.mempool.bytes).toBe(fits.size + 4)
  })

  it('unwound, judges by the rules of before', async () => {
    const ruleBook = stepAt(3, ({ tx }) => ({ tx: { ...tx, invokeAmountMin: 1n } }))
    const pool = await TestMempool.open({ ruleBook })
    await pool.test.mineTo(2)
    const low = await invoke(pool.test, 5n)
    expect(await pool.submit(low)).toBeNull()
    const other = await behind(pool.test, 2)
    expect(other.height).toBe(0)
    expect(await (await TestMempool.open({ test: other })).submit(low)).toMatchObject({ code: 'tx/amount' })
  })
})
