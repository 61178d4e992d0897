import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { powInput } from '../../../consensus/block/pow.ts'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import { type Pacer, UNPACED } from '../../../consensus/chain/ports.ts'
import { uintBE } from '../../../consensus/primitives/bytes.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { REFRESH_MS } from '../../../miner/miner.ts'
import { fork, importAll, mineBranch } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { EXTRA, HeldPacer, REWARD_TO, TestMiner } from '../../support/mining.ts'
import { DyingStore } from '../../support/stores.ts'
import { SAMPLE, units } from '../../support/unsigned.ts'

const PAY = SAMPLE.transfer({ to: wallet(10).address, amount: units(5_000) })
const pay = (test: TestChain, from: number, tip = 1n): Promise<Transaction> =>
  test.tx(wallet(from), 'transfer', PAY, { tip })

async function opened(test?: TestChain, pacer: Pacer = UNPACED): Promise<TestMiner> {
  return new TestMiner(test ?? (await TestChain.open()), pacer)
}

async function started(test?: TestChain): Promise<TestMiner> {
  const mining = await opened(test)
  mining.miner.start()
  await mining.assigned(1)
  return mining
}

const idsOf = (transactions: readonly Transaction[] = []): readonly string[] => transactions.map(({ txId }) => txId)

/** Lets the event loop turn 20 times. By then all work that needs no timer is done. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await setImmediate()
}

describe('a miner that starts', () => {
  it('has done nothing before, whatever the chain and the mempool do', async () => {
    const mining = await opened()
    await mining.submit(await pay(mining.test, 1))
    await mining.test.mine()
    await settled()
    expect([mining.searcher.jobs, mining.timers.waits, mining.miner.template]).toEqual([[], [], undefined])
  })

  it('gives the threads the header of a block on the head, its target and the cost of a hash', async () => {
    const mining = await started()
    const { block, parent } = mining.miner.template!
    expect(parent.id).toBe(mining.test.chain.head.id)
    expect(block.header).toMatchObject({ height: 1, miner: REWARD_TO, timeMs: mining.test.nowMs + mining.aheadMs })
    expect(block.header.extra).toEqual(EXTRA)
    const { pow } = mining.test.ruleBook.at(1).block
    const job = { input: powInput(block.bytes), target: uintBE(block.header.target, 32), cost: pow }
    expect(mining.searcher.jobs).toEqual([job])
    expect(mining.timers.waits).toEqual([REFRESH_MS])
  })

  it('lets them work on an empty block first, then on what waits in the mempool', async () => {
    const mining = await opened()
    const waiting = [await pay(mining.test, 1, 2n), await pay(mining.test, 2, 9n)]
    await mining.submit(...waiting)
    mining.miner.start()
    await mining.assigned(2)
    expect(mining.templates.map((template) => idsOf(template?.block.transactions))).toEqual([
      [],
      idsOf(waiting.toReversed()),
    ])
  })
})

describe('a nonce that was found', () => {
  it('makes a block that becomes the head, and the threads go on above it', async () => {
    const mining = await started()
    const tx = await pay(mining.test, 1)
    await mining.submit(tx)
    mining.timers.fire()
    const { block } = await mining.searching('with the payment', (template) => template.block.transactions.length === 1)
    mining.searcher.solve()
    const next = await mining.searching('at height 2', (template) => template.block.header.height === 2)
    expect(mining.mined.length).toBe(1)
    const [own] = mining.mined as [typeof block]
    expect({ ...own.header, nonce: 0n }).toEqual(block.header)
    expect([own.id, idsOf(own.transactions)]).toEqual([mining.test.chain.head.id, [tx.txId]])
    expect([next.parent.id, next.block.transactions]).toEqual([own.id, []])
    expect([mining.mempool.count, mining.refused, mining.fatal]).toEqual([0, [], []])
  })

  it('lets the threads rest while its block is imported: no second block of the same template', async () => {
    const mining = await started()
    const { job } = mining.searcher
    mining.searcher.solve()
    expect([mining.searcher.job, mining.miner.template]).toEqual([null, undefined])
    mining.searcher.solve(job)
    await mining.searching('at height 2', (template) => template.block.header.height === 2)
    await settled()
    expect([mining.mined.length, mining.refused.length, mining.test.height]).toEqual([1, 0, 1])
  })

  it('for a job that was replaced is worth nothing', async () => {
    const mining = await started()
    const { job } = mining.searcher
    const rival = await mining.test.mine()
    await mining.searching('on the rival', (template) => template.parent.id === rival.id)
    mining.searcher.solve(job)
    await settled()
    expect([mining.mined, mining.refused, mining.test.chain.head.id]).toEqual([[], [], rival.id])
    expect(mining.searcher.job).not.toBeNull()
  })

  it('mines a chain of one’s own, block after block', async () => {
    const mining = await started()
    for (let height = 1; height <= 5; height++) {
      await mining.searching(`at height ${height}`, (template) => template.block.header.height === height)
      mining.test.nowMs += 3_000
      mining.searcher.solve()
    }
    await mining.searching('at height 6', (template) => template.block.header.height === 6)
    expect(mining.mined.map(({ header }) => header.height)).toEqual([1, 2, 3, 4, 5])
    expect(mining.test.height).toBe(5)
  })
})

describe('a new head', () => {
  it('of another miner gives the threads an empty block on it at once, then a full one', async () => {
    const mining = await started()
    const [mined, waiting] = [await pay(mining.test, 1), await pay(mining.test, 2)]
    await mining.submit(mined, waiting)
    const rival = await mining.test.mine([mined])
    await mining.assigned(3)
    const onRival = mining.templates.slice(1)
    expect(onRival.map((template) => template?.parent.id)).toEqual([rival.id, rival.id])
    expect(onRival.map((template) => idsOf(template?.block.transactions))).toEqual([[], [waiting.txId]])
  })

  it('with nothing waiting gives one job', async () => {
    const mining = await started()
    await mining.test.mine()
    await settled()
    expect(mining.templates.map((template) => template?.block.header.height)).toEqual([1, 2])
  })

  it('that comes while a template is built makes that one void', async () => {
    const pacer = new HeldPacer()
    const mining = await opened(undefined, pacer)
    mining.miner.start()
    await settled()
    expect([pacer.waiting, mining.searcher.jobs]).toEqual([true, []])
    const rival = await mining.test.mine()
    pacer.release()
    await mining.assigned(1)
    await settled()
    expect(mining.templates.map((template) => template?.parent.id)).toEqual([rival.id])
  })

  it('on another branch is worked on, with what the old branch had mined', async () => {
    const common = await TestChain.open()
    await common.mine()
    const other = await fork(common)
    const mining = await started(common)
    const tx = await pay(common, 1)
    await common.mine([tx])
    const theirs = await mineBranch(other, 2, 7)
    expect(await importAll(common, theirs)).toBe('connected')
    const again = await mining.searching('with the payment', (template) => template.block.transactions.length === 1)
    expect([again.parent.id, idsOf(again.block.transactions)]).toEqual([theirs[1]!.id, [tx.txId]])
    mining.searcher.solve()
    await mining.searching('at height 5', (template) => template.block.header.height === 5)
    expect(common.chain.database.location(tx.txId)).toEqual({ height: 4, index: 0 })
  })
})

describe('every second', () => {
  it('better fees are taken up, and not before', async () => {
    const mining = await started()
    const [cheap, dear] = [await pay(mining.test, 1, 5n), await pay(mining.test, 2, 500n)]
    await mining.submit(cheap)
    await settled()
    expect(mining.searcher.jobs.length).toBe(1)
    mining.timers.fire()
    await mining.assigned(2)
    await mining.submit(dear)
    mining.timers.fire()
    await mining.assigned(3)
    const taken = mining.templates.map((template) => idsOf(template?.block.transactions))
    expect(taken).toEqual([[], [cheap.txId], idsOf([dear, cheap])])
  })

  it('a block without better fees gets the time of the clock and is otherwise the same', async () => {
    const mining = await started()
    await mining.submit(await pay(mining.test, 1))
    mining.timers.fire()
    await mining.assigned(2)
    mining.test.nowMs += 1_000
    mining.timers.fire()
    await mining.assigned(3)
    const [, before, after] = mining.templates.map((template) => template!.block)
    const timeMs = mining.test.nowMs + mining.aheadMs
    expect([after!.header, after!.transactions]).toEqual([{ ...before!.header, timeMs }, before!.transactions])
    expect(mining.searcher.job?.input).toEqual(powInput(after!.bytes))
    mining.searcher.solve()
    await mining.searching('at height 2', (template) => template.block.header.height === 2)
    expect(mining.mined[0]!.header.timeMs).toBe(timeMs)
  })

  it('nothing is executed again unless something was admitted', async () => {
    let steps = 0
    const counting: Pacer = {
      due: () => {
        steps++
        return false
      },
      pause: () => Promise.resolve(),
    }
    const mining = await opened(undefined, counting)
    await mining.submit(await pay(mining.test, 1))
    mining.miner.start()
    await mining.assigned(2)
    const before = steps
    mining.timers.fire()
    mining.timers.fire()
    await settled()
    expect([steps, mining.searcher.jobs.length]).toEqual([before, 4])
    await mining.submit(await pay(mining.test, 2))
    mining.timers.fire()
    await mining.assigned(5)
    const after = steps
    expect(after).toBeGreaterThan(before)
    mining.timers.fire()
    await settled()
    expect([steps, mining.searcher.jobs.length]).toEqual([after, 6])
  })

  it('a clock that was set back does not move a block before its time', async () => {
    const mining = await started()
    const { timeMs } = mining.miner.template!.block.header
    mining.aheadMs -= 60_000
    mining.timers.fire()
    await mining.assigned(2)
    expect(mining.miner.template!.block.header.timeMs).toBe(timeMs)
  })

  it('comes again and again, and goes on after a new head', async () => {
    const mining = await started()
    for (let i = 0; i < 3; i++) {
      expect(mining.timers.waits).toEqual([REFRESH_MS])
      await mining.test.mine()
      mining.timers.fire()
    }
    expect(mining.timers.waits).toEqual([REFRESH_MS])
  })
})

describe('an own block that the chain refuses', () => {
  it('is reported with its fault, and the threads get another', async () => {
    const mining = await started()
    const { futureMsMax } = mining.test.ruleBook.at(1).block
    mining.aheadMs = futureMsMax + 1
    mining.timers.fire()
    await mining.assigned(2)
    const { header } = mining.miner.template!.block
    mining.searcher.solve()
    const next = await mining.searching('once more', () => true)
    const detail = { time: header.timeMs, aheadMsMax: futureMsMax }
    expect(mining.refused.map((one) => one.fault)).toEqual([fault('block/time-too-new', detail)])
    expect({ ...mining.refused[0]!.block.header, nonce: 0n }).toEqual(header)
    expect([mining.mined, mining.fatal, mining.test.height, next.block.header.height]).toEqual([[], [], 0, 1])
    mining.test.nowMs += 5_000
    mining.searcher.solve()
    await mining.searching('at height 2', (template) => template.block.header.height === 2)
    expect([mining.mined.length, mining.refused.length]).toEqual([1, 1])
  })

  it('because a rival came first is a side block, and the work goes on above the rival', async () => {
    const mining = await started()
    const rival = await mining.test.build()
    const arriving = mining.test.import(rival)
    mining.searcher.solve()
    expect(await arriving).toBe('connected')
    await mining.searching('on the rival', (template) => template.parent.id === rival.id)
    await settled()
    expect([mining.test.chain.head.id, mining.refused, mining.fatal]).toEqual([rival.id, [], []])
  })

  it('because the disk fails is fatal, not refused', async () => {
    const store = new DyingStore(new MemoryKeyValueStore(), 1)
    const mining = await started(await TestChain.open(undefined, store))
    mining.searcher.solve()
    await settled()
    expect([mining.fatal, mining.refused, mining.mined]).toEqual([[new Error('the process died')], [], []])
  })
})

describe('a miner that stops', () => {
  it('lets the threads rest and hears of nothing any more', async () => {
    const mining = await started()
    const { job } = mining.searcher
    await mining.miner.stop()
    expect([mining.searcher.job, mining.miner.template, mining.timers.waits]).toEqual([null, undefined, []])
    const assigned = mining.searcher.jobs.length
    mining.searcher.solve(job)
    await mining.submit(await pay(mining.test, 1))
    await mining.test.mine()
    await settled()
    expect([mining.searcher.jobs.length, mining.mined, mining.test.height]).toEqual([assigned, [], 1])
  })

  it('waits for the template that is being built, and does not use it', async () => {
    const pacer = new HeldPacer()
    const mining = await opened(undefined, pacer)
    mining.miner.start()
    await settled()
    let stopped = false
    const stopping = mining.miner.stop().then(() => {
      stopped = true
    })
    await settled()
    expect([stopped, pacer.waiting]).toEqual([false, true])
    pacer.release()
    await stopping
    await settled()
    expect(mining.searcher.jobs).toEqual([null])
  })

  it('may start again, on the head of then', async () => {
    const mining = await started()
    await mining.miner.stop()
    const rival = await mining.test.mine()
    mining.miner.start()
    await mining.searching('on the rival', (template) => template.parent.id === rival.id)
    mining.searcher.solve()
    await mining.searching('at height 3', (template) => template.block.header.height === 3)
    expect([mining.mined.length, mining.timers.waits]).toEqual([1, [REFRESH_MS]])
  })
})
