import { beforeAll, describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../config/networks/rules.ts'
import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import { targetOfWork } from '../../../consensus/block/pow.ts'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../../../src/p2p/network.ts'
import { pause } from '../../../src/p2p/relay/within.ts'
import { serveState } from '../../../src/p2p/serve/state.ts'
import type { SnapshotRef, Status } from '../../../src/p2p/wire/messages.ts'
import type { StateSnapshots } from '../../../src/storage/state-snapshots.ts'
import { fork, mineBranch } from '../../support/branches.ts'
import { TestChain } from '../../support/chain.ts'
import { freePow } from '../../support/differential.ts'
import { testRuleBook } from '../../support/network.ts'
import { MemoryNetwork } from '../../support/p2p/memory-network.ts'
import { SyncNode } from '../../support/p2p/sync-node.ts'
import { slowly, snapshotsOf, type TakingNode, takingNode } from '../../support/p2p/taking-node.ts'
import { VirtualTime } from '../../support/sim/virtual-clock.ts'
import { headersAbove } from '../../support/snapshot-nodes.ts'
import { SILENT } from '../../support/wire.ts'

// A chain of difficult blocks, and a branch whose first block is so late that all after it are easy.
const EASIEST = targetOfWork(2n ** 14n)
const RULES = testRuleBook({
  block: { ...LAUNCH_RULES.block, powLimit: EASIEST, initialTarget: targetOfWork(2n ** 30n) },
})
const PARTS = { powHasher: freePow }
const LATE_MS = 7_200_000
const OWN = 300
const FORK = 250
const LONG = 1_600
const EVERY = 700
const PRUNED = { mode: 2, bodiesFrom: LONG - 600, witnessesFrom: LONG - 600 } as const

let own: TestChain
let lighter: TestChain
let snapshots: StateSnapshots

beforeAll(async () => {
  const test = await TestChain.open(RULES, new MemoryKeyValueStore(), PARTS)
  await test.mineTo(FORK)
  const store = new MemoryKeyValueStore()
  lighter = await fork(test, { store, parts: PARTS })
  own = test
  await own.mineTo(OWN)
  snapshots = snapshotsOf(lighter, store, EVERY)
  await lighter.mine([], { afterMs: LATE_MS })
  await lighter.mineTo(LONG)
}, 180_000)

interface World extends TakingNode {
  readonly hub: MemoryNetwork
  /** Serves only snapshots of the lighter branch. Unless `isTrue`, it claims more work than that branch has. */
  readonly liar: SyncNode
}

/** How a node begins: with the blocks of `own` or none, and how slowly the liar serves a state. */
interface Begin {
  readonly snapshotSetting?: 'auto' | 'always'
  readonly isFresh?: boolean
  readonly expectsPeers?: boolean
  readonly answerMs?: number
  /** Whether the liar claims its true work. */
  readonly isTrue?: boolean
}

async function world({
  snapshotSetting = 'auto',
  isFresh = false,
  expectsPeers = true,
  answerMs = 0,
  isTrue = false,
}: Begin = {}): Promise<World> {
  const hub = new MemoryNetwork(new VirtualTime(lighter.nowMs + 1_000_000))
  const { node, sync } = await takingNode(hub, {
    ...{ rules: RULES, snapshotSetting, expectsPeers },
    ...(!isFresh && { openChain: (parts) => fork(own, { parts }) }),
  })
  const { totalWork } = isTrue ? lighter.chain.head : { totalWork: own.chain.head.totalWork + 1n }
  const says = (status: Status): Status => ({ ...status, ...PRUNED, snapshots: snapshots.refs(), totalWork })
  const liar = await SyncNode.open(hub, 'liar', { test: lighter, says })
  serveState(liar.peers.exchange, { states: slowly(snapshots, hub, answerMs), ruleBook: RULES, log: SILENT })
  return { hub, node, sync, liar }
}

/** Adds an honest chosen peer with all blocks of the heavier chain. */
async function meet({ hub, node }: World): Promise<void> {
  const archive = await SyncNode.open(hub, 'archive', { test: own })
  hub.connect(node.network, archive.network)
}

it.each(['auto', 'always'] as const)(
  'a longer branch of less work takes no peer off its chain with a snapshot (%s)',
  async (snapshotSetting) => {
    expect(lighter.chain.head.totalWork).toBeLessThan(own.chain.head.totalWork)
    const { hub, node, sync, liar } = await world({ snapshotSetting })
    hub.connect(liar.network, node.network)
    node.synchroniser.start()
    await hub.time.pass(60_000)
    expect(node.test.chain.head.id).toBe(own.chain.head.id)
    expect(node.hashes).toBeGreaterThan(0)
    expect(sync.keptTip()).toBeUndefined()
    expect(node.offencesOf('liar')).toContain('useless')
    await node.stop()
  },
  120_000,
)

it('the state of a block with less work than the best chain is not fetched', async () => {
  const { node, sync } = await world()
  await sync.keepHeaders(headersAbove(lighter, FORK))
  let asked = 0
  const peers = () => {
    asked += 1
    return []
  }
  const plan = { snapshot: snapshots.refs()[0] as SnapshotRef, tip: sync.keptTip() as HeaderTip, peers }
  const taken = await sync.run({ ...plan, stopped: () => false, givesWay: () => false, report: () => {} })
  expect(taken).toMatchObject({ ok: false, fault: { code: 'chain/snapshot-too-light' } })
  expect([asked, node.test.chain.head.id]).toEqual([0, own.chain.head.id])
  await node.stop()
})

describe('a node that begins, and meets a liar first', () => {
  async function expectHeavier({ node, liar }: World): Promise<void> {
    expect(node.test.chain.head.id).toBe(own.chain.head.id)
    expect(node.offencesOf('archive')).toEqual([])
    await Promise.all([node.stop(), liar.stop()])
  }

  it('takes no snapshot before a chosen peer has shown its branch', async () => {
    const all = await world({ isFresh: true })
    all.hub.connect(all.liar.network, all.node.network)
    all.node.synchroniser.start()
    await all.hub.time.pass(7_000)
    expect(all.node.height).toBe(0)
    await meet(all)
    await all.hub.time.pass(60_000)
    await expectHeavier(all)
  }, 120_000)

  it.each(['came', 'was chosen'])(
    'breaks the state of who %s first off for a branch that claims more',
    async (way) => {
      const all = await world({ isFresh: true, expectsPeers: false, answerMs: 4_000, isTrue: true })
      const { hub, node, liar } = all
      if (way === 'came') hub.connect(liar.network, node.network)
      else hub.connect(node.network, liar.network)
      node.synchroniser.start()
      await hub.time.pass(6_000)
      expect(node.log.some(({ message }) => message.includes('taking the state'))).toBe(true)
      const archive = await SyncNode.open(hub, 'archive', { test: own })
      if (way === 'came') hub.connect(archive.network, node.network)
      else hub.connect(node.network, archive.network)
      await hub.time.pass(120_000)
      await expectHeavier(all)
    },
    120_000,
  )
})

it('goes on with the state while others show newer blocks of the same branch', async () => {
  const all = await world({ isFresh: true, answerMs: 4_000 })
  const { hub, node } = all
  const says = (status: Status): Status => ({ ...status, ...PRUNED, snapshots: snapshots.refs() })
  const honest = await SyncNode.open(hub, 'honest', { test: lighter, says })
  serveState(honest.peers.exchange, { states: slowly(snapshots, hub, 4_000), ruleBook: RULES, log: SILENT })
  hub.connect(node.network, honest.network)
  node.synchroniser.start()
  await hub.time.pass(7_000)
  expect(node.log.some(({ message }) => message.includes('taking the state'))).toBe(true)
  const newer = await fork(lighter, { parts: PARTS })
  await newer.mineTo(LONG + 5)
  const ahead = await SyncNode.open(hub, 'ahead', { test: newer, says: (status) => ({ ...status, ...PRUNED }) })
  hub.connect(node.network, ahead.network)
  await hub.time.pass(60_000)
  expect(node.test.chain.head.id).toBe(newer.chain.head.id)
  expect(node.offences).toEqual([])
  await node.stop()
}, 120_000)

it('a chosen liar who shows nothing does not stop a snapshot from being finished, and the node knows that it is behind', async () => {
  const all = await world({ isFresh: true })
  const { hub, node } = all
  const says = (status: Status): Status => ({ ...status, ...PRUNED, snapshots: snapshots.refs() })
  const honest = await SyncNode.open(hub, 'honest', { test: lighter, says })
  serveState(honest.peers.exchange, { states: slowly(snapshots, hub, 25_000), ruleBook: RULES, log: SILENT })
  hub.connect(node.network, honest.network)
  const totalWork = lighter.chain.head.totalWork * 2n
  const staller = await SyncNode.open(hub, 'staller', { test: own, says: (status) => ({ ...status, totalWork }) })
  staller.peers.exchange.answer('headers', async () => {
    await pause(hub.time, 7_000)
    return { reply: [] }
  })
  node.synchroniser.start()
  await hub.time.pass(2_000)
  hub.connect(node.network, staller.network)
  let seconds = 0
  for (; node.height === 0 && seconds < 600; seconds++) {
    await hub.time.pass(1_000)
    if (node.height === 0) expect(node.synchroniser.progress().behind, `second ${seconds}`).toBe(true)
  }
  expect(node.height).toBeGreaterThan(0)
  expect(seconds).toBeLessThan(200)
  expect(node.offencesOf('honest')).toEqual([])
  await node.stop()
}, 120_000)

it('a peer that continues another peer’s headers with its own branch does not have its snapshot taken', async () => {
  const { hub, node } = await world({ isFresh: true })
  const grown = await fork(lighter, { parts: PARTS })
  const says = (status: Status): Status => ({ ...status, ...PRUNED, snapshots: snapshots.refs() })
  const honest = await SyncNode.open(hub, 'honest', { test: grown, says })
  serveState(honest.peers.exchange, { states: slowly(snapshots, hub, 25_000), ruleBook: RULES, log: SILENT })
  hub.connect(node.network, honest.network)
  node.synchroniser.start()
  await hub.time.pass(2_000)
  grown.nowMs = grown.chain.head.header.timeMs
  await grown.mineTo(LONG + 200)
  const { id, header, totalWork } = grown.chain.head
  node.peers.noteHead('honest' as PeerId, { id, height: header.height, totalWork })
  const store = new MemoryKeyValueStore()
  const branch = await fork(lighter, { store, parts: PARTS })
  branch.nowMs = branch.chain.head.header.timeMs
  const at = LONG + 5
  const states = snapshotsOf(branch, store, at)
  await mineBranch(branch, 120, 9)
  const offer = { height: at, id: branch.chain.database.idAt(at) as BlockId }
  const lies = { ...PRUNED, snapshots: [offer], totalWork: totalWork * 2n }
  const thief = await SyncNode.open(hub, 'thief', { test: branch, says: (status) => ({ ...status, ...lies }) })
  serveState(thief.peers.exchange, { states, ruleBook: RULES, log: SILENT })
  hub.connect(node.network, thief.network)
  await hub.time.pass(300_000)
  expect(node.height).toBeGreaterThan(0)
  expect([node.test.chain.database.base, node.test.chain.head.id]).toEqual([1_400, grown.chain.head.id])
  expect(node.offencesOf('honest')).toEqual([])
  await node.stop()
}, 120_000)

it('a node that has begun from a snapshot of a lighter branch fetches no state of the heavier one, and is behind', async () => {
  const all = await world({ isFresh: true })
  const { hub, node } = all
  const says = (status: Status): Status => ({ ...status, ...PRUNED, snapshots: snapshots.refs() })
  const first = await SyncNode.open(hub, 'first', { test: lighter, says })
  serveState(first.peers.exchange, { states: snapshots, ruleBook: RULES, log: SILENT })
  hub.connect(node.network, first.network)
  node.synchroniser.start()
  await hub.time.pass(30_000)
  expect([node.height, node.synchroniser.progress().behind]).toEqual([LONG, false])
  const heavier = await fork(own, { parts: PARTS })
  // Other tests have moved this chain's clock.
  heavier.nowMs = own.chain.head.header.timeMs
  await heavier.mineTo(LONG + 1_300)
  const height = LONG + 1_100
  const offer = { height, id: heavier.chain.database.idAt(height) as BlockId }
  const held = { mode: 2, bodiesFrom: height, witnessesFrom: height, snapshots: [offer] } as const
  const second = await SyncNode.open(hub, 'second', { test: heavier, says: (status) => ({ ...status, ...held }) })
  let asked = 0
  const refuse = async (): Promise<undefined> => {
    asked += 1
    return undefined
  }
  serveState(second.peers.exchange, { states: { use: refuse, useNewest: refuse }, ruleBook: RULES, log: SILENT })
  hub.connect(node.network, second.network)
  await hub.time.pass(120_000)
  expect(asked).toBe(0)
  expect(node.synchroniser.progress().behind).toBe(true)
  expect(node.log.map(({ message }) => message)).toContainEqual(expect.stringContaining('only a fresh data folder'))
  expect(node.offencesOf('second')).toEqual([])
  await node.stop()
}, 120_000)
