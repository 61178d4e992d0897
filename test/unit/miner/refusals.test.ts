import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../../consensus/block/block.ts'
import { type Pacer, UNPACED } from '../../../consensus/chain/ports.ts'
import { createRuleBook } from '../../../consensus/chain/rule-book.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail } from '../../../consensus/primitives/result.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { buildTemplate } from '../../../miner/template.ts'
import { PROTOCOL } from '../../../src/protocol.ts'
import { deviantRuleBook, fork, mineBranch, outcomeOf } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { EXTRA, REWARD_TO, TestMiner } from '../../support/mining.ts'
import { testParams } from '../../support/network.ts'
import { SAMPLE, units } from '../../support/unsigned.ts'

const PAY = SAMPLE.transfer({ to: wallet(10).address, amount: units(5_000) })
const pay = (test: TestChain, from: number, nonce?: bigint): Promise<Transaction> =>
  test.tx(wallet(from), 'transfer', PAY, nonce === undefined ? {} : { nonce })
const idsOf = (transactions: readonly Transaction[] = []): readonly string[] => transactions.map(({ txId }) => txId)

/** Lets the event loop turn 50 times. By then all work that needs no timer is done. */
async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await setImmediate()
}

async function started(test: TestChain, pacer: Pacer = UNPACED): Promise<TestMiner> {
  const mining = new TestMiner(test, pacer)
  mining.miner.start()
  await mining.assigned(1)
  return mining
}

/** Makes a chain refuse the blocks that `refuses` selects, with a fault that names no transaction. */
function refusing({ chain }: TestChain, refuses: (block: Block) => boolean, reason: Fault): void {
  const accept = chain.import.bind(chain)
  chain.import = async (block) => (refuses(block) ? fail(reason) : accept(block))
}

describe('a candidate that the rules of the next block forbid', () => {
  const params = testParams()
  const { rules } = params.steps[0] as (typeof params.steps)[number]
  const stricter = { ...rules, tx: { ...rules.tx, invokeAmountMin: 200_000n } }
  const ruleBook = createRuleBook({ ...params, steps: [...params.steps, { fromHeight: 2, rules: stricter }] }, PROTOCOL)
  const invoke = (test: TestChain) =>
    test.tx(wallet(1), 'agent_invoke', SAMPLE.agent_invoke({ amount: units(199_999n) }))
  const cause = fault('tx/amount', { field: 'amount', value: '199999', least: '200000' })

  it('is left out of the block with its reason, and stood in the one before', async () => {
    const test = await TestChain.open(ruleBook)
    const [low, good] = [await invoke(test), await pay(test, 3)]
    const build = () => {
      const nowMs = test.chain.head.header.timeMs + 3_000
      return buildTemplate(test.chain, UNPACED, { miner: REWARD_TO, nowMs, candidates: [low, good], extra: EXTRA })
    }
    expect((await build())?.refused).toEqual([])
    await test.mine()
    const built = await build()
    expect([built?.refused, idsOf(built?.block.transactions)]).toEqual([[{ tx: low, fault: cause }], [good.txId]])
    test.nowMs += 3_000
    expect(await outcomeOf(test, built?.block as Block)).toBe('connected')
  })

  it('is dropped by the miner, like all that can never be mined, and what may heal is not', async () => {
    const test = await TestChain.open(ruleBook)
    await test.mine([await pay(test, 4)])
    const mining = new TestMiner(test, UNPACED)
    const used = await pay(test, 4, 0n)
    const [low, early, good] = [await invoke(test), await pay(test, 5, 1n), await pay(test, 3)]
    const cheap = await test.tx(wallet(6), 'transfer', PAY, { maxFeeRate: 31n })
    const given = [low, used, early, cheap, good]
    await mining.submit(good)
    const dropped: string[] = []
    mining.mempool.candidates = function* () {
      yield* given
    }
    mining.mempool.drop = (txId) => dropped.push(txId)
    mining.miner.start()
    await mining.assigned(2)
    expect([idsOf(mining.miner.template?.block.transactions), dropped]).toEqual([[good.txId], idsOf([low, used])])
  })
})

describe('an own block that is refused', () => {
  it('for a transaction costs that one its place, and then the others stand in the next', async () => {
    const verifier = { verify: async (jobs: readonly unknown[]) => jobs.map(() => false) }
    const test = await TestChain.open(undefined, undefined, { verifier })
    const mining = await started(test)
    const both = [await pay(test, 1), await pay(test, 3)]
    await mining.submit(...both)
    // Makes the chain verify the signatures again, although the mempool has checked them.
    test.chain.verified.has = () => false
    mining.timers.fire()
    await mining.searching('with both', ({ block }) => block.transactions.length === 2)
    mining.searcher.solve()
    await mining.searching('with one', ({ block }) => block.transactions.length === 1)
    const reason = (index: number) => fault('block/transaction', { index, reason: 'tx/bad-signature' })
    expect(mining.refused.map((one) => one.fault)).toEqual([reason(0)])
    expect(idsOf(mining.mempool.transactions())).toEqual([both[1]?.txId])
    mining.searcher.solve()
    await mining.searching('with none', ({ block }) => block.transactions.length === 0)
    await settled()
    mining.searcher.solve()
    await mining.searching('at height 2', ({ block }) => block.header.height === 2)
    expect([mining.mempool.count, mining.mined.length, mining.refused.length]).toEqual([0, 1, 2])
  })

  it('twice for a cause that the miner cannot name is followed by empty ones until the head moves', async () => {
    const test = await TestChain.open()
    refusing(test, ({ transactions }) => transactions.length > 0, fault('block/state-root'))
    const mining = await started(test)
    await mining.submit(await pay(test, 1))
    mining.timers.fire()
    for (let i = 1; i <= 2; i++) {
      await mining.searching('with the payment', ({ block }) => block.transactions.length === 1)
      mining.searcher.solve()
      await settled()
      expect(mining.refused.length).toBe(i)
    }
    expect(mining.miner.template?.block.transactions).toEqual([])
    // Higher fees do not bring it back on this head either.
    await mining.submit(await pay(test, 3))
    mining.timers.fire()
    await settled()
    expect(mining.miner.template?.block.transactions).toEqual([])
    mining.searcher.solve()
    await mining.searching('above', ({ block }) => block.header.height === 2 && block.transactions.length === 2)
    expect([mining.mined.length, mining.refused.length, mining.mempool.count]).toEqual([1, 2, 2])
  })

  it('even with nothing in it is tried again every second, not at once', async () => {
    const test = await TestChain.open()
    let sound = false
    refusing(test, () => !sound, fault('block/state-root'))
    const mining = await started(test)
    for (let i = 1; i <= 3; i++) {
      expect(mining.searcher.job).not.toBeNull()
      mining.searcher.solve()
      await settled()
      expect(mining.refused.length).toBe(i)
    }
    expect([mining.searcher.job, mining.miner.template]).toEqual([null, undefined])
    mining.timers.fire()
    await settled()
    sound = true
    mining.searcher.solve()
    await mining.searching('at height 2', ({ block }) => block.header.height === 2)
    expect([mining.mined.length, mining.refused.length, mining.fatal]).toEqual([1, 3, []])
  })
})

describe('an own block that ends up on a side branch', () => {
  it('is not reported as mined', async () => {
    const test = await TestChain.open()
    const mining = await started(test)
    const rival = await test.build()
    const arriving = test.import(rival)
    mining.searcher.solve()
    expect(await arriving).toBe('connected')
    await mining.searching('on the rival', ({ parent }) => parent.id === rival.id)
    await settled()
    expect([mining.mined, mining.refused, mining.fatal]).toEqual([[], [], []])
  })
})

describe('a reorganisation that fails', () => {
  /** A miner at height 3. Its template is held while an invalid branch is tried and the old one restored. */
  async function tried(gateFrom: 'the start' | 'a new head') {
    const test = await TestChain.open()
    await test.mine()
    const evil = await fork(test, { ruleBook: deviantRuleBook(4) })
    const branch = await mineBranch(evil, 3, 9)
    await test.mine()
    if (gateFrom === 'the start') await test.mine()
    let open = gateFrom !== 'the start'
    const waiting: (() => void)[] = []
    const pacer: Pacer = {
      due: () => !open,
      pause: () => new Promise<void>((resolve) => waiting.push(resolve)),
    }
    const mining = new TestMiner(test, pacer)
    mining.miner.start()
    if (open) {
      await mining.assigned(1)
      open = false
      await test.mine()
    }
    for (const block of branch.slice(0, 2)) expect(await outcomeOf(test, block)).toBe('side')
    await settled()
    expect(waiting.length).toBe(1)
    const { database } = test.chain
    const disconnect = database.disconnect.bind(database)
    database.disconnect = async (...parts) => {
      await disconnect(...parts)
      open = true
      for (const resolve of waiting.splice(0)) resolve()
      await settled()
      mining.timers.fire()
    }
    const { id } = test.chain.head
    test.nowMs = Math.max(test.nowMs, evil.nowMs)
    expect(await outcomeOf(test, branch[2] as Block)).toMatchObject({ code: 'block/receipts-root' })
    expect(test.chain.head.id).toBe(id)
    await settled()
    mining.timers.fire()
    return { mining, id }
  }

  it.each(['the start', 'a new head'] as const)('does not leave a miner idle or on a dead parent: %s', async (from) => {
    const { mining, id } = await tried(from)
    await mining.searching('on the head', ({ parent }) => parent.id === id)
    mining.test.nowMs += 3_000
    mining.searcher.solve()
    await mining.searching('at height 5', ({ block }) => block.header.height === 5)
    expect([mining.mined.length, mining.refused, mining.fatal]).toEqual([1, [], []])
  })
})
