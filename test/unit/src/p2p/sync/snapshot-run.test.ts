import { beforeAll, describe, expect, it } from 'vitest'
import type { HeaderTip } from '../../../../../consensus/chain/header-tip.ts'
import type { BlockId } from '../../../../../consensus/primitives/ids.ts'
import { ok } from '../../../../../consensus/primitives/result.ts'
import type { SnapshotDoor, SnapshotPlan, SnapshotSetting } from '../../../../../src/p2p/sync/snapshot-door.ts'
import type { Status } from '../../../../../src/p2p/wire/messages.ts'
import { blocksFrom, importAll } from '../../../../support/branches.ts'
import { TestChain } from '../../../../support/chain.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { SyncNode } from '../../../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'
import { headersAbove } from '../../../../support/snapshot-nodes.ts'

const BLOCKS = 1_300
let source: TestChain

beforeAll(async () => {
  source = await TestChain.open()
  await source.mineTo(BLOCKS)
}, 120_000)

function idAt(height: number): BlockId {
  return source.chain.database.idAt(height) as BlockId
}

/** A door that keeps what it is given; taking a snapshot puts the blocks up to it into the chain. */
class KeepingDoor implements SnapshotDoor {
  readonly kept: HeaderTip[] = []
  readonly plans: SnapshotPlan[] = []
  chain: TestChain | undefined

  keptTip(): HeaderTip | undefined {
    return this.kept.at(-1)
  }

  keptIdAt(height: number): BlockId | undefined {
    return this.kept.find(({ header }) => header.height === height)?.id
  }

  async keepHeaders(headers: readonly HeaderTip[]): Promise<void> {
    this.kept.push(...headers)
  }

  async dropHeaders(): Promise<void> {
    this.kept.length = 0
  }

  async run(plan: SnapshotPlan) {
    this.plans.push(plan)
    await importAll(this.chain as TestChain, blocksFrom(source, 1).slice(0, plan.snapshot.height))
    this.kept.length = 0
    return ok(undefined)
  }
}

async function world(setting: SnapshotSetting, bodiesFrom: number) {
  const hub = new MemoryNetwork(new VirtualTime(source.nowMs + 10_000_000))
  const snapshots = [500, 1_100, 1_250].map((height) => ({ height, id: idAt(height) }))
  const says = (status: Status): Status => ({ ...status, mode: 2, bodiesFrom, witnessesFrom: bodiesFrom, snapshots })
  const pruned = await SyncNode.open(hub, 'pruned', { test: source, says })
  const door = new KeepingDoor()
  const node = await SyncNode.open(hub, 'node', { door, snapshotSetting: setting })
  door.chain = node.test
  hub.connect(node.network, pruned.network)
  node.synchroniser.start()
  return { hub, node, door }
}

describe('a node that finds no peer with all blocks', () => {
  it('proves the headers, takes the newest snapshot that is buried deep enough, and goes on with blocks', async () => {
    const { hub, node, door } = await world('auto', 1_050)
    await hub.time.pass(30_000)
    expect(door.plans.map(({ snapshot }) => snapshot.height)).toEqual([1_100])
    expect(door.plans[0]?.tip.header.height).toBe(BLOCKS)
    expect(door.plans[0]?.peers()).toEqual(['pruned'])
    expect(node.height).toBe(BLOCKS)
    expect(node.hashes).toBe(BLOCKS)
    expect(node.log.some(({ message }) => message.includes('begins from a snapshot'))).toBe(true)
    expect(node.offences).toEqual([])
    await node.stop()
  }, 60_000)

  it('waits and says so where snapshots are off', async () => {
    const { hub, node, door } = await world('never', 1_050)
    await hub.time.pass(30_000)
    expect(door.plans).toEqual([])
    expect(node.height).toBe(0)
    expect(node.hashes).toBe(0)
    expect(node.log.some(({ message }) => message.includes('no connected peer holds the next blocks'))).toBe(true)
    expect(node.offences).toEqual([])
    await node.stop()
  }, 60_000)
})

describe('a node whose peer has all blocks', () => {
  it('takes a snapshot only where the settings ask for it always', async () => {
    const auto = await world('auto', 0)
    await auto.hub.time.pass(30_000)
    expect(auto.door.plans).toEqual([])
    expect(auto.node.height).toBe(BLOCKS)
    await auto.node.stop()
    const always = await world('always', 0)
    await always.hub.time.pass(30_000)
    expect(always.door.plans).toHaveLength(1)
    await always.node.stop()
  }, 60_000)
})

describe('a liar', () => {
  it('that says that it has all blocks keeps nobody from the snapshot of others', async () => {
    const { hub, node, door } = await world('auto', 1_050)
    const liar = await SyncNode.open(hub, 'liar', { test: source })
    liar.peers.exchange.answer('bodies', () => ({ refusal: 'not-held' }))
    hub.connect(node.network, liar.network)
    await hub.time.pass(180_000)
    expect(door.plans.map(({ snapshot }) => snapshot.height)).toEqual([1_100])
    expect(node.height).toBe(BLOCKS)
    await node.stop()
  }, 60_000)

  it('that says that it has a snapshot keeps nobody from the blocks of others', async () => {
    const hub = new MemoryNetwork(new VirtualTime(source.nowMs + 10_000_000))
    const door = new KeepingDoor()
    // Headers of a snapshot that was begun and that nobody serves any more.
    await door.keepHeaders(headersAbove(source, 0).slice(0, 600))
    const node = await SyncNode.open(hub, 'node', { door })
    const good = await SyncNode.open(hub, 'good', { test: source })
    const snapshots = [{ height: 1_100, id: 'ee'.repeat(32) as BlockId }]
    const liar = await SyncNode.open(hub, 'liar', { test: source, says: (status) => ({ ...status, snapshots }) })
    hub.connect(node.network, liar.network)
    hub.connect(node.network, good.network)
    node.synchroniser.start()
    await hub.time.pass(60_000)
    expect(door.plans).toEqual([])
    expect(node.height).toBe(BLOCKS)
    await node.stop()
  }, 60_000)
})
