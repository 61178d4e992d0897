import { beforeAll, describe, expect, it } from 'vitest'
import { type HeaderTip, headerTipOf } from '../../../../../consensus/block/header-tip.ts'
import type { Chain } from '../../../../../consensus/chain/chain.ts'
import type { BlockEntry } from '../../../../../consensus/chain/layout.ts'
import type { BlockId } from '../../../../../consensus/primitives/ids.ts'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import type { Peer } from '../../../../../src/p2p/peers/peers.ts'
import { pause } from '../../../../../src/p2p/relay/within.ts'
import type { SnapshotSetting } from '../../../../../src/p2p/sync/snapshot-door.ts'
import { SnapshotRun } from '../../../../../src/p2p/sync/snapshot-run.ts'
import type { Status } from '../../../../../src/p2p/wire/messages.ts'
import { blocksFrom, importAll } from '../../../../support/branches.ts'
import { TestChain } from '../../../../support/chain.ts'
import { childHeader, headerBranch } from '../../../../support/header-branch.ts'
import { KeepingDoor } from '../../../../support/p2p/keeping-door.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { SyncNode } from '../../../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'
import { headersAbove } from '../../../../support/snapshot-nodes.ts'

const BLOCKS = 1_300
/** How many headers a dripping peer has. */
const DRIPPED = 12_000
/** So much later, all blocks and headers count as old. */
const LATER_MS = 2_000_000_000
let source: TestChain
/** Headers from genesis on without blocks. */
let branch: readonly HeaderTip[]

beforeAll(async () => {
  source = await TestChain.open()
  await source.mineTo(BLOCKS)
  const { database, ruleBook } = source.chain
  branch = headerBranch(ruleBook, headerTipOf(database, database.entry(idAt(0)) as BlockEntry), DRIPPED)
}, 120_000)

function idAt(height: number): BlockId {
  return source.chain.database.idAt(height) as BlockId
}

async function world(
  setting: SnapshotSetting,
  bodiesFrom: number,
  before?: (hub: MemoryNetwork) => Promise<SyncNode[]>,
) {
  const hub = new MemoryNetwork(new VirtualTime(source.nowMs + LATER_MS))
  const snapshots = [500, 1_100, 1_250].map((height) => ({ height, id: idAt(height) }))
  const says = (status: Status): Status => ({ ...status, mode: 2, bodiesFrom, witnessesFrom: bodiesFrom, snapshots })
  const pruned = await SyncNode.open(hub, 'pruned', { test: source, says })
  const door = new KeepingDoor(source, hub.time)
  const node = await SyncNode.open(hub, 'node', { door, snapshotSetting: setting })
  door.chain = node.test
  for (const first of (await before?.(hub)) ?? []) hub.connect(node.network, first.network)
  hub.connect(node.network, pruned.network)
  node.synchroniser.start()
  return { hub, node, door }
}

/** Expects the node to take the snapshot of the pruned peer within `withinMs`, to go on from there, and not to blame that peer. */
async function takesState({ hub, node, door }: Awaited<ReturnType<typeof world>>, withinMs: number): Promise<void> {
  await hub.time.pass(withinMs)
  expect(door.plans.map(({ snapshot }) => snapshot.height)).toEqual([1_100])
  expect(node.height).toBe(BLOCKS)
  expect(node.offences.filter(({ peer }) => peer === 'pruned')).toEqual([])
  await node.stop()
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

  it.each([
    ['an empty answer', { reply: [] }],
    ['busy', { refusal: 'busy' }],
    ['that it lacks them', { refusal: 'not-held' }],
  ] as const)(
    'takes one where a stranger says it has all, and gives %s',
    async (_, answer) => {
      const { hub, node, door } = await world('auto', 1_050)
      const says = (status: Status): Status => ({ ...status, bodiesFrom: 0, witnessesFrom: 0, totalWork: 0n })
      const stranger = await SyncNode.open(hub, 'stranger', { test: source, says })
      stranger.peers.exchange.answer('bodies', () => answer)
      hub.connect(stranger.network, node.network)
      await takesState({ hub, node, door }, 300_000)
    },
    60_000,
  )

  it.each([
    ['two blocks a second', 500],
    ['a block each 20 seconds', 20_000],
    ['a block each 45 seconds', 45_000],
  ])(
    'takes one where a stranger says it has all, and gives %s',
    async (_, everyMs) => {
      const { hub, node, door } = await world('auto', 1_050)
      const says = (status: Status): Status => ({ ...status, bodiesFrom: 0, witnessesFrom: 0, totalWork: 0n })
      const stranger = await SyncNode.open(hub, 'stranger', { test: source, says })
      let givenMs = 0
      stranger.peers.exchange.answer('bodies', (_peer, [first]) => {
        if (hub.time.nowMs - givenMs < everyMs) return { refusal: 'busy' }
        givenMs = hub.time.nowMs
        return { reply: [source.chain.database.encodedTransactions(first as BlockId) ?? []] }
      })
      hub.connect(stranger.network, node.network)
      await takesState({ hub, node, door }, 600_000)
    },
    60_000,
  )

  it('takes one though a stranger shows a part of the branch alone, on which no snapshot lies deep enough', async () => {
    const { hub, node, door } = await world('auto', 1_050)
    const says = (status: Status): Status => ({ ...status, bodiesFrom: 0, witnessesFrom: 0, totalWork: 0n })
    const archive = await SyncNode.open(hub, 'archive', { test: source, says })
    archive.peers.exchange.answer('bodies', () => ({ reply: [] }))
    const shown = headersAbove(source, 0).slice(0, 1_201)
    const end = shown.at(-1) as HeaderTip
    const head = { head: end.id, height: end.header.height, totalWork: end.totalWork, snapshots: [] }
    const far = { mode: 2, bodiesFrom: 1_200, witnessesFrom: 1_200 }
    const part = await SyncNode.open(hub, 'part', { says: (status) => ({ ...status, ...far, ...head }) })
    part.peers.exchange.answer('headers', (_peer, { locator, limit }) => {
      const from = shown.findIndex(({ id }) => id === locator[0]) + 1
      return { reply: shown.slice(from, from + limit).map(({ bytes }) => bytes) }
    })
    for (const { network } of [archive, part]) hub.connect(network, node.network)
    await takesState({ hub, node, door }, 600_000)
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

it.each([
  [0, 10_000, false, 100],
  [0, 1_000_000, false, 14.4],
  [4_900, 10_000, false, 100],
  [5_000, 10_000, false, 1_500],
  [10_000_000, 10_050_000, false, 1_500],
  [0, 10_000, true, 1_500],
])(
  'at block %d of %d, with a state that failed before: %s, a block makes up for %d ms of waiting',
  (height, end, hasFailed, ms) => {
    const ruleBook = { at: () => ({ block: { spacingMs: 3_000 } }) }
    const chain = { head: { header: { height } }, ruleBook } as unknown as Chain
    expect(SnapshotRun.worthMs(chain, { head: { height: end } } as Peer, hasFailed)).toBe(ms)
  },
)

/** A peer that gives the first page of headers at once and each further one after 14 s. */
async function drip(hub: MemoryNetwork): Promise<SyncNode> {
  const tip = branch.at(-1) as HeaderTip
  const far = { mode: 2, bodiesFrom: DRIPPED - 1_000, witnessesFrom: DRIPPED - 1_000 }
  const snapshots = [{ height: DRIPPED - 500, id: branch[DRIPPED - 501]?.id as BlockId }]
  const head = { head: tip.id, height: DRIPPED, totalWork: tip.totalWork, snapshots }
  const dripping = await SyncNode.open(hub, 'dripping', { says: (status) => ({ ...status, ...far, ...head }) })
  dripping.peers.exchange.answer('headers', async (_, { locator, limit }) => {
    const from = branch.findIndex(({ id }) => id === locator[0]) + 1
    if (from > 0) await pause(hub.time, 14_000)
    return { reply: branch.slice(from, from + limit).map(({ bytes }) => bytes) }
  })
  return dripping
}

describe('a peer that drips true headers', () => {
  it('gives way to others, and is not blamed', async () => {
    const { hub, node, door } = await world('auto', 1_050, async (hub) => [await drip(hub)])
    // The headers shown so far prove more work, so the node waits for a while.
    for (let second = 0; second < 900 && node.height < BLOCKS; second += 10) await hub.time.pass(10_000)
    expect(door.plans.map(({ snapshot }) => snapshot.height)).toEqual([1_100])
    expect(node.height).toBe(BLOCKS)
    expect(node.offences).toEqual([])
    await node.stop()
  }, 60_000)

  it('is waited for where there is no other', async () => {
    const hub = new MemoryNetwork(new VirtualTime(source.nowMs + LATER_MS))
    const dripping = await drip(hub)
    const door = new KeepingDoor(source, hub.time)
    const node = await SyncNode.open(hub, 'node', { door })
    hub.connect(node.network, dripping.network)
    node.synchroniser.start()
    await hub.time.pass(150_000)
    expect(door.kept).toHaveLength(DRIPPED)
    expect(dripping.network.requests.filter(({ protocol }) => protocol === 'headers').length).toBeLessThan(15)
    await node.stop()
  }, 60_000)
})

/** A peer that shows a chain with a header from the future at its end, claims more work, and denies every block that it is asked about. */
async function denier(hub: MemoryNetwork, name: string): Promise<SyncNode> {
  const shown = headersAbove(source, 0)
  const tip = shown.at(-1) as HeaderTip
  const early = childHeader(source.ruleBook, tip, { timeMs: hub.time.nowMs + 3_600_000 })
  const more = { height: BLOCKS + 5, totalWork: tip.totalWork * 2n, mode: 2, bodiesFrom: 1_050, witnessesFrom: 1_050 }
  const peer = await SyncNode.open(hub, name, { test: source, says: (status) => ({ ...status, ...more }) })
  peer.peers.exchange.answer('headers', (_, { locator, limit }) => {
    const from = limit === 1 ? 0 : shown.findIndex(({ id }) => id === locator[0]) + 1
    return { reply: [...shown, early].slice(from, from + limit).map(({ bytes }) => bytes) }
  })
  return peer
}

describe('peers that were chosen, build on what is kept and deny blocks of it', () => {
  it.each([1, 2, 3])(
    'do not keep a node from a state: %d',
    async (count) => {
      const liars = async (hub: MemoryNetwork): Promise<SyncNode[]> => {
        return Promise.all(Array.from({ length: count }, (_, i) => denier(hub, `liar ${i}`)))
      }
      const { hub, node, door } = await world('auto', 1_050, liars)
      await takesState({ hub, node, door }, 600_000)
    },
    60_000,
  )
})

describe('kept headers whose end is stale', () => {
  it('are gone on with from before that', async () => {
    const hub = new MemoryNetwork(new VirtualTime(source.nowMs + LATER_MS))
    const door = new KeepingDoor(source, hub.time)
    const kept = headersAbove(source, 0).slice(0, 600)
    const stale = headerBranch(source.ruleBook, kept.at(-1) as HeaderTip, 1, { extra: new Uint8Array(32).fill(9) })
    await door.keepHeaders([...kept, ...stale])
    const node = await SyncNode.open(hub, 'node', { door, snapshotSetting: 'always' })
    door.chain = node.test
    const snapshots = [{ height: 1_100, id: idAt(1_100) }]
    for (const name of ['pruned', 'other']) {
      const says = (status: Status): Status => ({ ...status, snapshots })
      const peer = await SyncNode.open(hub, name, { test: source, says })
      hub.connect(node.network, peer.network)
    }
    node.synchroniser.start()
    await hub.time.pass(60_000)
    expect(node.height).toBe(BLOCKS)
    expect(node.hashes).toBe(BLOCKS - (kept.length + stale.length - 100))
    expect(node.offences).toEqual([])
    await node.stop()
  }, 60_000)

  it('are let go of by the word of peers that the node chose alone, where it chose some', async () => {
    const hub = new MemoryNetwork(new VirtualTime(source.nowMs + LATER_MS))
    const door = new KeepingDoor(source, hub.time)
    const kept = headersAbove(source, 0).slice(0, 600)
    await door.keepHeaders(kept)
    const node = await SyncNode.open(hub, 'node', { door, snapshotSetting: 'always' })
    const silent = await SyncNode.open(hub, 'chosen')
    hub.connect(node.network, silent.network)
    const snapshots = [{ height: 1_100, id: idAt(1_100) }]
    for (const name of ['liar 1', 'liar 2', 'liar 3']) {
      const head = { height: 5_000, totalWork: 1n << 200n, snapshots }
      const liar = await SyncNode.open(hub, name, { says: (status) => ({ ...status, ...head }) })
      liar.peers.exchange.answer('headers', () => ({ reply: branch.slice(0, 10).map(({ bytes }) => bytes) }))
      hub.connect(liar.network, node.network)
    }
    node.synchroniser.start()
    await hub.time.pass(60_000)
    expect(door.kept).toHaveLength(kept.length)
    await node.stop()
  }, 60_000)
})

describe('a liar', () => {
  it('that claims to have all blocks does not prevent the use of others’ snapshots', async () => {
    const { hub, node, door } = await world('auto', 1_050)
    const liar = await SyncNode.open(hub, 'liar', { test: source })
    liar.peers.exchange.answer('bodies', () => ({ refusal: 'not-held' }))
    hub.connect(node.network, liar.network)
    await hub.time.pass(180_000)
    expect(door.plans.map(({ snapshot }) => snapshot.height)).toEqual([1_100])
    expect(node.height).toBe(BLOCKS)
    await node.stop()
  }, 60_000)

  it('that claims to have a snapshot does not prevent the use of others’ blocks', async () => {
    const hub = new MemoryNetwork(new VirtualTime(source.nowMs + LATER_MS))
    const door = new KeepingDoor(source, hub.time)
    // The node kept headers of a snapshot that no peer serves any more.
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

  it('that claims a newer snapshot, which it does not give, keeps no peer from that of others', async () => {
    const { hub, node, door } = await world('auto', 1_050)
    const snapshots = [{ height: 1_200, id: idAt(1_200) }]
    const says = (status: Status): Status => ({
      ...status,
      mode: 2,
      bodiesFrom: 1_050,
      witnessesFrom: 1_050,
      snapshots,
    })
    const liar = await SyncNode.open(hub, 'liar', { test: source, says })
    hub.connect(node.network, liar.network)
    await hub.time.pass(300_000)
    expect(door.plans.at(-1)?.snapshot.height).toBe(1_100)
    expect(node.height).toBe(BLOCKS)
    await node.stop()
  }, 60_000)

  it('that gives its own snapshot a little at a time keeps no peer from that of others', async () => {
    const { hub, node, door } = await world('auto', 1_050)
    door.crawls = (plan) => plan.peers().includes('liar' as PeerId)
    const snapshots = [{ height: 1_200, id: idAt(1_200) }]
    const held = { mode: 2, bodiesFrom: 1_050, witnessesFrom: 1_050, snapshots } as const
    for (const name of ['liar', 'liar at another place']) {
      const liar = await SyncNode.open(hub, name, { test: source, says: (status) => ({ ...status, ...held }) })
      hub.connect(node.network, liar.network)
    }
    await hub.time.pass(2_400_000)
    expect(door.plans.map(({ snapshot }) => snapshot.height)).toEqual([1_200, 1_200, 1_100])
    expect(node.height).toBe(BLOCKS)
    await node.stop()
  }, 60_000)

  it('that comes under many names is not asked for a newer snapshot that no chosen peer has', async () => {
    const { hub, node, door } = await world('auto', 1_050)
    const snapshots = [{ height: 1_200, id: idAt(1_200) }]
    for (const name of ['liar 1', 'liar 2', 'liar 3']) {
      const liar = await SyncNode.open(hub, name, { test: source, says: (status) => ({ ...status, snapshots }) })
      liar.peers.exchange.answer('bodies', () => ({ refusal: 'not-held' }))
      hub.connect(liar.network, node.network)
    }
    await hub.time.pass(300_000)
    expect(door.plans.map(({ snapshot }) => snapshot.height)).toEqual([1_100])
    expect(node.height).toBe(BLOCKS)
    await node.stop()
  }, 60_000)
})

it('one block that a peer withholds, and a snapshot that it makes up, do not leave a node behind', async () => {
  const hub = new MemoryNetwork(new VirtualTime(source.nowMs + LATER_MS))
  const door = new KeepingDoor(source, hub.time)
  const node = await SyncNode.open(hub, 'node', { door })
  await importAll(node.test, blocksFrom(source, 1))
  hub.connect(node.network, (await SyncNode.open(hub, 'honest', { test: source })).network)
  const [secret] = headerBranch(source.ruleBook, headerTipOf(source.chain.database, source.chain.head), 1)
  const { id, totalWork, bytes } = secret as HeaderTip
  const far = { height: 1_000_000, mode: 2, bodiesFrom: 1_000_000, witnessesFrom: 1_000_000 } as const
  const snapshots = [{ height: 500_000, id: 'ab'.repeat(32) as BlockId }]
  const says = (status: Status): Status => ({ ...status, ...far, head: id, totalWork, snapshots })
  const liar = await SyncNode.open(hub, 'liar', { test: source, says })
  liar.peers.exchange.answer('headers', () => ({ reply: [bytes] }))
  hub.connect(liar.network, node.network)
  node.synchroniser.start()
  await hub.time.pass(60_000)
  expect(door.kept).toEqual([])
  expect(node.synchroniser.progress().behind).toBe(false)
  await node.stop()
}, 60_000)
