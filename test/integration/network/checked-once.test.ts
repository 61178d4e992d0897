import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type Block, decodeBlock, encodeBlock } from '../../../consensus/block/block.ts'
import { matchBody } from '../../../consensus/block/check.ts'
import { extendTip, headerTipOf } from '../../../consensus/block/header-tip.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { makeCompactBlock } from '../../../src/p2p/relay/compact-block.ts'
import { fork } from '../../support/branches.ts'
import { TestChain, wallet, withHeader } from '../../support/chain.ts'
import { MemoryNetwork } from '../../support/p2p/memory-network.ts'
import { RelayNode } from '../../support/p2p/relay-node.ts'
import { SyncNode } from '../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../support/sim/virtual-clock.ts'
import { units } from '../../support/unsigned.ts'

const count = vi.hoisted(() => ({ header: 0, clock: 0, work: 0, transactionsRoot: 0, witnessRoot: 0 }))

vi.mock(import('../../../consensus/block/check.ts'), async (load) => {
  const real = await load()
  return {
    ...real,
    checkHeader: (...args) => {
      count.header++
      return real.checkHeader(...args)
    },
    checkHeaderClock: (...args) => {
      count.clock++
      return real.checkHeaderClock(...args)
    },
    checkProofOfWork: (...args) => {
      count.work++
      return real.checkProofOfWork(...args)
    },
  }
})

vi.mock(import('../../../consensus/block/block.ts'), async (load) => {
  const real = await load()
  return {
    ...real,
    transactionsRoot: (transactions) => {
      count.transactionsRoot++
      return real.transactionsRoot(transactions)
    },
    witnessRoot: (transactions) => {
      count.witnessRoot++
      return real.witnessRoot(transactions)
    },
  }
})

const ONCE = { header: 1, clock: 1, work: 1, transactionsRoot: 1, witnessRoot: 1 }
/** Threads check the proof of work of gossip, so the main thread does not hash again. */
const ONCE_IN_GOSSIP = { ...ONCE, work: 0 }

let source: TestChain
let hub: MemoryNetwork

function reset(): void {
  Object.assign(count, { header: 0, clock: 0, work: 0, transactionsRoot: 0, witnessRoot: 0 })
}

const pays = (many: number): Promise<Transaction[]> =>
  Promise.all(
    Array.from({ length: many }, (_, i) =>
      source.tx(wallet(i + 1), 'transfer', { to: wallet(10).address, amount: units(5_000n), create: false }),
    ),
  )

/** Two nodes that know each other and share the source's chain so far. */
async function pair(): Promise<readonly [RelayNode, RelayNode]> {
  const one = await RelayNode.open(hub, 'one', { like: source })
  const other = await RelayNode.open(hub, 'other', { like: source })
  hub.connect(one.network, other.network)
  await hub.time.pass(100)
  return [one, other]
}

beforeEach(async () => {
  source = await TestChain.open()
  await source.mineTo(2)
  hub = new MemoryNetwork(new VirtualTime(source.nowMs))
})

describe('a block of gossip has each check run exactly once', () => {
  it('when its message brings the whole body', async () => {
    const [one, other] = await pair()
    const block = await source.mine(await pays(3))
    const message = makeCompactBlock(block, 1n, () => true)
    reset()
    one.network.send(other.id, 'blocks', message)
    await hub.time.pass(1_000)
    expect(other.test.chain.head.id).toBe(block.id)
    expect([count, other.hashes]).toEqual([ONCE_IN_GOSSIP, 1])
  })

  it('when the transactions that it names wait in the mempool', async () => {
    const [one, other] = await pair()
    const transactions = await pays(3)
    for (const tx of transactions) await other.mempool.submit(tx)
    const block = await source.mine(transactions)
    const message = makeCompactBlock(block, 1n, () => false)
    reset()
    one.network.send(other.id, 'blocks', message)
    await hub.time.pass(1_000)
    expect(other.test.chain.head.id).toBe(block.id)
    expect([count, other.hashes]).toEqual([ONCE_IN_GOSSIP, 1])
  })

  it('when the rest of the body is asked for', async () => {
    const [one, other] = await pair()
    const block = await source.mine(await pays(3))
    await one.test.import(block)
    reset()
    await hub.time.pass(1_000)
    one.network.send(
      other.id,
      'blocks',
      makeCompactBlock(block, 1n, () => false),
    )
    await hub.time.pass(2_000)
    expect(other.test.chain.head.id).toBe(block.id)
    expect([count, other.hashes]).toEqual([ONCE_IN_GOSSIP, 1])
  })

  it('when it is held until its time has come', async () => {
    const [one, other] = await pair()
    // Otherwise the other node would announce the block back to this one, whose checks would be counted too.
    await one.blocks.stop()
    const aheadMs = source.ruleBook.at(3).block.futureMsMax
    const block = await source.mine([], { afterMs: aheadMs + 20_000 })
    const message = makeCompactBlock(block, 1n, () => true)
    reset()
    one.network.send(other.id, 'blocks', message)
    await hub.time.pass(60_000)
    expect(other.test.chain.head.id).toBe(block.id)
    expect([count, other.hashes]).toEqual([ONCE_IN_GOSSIP, 1])
  })
})

describe('a block on every other path has each check run', () => {
  it('once when it is mined here or read from a file', async () => {
    const other = await fork(source)
    const block = await source.mine(await pays(2))
    const decoded = decodeBlock(encodeBlock(block))
    other.nowMs = source.nowMs
    reset()
    expect(decoded.ok && (await other.chain.import(decoded.value))).toEqual({ ok: true, value: 'connected' })
    expect(count).toEqual(ONCE)
  })

  it('at least once for every block that is synchronised', async () => {
    const blocks = 12
    for (let i = 0; i < blocks; i++) await source.mine(i === 0 ? await pays(2) : [])
    const fresh = await TestChain.open(source.ruleBook)
    hub = new MemoryNetwork(new VirtualTime(source.nowMs + 10_000_000))
    const node = await SyncNode.open(hub, 'node', { test: fresh })
    const other = await SyncNode.open(hub, 'other', { test: source })
    reset()
    hub.connect(node.network, other.network)
    node.synchroniser.start()
    await hub.time.pass(30_000)
    expect(fresh.chain.head.id).toBe(source.chain.head.id)
    const { height } = fresh.chain.head.header
    for (const times of [count.header, count.clock]) expect(times).toBeGreaterThanOrEqual(height)
    expect([count.transactionsRoot, count.witnessRoot, node.hashes]).toEqual([height, height, height])
  })
})

describe('a proof of earlier checks', () => {
  it('is lost when a block is copied, so that no change goes unnoticed', async () => {
    const block = await source.build(await pays(2))
    const matched = matchBody(block, block.transactions)
    if (!matched.ok) throw new Error(matched.fault.code)
    const changed: Block = { ...matched.value, transactions: block.transactions.slice(1) }
    expect(await source.chain.import(changed)).toMatchObject({ ok: false, fault: { code: 'block/transactions-root' } })
    reset()
    expect(await source.chain.import({ ...matched.value })).toMatchObject({ ok: true })
    expect([count.transactionsRoot, count.witnessRoot]).toEqual([1, 1])
  })

  it('is not made for a body that does not match the header', async () => {
    const [block, other] = [await source.build(await pays(2)), await source.build([])]
    expect(matchBody(block, other.transactions)).toMatchObject({ ok: false })
  })

  it('cannot be given other fields', async () => {
    const block = await source.build(await pays(2))
    const matched = matchBody(block, block.transactions)
    const { ruleBook, database, head } = source.chain
    const tip = extendTip(ruleBook, headerTipOf(database, head), block)
    if (!matched.ok || !tip.ok) throw new Error('the block is good')
    expect(() => Object.assign(matched.value, { transactions: [] })).toThrow(TypeError)
    expect(() => Object.assign(tip.value, { totalWork: 0n })).toThrow(TypeError)
  })

  it('is valid for its own header only', async () => {
    const good = await source.build([])
    const { ruleBook, database, head } = source.chain
    const tip = extendTip(ruleBook, headerTipOf(database, head), good)
    if (!tip.ok) throw new Error(tip.fault.code)
    const bad = withHeader(good, { target: good.header.target - 1n })
    const outcome = await source.chain.import(bad, { tip: tip.value })
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'block/target' } })
    reset()
    expect(await source.chain.import(good, { tip: tip.value })).toMatchObject({ ok: true })
    expect([count.header, count.clock, count.work]).toEqual([0, 1, 1])
  })
})
