import { beforeAll, describe, expect, it } from 'vitest'
import type { Block } from '../../../../../consensus/block/block.ts'
import { MemoryKeyValueStore } from '../../../../../consensus/chain/key-value.ts'
import type { Status } from '../../../../../src/p2p/wire/messages.ts'
import { blocksFrom, deviantRuleBook, fork, importAll, mineBranch } from '../../../../support/branches.ts'
import { TestChain, wallet } from '../../../../support/chain.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { SyncNode } from '../../../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'

const BLOCKS = 300
const ADDRESS = wallet(2).address
let source: TestChain
let blocks: readonly Block[]

/** A network whose time is later than every block of the tests. */
function hubNow(): MemoryNetwork {
  return new MemoryNetwork(new VirtualTime(source.nowMs + 10_000_000))
}

/** Liars under new names, one after the other. Each claims too much work and proves none. */
async function cyclingLiars(hub: MemoryNetwork, node: SyncNode, seconds: number, every: () => Promise<void>) {
  const behind: boolean[] = []
  let liar: SyncNode | undefined
  for (let second = 0; second < seconds; second += 2) {
    if (second % 4 === 0) {
      const says = (status: Status): Status => ({ ...status, height: 1_000_000, totalWork: 2n ** 200n })
      const next = await SyncNode.open(hub, `liar-${second}`, { ruleBook: source.ruleBook, says })
      next.peers.exchange.answer('headers', () => new Promise(() => {}))
      hub.connect(next.network, node.network)
      await hub.time.pass(100)
      if (liar !== undefined) hub.part(liar.network.self, node.network.self)
      await liar?.stop()
      liar = next
    }
    await every()
    await hub.time.pass(2_000)
    behind.push(node.synchroniser.progress().behind)
  }
  await liar?.stop()
  return behind
}

/** A new chain with the source's blocks up to a height. */
async function copyTo(height: number): Promise<TestChain> {
  const copy = await TestChain.open(source.ruleBook)
  await importAll(copy, blocks.slice(0, height))
  return copy
}

beforeAll(async () => {
  source = await TestChain.open()
  for (let i = 1; i <= BLOCKS; i++) {
    const pay = { to: ADDRESS, amount: BigInt(i), create: false } as never
    await source.mine(i % 3 === 0 ? [await source.tx(wallet(1), 'transfer', pay)] : [])
  }
  blocks = blocksFrom(source, 1)
}, 60_000)

describe('a new node', () => {
  it('takes the whole chain from three peers of which one lies and one stalls', async () => {
    const hub = hubNow()
    const good = await SyncNode.open(hub, 'good', { test: await copyTo(BLOCKS) })
    const liar = await SyncNode.open(hub, 'liar', { test: await copyTo(BLOCKS) })
    const staller = await SyncNode.open(hub, 'staller', { test: await copyTo(BLOCKS) })
    const fresh = await SyncNode.open(hub, 'fresh')
    // For every block that it is asked for, this peer sends the body of block 3.
    liar.peers.exchange.answer('bodies', (_, ids) => ({
      reply: ids.map(() => source.chain.database.encodedTransactions(blocks[2]?.id as never) as readonly Uint8Array[]),
    }))
    staller.peers.exchange.answer('bodies', () => new Promise(() => {}))
    staller.peers.exchange.answer('headers', () => new Promise(() => {}))
    for (const peer of [staller, liar, good]) hub.connect(fresh.network, peer.network)
    fresh.synchroniser.start()
    await hub.time.pass(60_000)
    expect(fresh.height).toBe(BLOCKS)
    expect(fresh.test.stateRoot).toBe(source.stateRoot)
    expect(fresh.offencesOf('liar')).toContain('bad-body')
    expect(fresh.network.ended.map(({ peer }) => peer)).toContain('liar')
    expect(fresh.offencesOf('good')).toEqual([])
    expect(fresh.synchroniser.progress()).toMatchObject({
      state: 'synced',
      behind: false,
      height: BLOCKS,
      targetHeight: BLOCKS,
    })
    expect(fresh.fatal).toEqual([])
    await fresh.stop()
  })

  it('goes on where it was after a restart', async () => {
    const hub = hubNow()
    const good = await SyncNode.open(hub, 'good', { test: await copyTo(BLOCKS) })
    const store = new MemoryKeyValueStore()
    const first = await SyncNode.open(hub, 'first', { test: await TestChain.open(source.ruleBook, store) })
    // The peer is busy after some batches.
    let served = 0
    const { database } = good.test.chain
    good.peers.exchange.answer('bodies', (_, ids) => {
      served += 1
      if (served > 4) return { refusal: 'busy' }
      return { reply: ids.map((id) => database.encodedTransactions(id) as readonly Uint8Array[]) }
    })
    hub.connect(first.network, good.network)
    first.synchroniser.start()
    await hub.time.pass(5_000)
    await first.stop()
    const { height } = first
    expect(height).toBeGreaterThan(0)
    expect(height).toBeLessThan(BLOCKS)
    served = Number.NEGATIVE_INFINITY
    const test = await TestChain.open(source.ruleBook, store)
    const again = await SyncNode.open(hub, 'again', { test })
    expect(again.height).toBe(height)
    hub.connect(again.network, good.network)
    again.synchroniser.start()
    await hub.time.pass(30_000)
    expect(again.height).toBe(BLOCKS)
    expect(again.test.stateRoot).toBe(source.stateRoot)
    // Imported blocks are neither requested nor hashed again.
    expect(again.hashes).toBe(BLOCKS - height)
    await again.stop()
  })

  it('is not behind alone: at once without configured peers, else after 10 s', async () => {
    const hub = hubNow()
    const lone = await SyncNode.open(hub, 'lone', { expectsPeers: false })
    const waiting = await SyncNode.open(hub, 'waiting')
    const told: boolean[] = []
    waiting.synchroniser.onProgress(({ behind }) => told.push(behind))
    lone.synchroniser.start()
    waiting.synchroniser.start()
    await hub.time.pass(100)
    expect(lone.synchroniser.progress()).toMatchObject({ behind: false, state: 'synced' })
    expect(waiting.synchroniser.progress()).toMatchObject({ behind: true, state: 'starting', secondsLeft: null })
    await hub.time.pass(10_900)
    expect(waiting.synchroniser.progress().behind).toBe(false)
    expect(told.at(-1)).toBe(false)
    await Promise.all([lone.stop(), waiting.stop()])
  })

  it('is not behind 12 s after a restart at the head, though blocks come and liars take turns at claiming more', async () => {
    const hub = hubNow()
    const good = await SyncNode.open(hub, 'good', { test: await copyTo(20) })
    const node = await SyncNode.open(hub, 'node', { test: await copyTo(20) })
    hub.connect(node.network, good.network)
    node.synchroniser.start()
    const behind = await cyclingLiars(hub, node, 40, async () => {
      const next = blocks.slice(node.height, node.height + 1)
      await importAll(good.test, next)
      await importAll(node.test, next)
    })
    expect(node.height).toBe(40)
    expect(behind.slice(0, 4)).toEqual([true, true, true, true])
    expect(behind.slice(5)).toEqual(Array(15).fill(false))
    await node.stop()
  })

  it('is behind a heavier branch that is proven, for as long as its blocks take, whatever liars claim beside it', async () => {
    const hub = hubNow()
    const good = await SyncNode.open(hub, 'good', { test: await copyTo(BLOCKS) })
    const node = await SyncNode.open(hub, 'node', { test: await copyTo(20) })
    const { database } = good.test.chain
    let open = 0
    good.peers.exchange.answer('bodies', (_, [id]) => {
      if (open < 1 || id === undefined) return { refusal: 'busy' }
      open -= 1
      return { reply: [database.encodedTransactions(id) as readonly Uint8Array[]] }
    })
    hub.connect(node.network, good.network)
    node.synchroniser.start()
    await hub.time.pass(500)
    const behind = await cyclingLiars(hub, node, 40, async () => {
      open += 1
    })
    expect(node.height).toBeGreaterThan(20)
    expect(behind).toEqual(Array(20).fill(true))
    open = Number.POSITIVE_INFINITY
    await hub.time.pass(60_000)
    expect(node.height).toBe(BLOCKS)
    expect(node.synchroniser.progress().behind).toBe(false)
    await node.stop()
  })

  it('leaves a heavier branch whose blocks no peer gives, for the best available one', async () => {
    const hub = hubNow()
    const good = await SyncNode.open(hub, 'good', { test: await copyTo(200) })
    const withholding = await SyncNode.open(hub, 'withholding', { test: await copyTo(BLOCKS) })
    const fresh = await SyncNode.open(hub, 'fresh')
    withholding.peers.exchange.answer('bodies', () => ({ refusal: 'not-held' }))
    hub.connect(fresh.network, good.network)
    hub.connect(fresh.network, withholding.network)
    fresh.synchroniser.start()
    await hub.time.pass(120_000)
    expect(fresh.height).toBe(200)
    expect(fresh.offencesOf('withholding')).toContain('useless')
    expect(fresh.offencesOf('good')).toEqual([])
    expect(fresh.synchroniser.progress().behind).toBe(false)
    await fresh.stop()
  })

  it('fetches a block that gossip lost, once gossip has had its time', async () => {
    const hub = hubNow()
    const good = await SyncNode.open(hub, 'good', { test: await copyTo(20) })
    const node = await SyncNode.open(hub, 'node', { test: await copyTo(20) })
    hub.connect(node.network, good.network)
    node.synchroniser.start()
    await hub.time.pass(2_000)
    expect(node.synchroniser.progress().state).toBe('synced')
    await importAll(good.test, blocks.slice(20, 21))
    const { head } = good.test.chain
    const told = { id: head.id, height: head.header.height, totalWork: head.totalWork }
    node.peers.noteHead(good.network.self, told)
    await hub.time.pass(1_000)
    expect(node.height).toBe(20)
    await hub.time.pass(2_000)
    expect(node.height).toBe(21)
    await node.stop()
  })

  it('fetches what a peer shows in its headers, long before that says again how it stands', async () => {
    const hub = hubNow()
    const good = await SyncNode.open(hub, 'good', { test: await copyTo(20) })
    const node = await SyncNode.open(hub, 'node', { test: await copyTo(20) })
    hub.connect(node.network, good.network)
    node.synchroniser.start()
    await hub.time.pass(2_000)
    expect(node.synchroniser.progress().state).toBe('synced')
    await importAll(good.test, blocks.slice(20, 60))
    node.synchroniser.wanted(good.network.self)
    await hub.time.pass(5_000)
    expect(node.height).toBe(60)
    expect(node.offencesOf('good')).toEqual([])
    await node.stop()
  })
})

describe('a node on another branch', () => {
  it.each([10, 100, 1_000])(
    'moves to a heavier one that forks %i blocks back',
    async (depth) => {
      const hub = hubNow()
      const common = await copyTo(50)
      const ours = await fork(common)
      const theirs = await fork(common)
      await mineBranch(ours, depth, 1)
      await mineBranch(theirs, depth + 1, 2)
      const node = await SyncNode.open(hub, 'node', { test: ours })
      const other = await SyncNode.open(hub, 'other', { test: theirs })
      hub.connect(node.network, other.network)
      node.synchroniser.start()
      await hub.time.pass(60_000)
      expect(node.test.chain.head.id).toBe(theirs.chain.head.id)
      expect(node.test.stateRoot).toBe(theirs.stateRoot)
      expect(node.offences).toEqual([])
      await node.stop()
    },
    60_000,
  )

  it('goes on with a long one that was left in the middle, where a page of headers holds nothing new', async () => {
    const [below, own] = [1_000, 1_040]
    const ours = await TestChain.open()
    await ours.mineTo(below)
    const theirs = await fork(ours)
    await mineBranch(ours, own, 1)
    await mineBranch(theirs, own + 45, 2)
    await importAll(ours, blocksFrom(theirs, below + 1).slice(0, 1_020), theirs.chain.head.totalWork)
    const hub = new MemoryNetwork(new VirtualTime(Math.max(ours.nowMs, theirs.nowMs) + 10_000_000))
    const node = await SyncNode.open(hub, 'node', { test: ours })
    const good = await SyncNode.open(hub, 'good', { test: theirs })
    hub.connect(node.network, good.network)
    node.synchroniser.start()
    await hub.time.pass(20_000)
    expect([ours.chain.head.id, node.offencesOf('good')]).toEqual([theirs.chain.head.id, []])
    await node.stop()
  }, 120_000)

  it('stays on its own branch if the other is lighter, and blames no peer', async () => {
    const hub = hubNow()
    const common = await copyTo(50)
    const ours = await fork(common)
    const theirs = await fork(common)
    await mineBranch(ours, 12, 1)
    await mineBranch(theirs, 11, 2)
    const node = await SyncNode.open(hub, 'node', { test: ours })
    const other = await SyncNode.open(hub, 'other', { test: theirs })
    hub.connect(node.network, other.network)
    const { id } = ours.chain.head
    node.synchroniser.start()
    other.synchroniser.start()
    await hub.time.pass(30_000)
    expect(node.test.chain.head.id).toBe(id)
    expect(other.test.chain.head.id).toBe(id)
    expect([...node.offences, ...other.offences]).toEqual([])
    await Promise.all([node.stop(), other.stop()])
  })

  it('drops a branch with an invalid block, bans the peers that claim it, and follows the next', async () => {
    const hub = hubNow()
    const common = await copyTo(50)
    const deviant = await fork(common, { ruleBook: deviantRuleBook(60) })
    await mineBranch(deviant, 40, 3)
    const good = await SyncNode.open(hub, 'good', { test: await copyTo(80) })
    // Its handshake claims the node's rules, but its blocks follow other rules.
    const bad = await SyncNode.open(hub, 'bad', { test: deviant, rules: source.ruleBook })
    const node = await SyncNode.open(hub, 'node', { test: await copyTo(50) })
    hub.connect(node.network, bad.network)
    hub.connect(node.network, good.network)
    node.synchroniser.start()
    await hub.time.pass(60_000)
    expect(node.test.chain.head.id).toBe(good.test.chain.head.id)
    expect(node.offencesOf('bad')).toContain('bad-block')
    expect(node.network.ended).toContainEqual(expect.objectContaining({ peer: 'bad', banned: true }))
    expect(node.offencesOf('good')).toEqual([])
    await node.stop()
  })
})
