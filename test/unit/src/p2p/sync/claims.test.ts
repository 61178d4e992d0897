import { beforeAll, describe, expect, it } from 'vitest'
import type { Block } from '../../../../../consensus/block/block.ts'
import { extendTip, type HeaderTip, headerTipOf } from '../../../../../consensus/block/header-tip.ts'
import { createRuleBook } from '../../../../../consensus/chain/rule-book.ts'
import type { BlockId } from '../../../../../consensus/primitives/ids.ts'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import { pause } from '../../../../../src/p2p/relay/within.ts'
import { Signal } from '../../../../../src/p2p/sync/signal.ts'
import type { Status } from '../../../../../src/p2p/wire/messages.ts'
import { PROTOCOL } from '../../../../../src/protocol.ts'
import { blocksFrom, fork, mineBranch } from '../../../../support/branches.ts'
import { TestChain } from '../../../../support/chain.ts'
import { childHeader, headerBranch } from '../../../../support/header-branch.ts'
import { fastDevnet } from '../../../../support/network.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { SyncNode } from '../../../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'

const BLOCKS = 200
const HEAVY = 2n ** 200n
let source: TestChain

beforeAll(async () => {
  source = await TestChain.open()
  await source.mineTo(BLOCKS)
}, 60_000)

function hubNow(): MemoryNetwork {
  return new MemoryNetwork(new VirtualTime(source.nowMs + 10_000_000))
}

function claiming(claim: Partial<Status>): (status: Status) => Status {
  return (status) => ({ ...status, ...claim })
}

const FAR = { head: 'ee'.repeat(32) as BlockId, height: 1_000_000, totalWork: HEAVY }

const MINIMUM_WORK = 3_000n
/** A network whose minimum work needs more than two thousand headers, and a branch of four thousand. */
async function longBranch() {
  const ruleBook = createRuleBook({ ...fastDevnet(), minimumWork: MINIMUM_WORK }, PROTOCOL)
  const test = await TestChain.open(ruleBook)
  const branch = headerBranch(ruleBook, headerTipOf(test.chain.database, test.chain.head), 4_000)
  const [begin, tip] = [branch[1_999], branch.at(-1)] as readonly HeaderTip[] as readonly [HeaderTip, HeaderTip]
  expect([begin.totalWork < MINIMUM_WORK, tip.totalWork >= MINIMUM_WORK]).toEqual([true, true])
  return { ruleBook, test, branch, tip }
}

describe('an unproven claim', () => {
  it('keeps a node from its work for seconds, though its owner answers nothing and comes again under other names', async () => {
    const hub = hubNow()
    const node = await SyncNode.open(hub, 'node', { test: await fork(source) })
    node.synchroniser.start()
    for (let i = 0; i < 20; i++) {
      const liar = await SyncNode.open(hub, `liar ${i}`, { says: claiming(FAR) })
      liar.peers.exchange.answer('headers', () => new Promise(() => {}))
      hub.connect(liar.network, node.network)
      await hub.time.pass(1_000)
    }
    expect(node.synchroniser.progress().behind).toBe(false)
    await node.stop()
  })

  it('keeps it no longer where easy headers come drop by drop', async () => {
    const ruleBook = createRuleBook(fastDevnet(1_000n), PROTOCOL)
    const test = await TestChain.open(ruleBook, undefined, { powHasher: () => new Uint8Array(32) })
    const { database, head } = test.chain
    const easy: HeaderTip[] = []
    for (let tip = headerTipOf(database, head); easy.length < 4_000; easy.push(tip)) {
      const next = extendTip(ruleBook, tip, childHeader(ruleBook, tip, { timeMs: tip.header.timeMs + 200_000 }))
      if (!next.ok) throw new Error(next.fault.code)
      tip = next.value
    }
    await test.mineTo(BLOCKS)
    const hub = new MemoryNetwork(new VirtualTime(test.nowMs + 1_000_000_000))
    const node = await SyncNode.open(hub, 'node', { test })
    const liar = await SyncNode.open(hub, 'liar', { ruleBook, says: claiming(FAR) })
    let pages = 0
    liar.peers.exchange.answer('headers', async (_, { locator, limit }) => {
      const start = easy.findIndex(({ id }) => locator.includes(id)) + 1
      await new Promise<void>((resolve) => hub.time.after(4_000, resolve))
      pages += 1
      return { reply: easy.slice(start, start + limit).map(({ bytes }) => bytes) }
    })
    hub.connect(node.network, liar.network)
    node.synchroniser.start()
    await hub.time.pass(14_000)
    expect(pages).toBeGreaterThan(1)
    expect(node.hashes).toBe(0)
    expect(node.synchroniser.progress().headersHeight).toBe(BLOCKS)
    expect(node.synchroniser.progress().behind).toBe(false)
    await node.stop()
  })

  it('keeps others from being looked at no longer, though its owner says that it is busy just in time', async () => {
    const { ruleBook, test, branch, tip } = await longBranch()
    const hub = new MemoryNetwork(new VirtualTime(tip.header.timeMs))
    const node = await SyncNode.open(hub, 'node', { test })
    const open = async (name: string, totalWork: bigint, waitMs: number): Promise<SyncNode> => {
      const claim = claiming({ head: tip.id, height: branch.length, totalWork })
      const peer = await SyncNode.open(hub, name, { ruleBook, says: claim })
      peer.peers.exchange.answer('headers', async (_, { locator, limit }) => {
        const from = branch.findIndex(({ id }) => id === locator[0]) + 1
        if (from > 0) await pause(hub.time, waitMs)
        if (from > 0 && waitMs > 0) return { refusal: 'busy' }
        return { reply: branch.slice(from, from + limit).map(({ bytes }) => bytes) }
      })
      hub.connect(node.network, peer.network)
      return peer
    }
    for (const name of ['liar 1', 'liar 2', 'liar 3']) await open(name, HEAVY, 14_000)
    await open('good', tip.totalWork, 0)
    node.synchroniser.start()
    await hub.time.pass(60_000)
    expect(node.hashes).toBeGreaterThan(0)
    expect(node.offencesOf('good')).toEqual([])
    await node.stop()
  })

  it('keeps a node from others for no more than one patience, though pages of known headers come slowly', async () => {
    const hub = hubNow()
    const [known] = blocksFrom(source, 1)
    const node = await SyncNode.open(hub, 'node')
    await node.test.import(known as Block)
    const liar = await SyncNode.open(hub, 'liar', { says: claiming(FAR) })
    liar.peers.exchange.answer('headers', async (_, { limit }) => {
      await pause(hub.time, 4_900)
      return { reply: Array.from({ length: limit }, () => (known as Block).bytes) }
    })
    hub.connect(liar.network, node.network)
    await hub.time.pass(100)
    node.synchroniser.start()
    await hub.time.pass(50)
    const good = await SyncNode.open(hub, 'good', { test: source })
    hub.connect(node.network, good.network)
    await hub.time.pass(6_000)
    expect(node.height).toBe(BLOCKS)
    await node.stop()
  })

  it('and changes every moment keeps it from no other branch', async () => {
    const hub = hubNow()
    const node = await SyncNode.open(hub, 'node', { test: await fork(source) })
    const ahead = await fork(source)
    let told = 0
    const liar = await SyncNode.open(hub, 'liar', {
      says: (status) => {
        told += 1
        const head = told.toString(16).padStart(64, '0') as BlockId
        return { ...status, head, height: BLOCKS + 1, totalWork: HEAVY + BigInt(told) }
      },
    })
    liar.peers.exchange.answer('headers', () => ({ reply: [] }))
    const good = await SyncNode.open(hub, 'good', { test: ahead })
    hub.connect(node.network, good.network)
    node.synchroniser.start()
    await hub.time.pass(5_000)
    expect(node.synchroniser.progress().behind).toBe(false)
    hub.connect(node.network, liar.network)
    // Two new blocks, of which no gossip tells the node.
    await mineBranch(ahead, 2, 1)
    for (let i = 0; i < 60; i++) {
      void liar.peers.exchange.ask(node.network.self, 'status', statusAgain(liar, i))
      await hub.time.pass(500)
    }
    expect(node.height).toBe(BLOCKS + 2)
    await node.stop()
  })
})

function statusAgain(liar: SyncNode, i: number): Status {
  const { chain } = liar.test
  return {
    version: 1,
    genesis: chain.ruleBook.genesis.block.id,
    rules: chain.ruleBook.fingerprintAt(BLOCKS + 1),
    agent: 'liar',
    head: (i + 1_000_000).toString(16).padStart(64, '0') as BlockId,
    height: BLOCKS + 1,
    totalWork: 2n * HEAVY + BigInt(i),
    mode: 0,
    bodiesFrom: 0,
    witnessesFrom: 0,
    snapshots: [],
  }
}

describe('a branch that claims enough', () => {
  it.each(['the clock of the node is behind', 'its owner is busy'])(
    'is no fault of its owner while %s',
    async (why) => {
      const { ruleBook, test, branch, tip } = await longBranch()
      const isSlow = why.includes('clock')
      const hub = new MemoryNetwork(new VirtualTime((isSlow ? branch[2_500]! : tip).header.timeMs))
      const node = await SyncNode.open(hub, 'node', { test })
      const claim = claiming({ head: tip.id, height: branch.length, totalWork: tip.totalWork })
      const good = await SyncNode.open(hub, 'good', { ruleBook, says: claim })
      let later = 0
      good.peers.exchange.answer('headers', (_, { locator, limit }) => {
        const from = branch.findIndex(({ id }) => id === locator[0]) + 1
        if (from > 0) later += 1
        if (from > 0 && !isSlow) return { refusal: 'busy' }
        return { reply: branch.slice(from, from + limit).map(({ bytes }) => bytes) }
      })
      hub.connect(node.network, good.network)
      node.synchroniser.start()
      await hub.time.pass(60_000)
      expect(later).toBeGreaterThan(0)
      expect(node.offencesOf('good')).toEqual([])
      await node.stop()
    },
  )
})

describe('a header that a peer passed on before any peer saw its body', () => {
  it('is no claim of that peer, whatever becomes of the body', async () => {
    const hub = hubNow()
    const node = await SyncNode.open(hub, 'node', { test: await fork(source) })
    const good = await SyncNode.open(hub, 'good', { test: await fork(source) })
    hub.connect(node.network, good.network)
    node.synchroniser.start()
    await hub.time.pass(5_000)
    const { totalWork } = node.test.chain.head
    node.peers.noteHead('good' as PeerId, { id: FAR.head, height: BLOCKS + 1, totalWork: totalWork + 1_000n })
    await hub.time.pass(30_000)
    expect(good.network.requests.filter(({ protocol }) => protocol === 'headers').length).toBeGreaterThan(0)
    expect(node.offencesOf('good')).toEqual([])
    await node.stop()
  })
})

describe('a wait for a signal', () => {
  it('leaves nothing behind once the time is over', async () => {
    const time = new VirtualTime(0)
    let cancelled = 0
    const signal = new Signal({
      after: (ms, run) => {
        const cancel = time.after(ms, run)
        return () => {
          cancelled += 1
          cancel()
        }
      },
    })
    for (let i = 0; i < 10; i++) {
      void signal.wait(1)
      await time.pass(2)
    }
    const over = cancelled
    signal.wake()
    expect(cancelled).toBe(over)
  })
})
