import { beforeAll, describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import type { Block } from '../../consensus/block/block.ts'
import { targetOfWork } from '../../consensus/block/pow.ts'
import { type HeaderTip, headerTipOf } from '../../consensus/chain/header-tip.ts'
import { MemoryKeyValueStore } from '../../consensus/chain/key-value.ts'
import type { BlockEntry } from '../../consensus/chain/layout.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import type { PeerId } from '../../src/p2p/network.ts'
import type { Peer } from '../../src/p2p/peers/peers.ts'
import { BlockRelay } from '../../src/p2p/relay/block-relay.ts'
import { pause } from '../../src/p2p/relay/within.ts'
import { serveState } from '../../src/p2p/serve/state.ts'
import { makeCompactBlock } from '../../src/p2p/wire/compact-block.ts'
import type { Status } from '../../src/p2p/wire/messages.ts'
import type { StateSnapshots } from '../../src/storage/state-snapshots.ts'
import { fork } from '../support/branches.ts'
import { TestChain } from '../support/chain.ts'
import { freePow } from '../support/differential.ts'
import { childHeader, headerBranch } from '../support/header-branch.ts'
import { testRuleBook } from '../support/network.ts'
import { MemoryNetwork } from '../support/p2p/memory-network.ts'
import { FallibleVerifier, SyncNode } from '../support/p2p/sync-node.ts'
import { slowly, snapshotsOf, takingNode } from '../support/p2p/taking-node.ts'
import { VirtualTime } from '../support/sim/virtual-clock.ts'
import { SILENT } from '../support/wire.ts'

// A chain whose blocks are dear, and branches of it whose first block came so late that all behind it are easy: longer than what can be
// unwound, and of a sixth of the work. One is as the attacker would mine it from the beginning.
const RULES = testRuleBook({
  block: { ...LAUNCH_RULES.block, powLimit: targetOfWork(2n ** 14n), initialTarget: targetOfWork(2n ** 30n) },
})
const PARTS = { powHasher: freePow }
const LATE_MS = 7_200_000
const FORK = 250
const OWN = 1_500
const LONG = 2_750
const EVERY = 650
const PRUNED = { mode: 2, bodiesFrom: 900, witnessesFrom: 900 } as const

let own: TestChain
let lighter: TestChain
let ownStates: StateSnapshots
let lighterStates: StateSnapshots

beforeAll(async () => {
  const [store, lighterStore] = [new MemoryKeyValueStore(), new MemoryKeyValueStore()]
  own = await TestChain.open(RULES, store, PARTS)
  await own.mineTo(FORK)
  lighter = await fork(own, { store: lighterStore, parts: PARTS })
  ownStates = snapshotsOf(own, store, EVERY)
  lighterStates = snapshotsOf(lighter, lighterStore, EVERY)
  await own.mineTo(OWN)
  await lighter.mine([], { afterMs: LATE_MS })
  await lighter.mineTo(LONG)
}, 280_000)

function hubNow(): MemoryNetwork {
  return new MemoryNetwork(new VirtualTime(Math.max(lighter.nowMs, own.nowMs) + 1_000_000))
}

/** Headers of a chain behind the first of some blocks that lies on it. */
function headersOf({ chain, height }: TestChain, locator: readonly BlockId[], limit: number): readonly Uint8Array[] {
  const { database } = chain
  const shared = locator.map((id) => database.entry(id)).find((entry) => entry && database.isCanonical(entry))
  const from = (shared?.header.height ?? 0) + 1
  const count = Math.max(0, Math.min(limit, height - from + 1))
  return Array.from(
    { length: count },
    (_, i) => database.entry(database.idAt(from + i) as BlockId)?.bytes as Uint8Array,
  )
}

/** Honest peers that have all blocks, and are busy for a while. */
async function honestPeers(hub: MemoryNetwork, count: number, busyMs = 0): Promise<SyncNode[]> {
  const untilMs = hub.time.nowMs + busyMs
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const honest = await SyncNode.open(hub, `honest ${i}`, { test: own })
      honest.peers.exchange.answer('headers', (_from, { locator, limit }) =>
        hub.time.nowMs < untilMs ? { refusal: 'busy' } : { reply: headersOf(own, locator, limit) },
      )
      return honest
    }),
  )
}

function expectHeavier({ test, synchroniser, offences }: SyncNode): void {
  expect([test.height, test.chain.head.id]).toEqual([OWN, own.chain.head.id])
  expect(synchroniser.progress().behind).toBe(false)
  expect(offences.filter(({ peer }) => peer.startsWith('honest'))).toEqual([])
}

describe('a node that fetches blocks is not led down a branch of less work', () => {
  const more = (): bigint => own.chain.head.totalWork + 1_000n
  const truth = (): bigint => lighter.chain.head.totalWork

  it.each([
    ['by a chosen peer that comes first and claims more than it has', { claims: more, isFirst: true }],
    ['by a chosen peer that comes first and claims what it has', { claims: truth, isFirst: true }],
    ['while honest peers are busy', { claims: more, busyMs: 7_000 }],
    [
      'by a peer that came, while the one that was chosen is busy',
      { claims: more, busyMs: 7_000, honest: 1, came: true },
    ],
    ['by a peer that came before any was chosen', { claims: truth, isFirst: true, came: true, alone: 6_000 }],
    ['by the one chosen peer that there is at first', { claims: more, isFirst: true, alone: 6_000, importMs: 10 }],
    [
      'by a peer that came, and says that it leads on a little',
      { claims: more, isFirst: true, came: true, alone: 9_000, importMs: 10, height: 100 },
    ],
  ])(
    '%s',
    async (_, {
      claims,
      isFirst = false,
      busyMs = 0,
      honest = 3,
      came = false,
      alone = 0,
      importMs = 0,
      height,
    }: Case) => {
      expect(truth()).toBeLessThan(own.chain.head.totalWork)
      const hub = hubNow()
      const verifier = new FallibleVerifier()
      const test = await TestChain.open(RULES, new MemoryKeyValueStore(), { ...PARTS, verifier })
      const node = await SyncNode.open(hub, 'node', { test, verifier })
      const take = node.intake.take.bind(node.intake)
      node.intake.take = async (...block) => {
        if (importMs > 0) await pause(hub.time, importMs)
        return take(...block)
      }
      const says = (status: Status): Status => ({ ...status, height: height ?? status.height, totalWork: claims() })
      const liar = await SyncNode.open(hub, 'liar', { test: lighter, says })
      const meetLiar = (): void =>
        came ? hub.connect(liar.network, node.network) : hub.connect(node.network, liar.network)
      if (isFirst) meetLiar()
      if (alone > 0) node.synchroniser.start()
      await hub.time.pass(alone)
      for (const peer of await honestPeers(hub, honest, busyMs)) hub.connect(node.network, peer.network)
      if (!isFirst) meetLiar()
      if (alone === 0) node.synchroniser.start()
      await hub.time.pass(300_000)
      expectHeavier(node)
      await node.stop()
    },
  )
})

interface Case {
  readonly claims: () => bigint
  /** Whether the liar is there before others. */
  readonly isFirst?: boolean
  readonly busyMs?: number
  /** How many honest peers there are. */
  readonly honest?: number
  /** Whether the liar came by itself. */
  readonly came?: boolean
  /** How long the liar is alone with the node. */
  readonly alone?: number
  /** What a block takes. */
  readonly importMs?: number
  /** Height that the liar claims. */
  readonly height?: number
}

/** A node that takes states, and three honest peers that it chose, who have no old blocks and answer slowly. */
async function takingAmongSlow(hub: MemoryNetwork): Promise<SyncNode> {
  const { node } = await takingNode(hub, { rules: RULES })
  for (let i = 0; i < 3; i++) {
    const says = (status: Status): Status => ({ ...status, ...PRUNED, snapshots: ownStates.refs() })
    const honest = await SyncNode.open(hub, `honest ${i}`, { test: own, says })
    honest.peers.exchange.answer('headers', async (_, { locator, limit }) => {
      if (limit > 1) await pause(hub.time, 3_000)
      return { reply: headersOf(own, locator, limit) }
    })
    serveState(honest.peers.exchange, { states: slowly(ownStates, hub, 15_000), ruleBook: RULES, log: SILENT })
    hub.connect(node.network, honest.network)
  }
  return node
}

describe('a node that takes a state', () => {
  it('is not led away by easy blocks that are gossiped meanwhile', async () => {
    const hub = hubNow()
    const node = await takingAmongSlow(hub)
    const relay = new BlockRelay({
      ...{ network: node.network, peers: node.peers, chain: node.test.chain, intake: node.intake, timers: hub.time },
      ...{ clock: { now: () => hub.time.nowMs }, log: SILENT, random: () => 7n, isSpread: () => true },
      mempool: { transactions: () => [] } as never,
      extra: { transactions: () => [] } as never,
      workVerifier: { verifyWork: (jobs) => Promise.resolve(jobs.map(() => true)) },
      behind: () => node.synchroniser.progress().behind,
      onUnknownParent: (peer) => node.synchroniser.wanted(peer),
    })
    relay.start()
    const gossiper = await SyncNode.open(hub, 'gossiper', { ruleBook: RULES })
    hub.connect(gossiper.network, node.network)
    node.synchroniser.start()
    await hub.time.pass(15_000)
    expect(node.log.some(({ message }) => message.includes('taking the state'))).toBe(true)
    const { database } = lighter.chain
    for (let height = 1; height <= LONG; height++) {
      const block = database.block(database.idAt(height) as BlockId)
      gossiper.network.send(
        node.network.self,
        'blocks',
        makeCompactBlock(block as never, 1n, () => true),
      )
      await hub.time.pass(5)
    }
    expect(node.height).toBeLessThanOrEqual(FORK)
    await hub.time.pass(300_000)
    expectHeavier(node)
    await node.stop()
  }, 120_000)

  it.each(['as they are', 'and true blocks that they pass on move the head'])(
    'is not kept from it, nor given another, by chosen peers that claim more and deny what others have: %s',
    async (way) => {
      const hub = hubNow()
      const node = await takingAmongSlow(hub)
      for (let i = 0; i < 2; i++) {
        const totalWork = own.chain.head.totalWork * 2n + BigInt(i)
        const says = (status: Status): Status => ({ ...status, ...PRUNED, snapshots: lighterStates.refs(), totalWork })
        const liar = await SyncNode.open(hub, `liar ${i}`, { test: lighter, says })
        liar.peers.exchange.answer('headers', async (_, { locator, limit }) => {
          const { database } = own.chain
          const next = way !== 'as they are' && node.height < 100 ? database.idAt(node.height + 1) : undefined
          if (next !== undefined) await node.intake.take(database.block(next) as Block, null)
          return { reply: headersOf(lighter, locator, limit) }
        })
        serveState(liar.peers.exchange, { states: lighterStates, ruleBook: RULES, log: SILENT })
        hub.connect(node.network, liar.network)
      }
      node.synchroniser.start()
      await hub.time.pass(300_000)
      expectHeavier(node)
      expect(node.test.chain.database.base).toBe(2 * EVERY)
      await node.stop()
    },
    120_000,
  )
})

describe('a node with one hostile peer among those that it chose', () => {
  /** A node and three honest peers, with a peer that claims more work than there is. */
  async function beset(says: (status: Status) => Status) {
    const hub = new MemoryNetwork(new VirtualTime(own.nowMs + 120_000_000))
    const verifier = new FallibleVerifier()
    const test = await TestChain.open(RULES, new MemoryKeyValueStore(), { ...PARTS, verifier })
    const node = await SyncNode.open(hub, 'node', { test, verifier })
    const liar = await SyncNode.open(hub, 'liar', { ruleBook: RULES, says })
    hub.connect(node.network, liar.network)
    for (const peer of await honestPeers(hub, 3)) hub.connect(node.network, peer.network)
    return { hub, node, liar }
  }

  const earlyBehind = (tip: HeaderTip, hub: MemoryNetwork): Uint8Array =>
    childHeader(RULES, tip, { timeMs: hub.time.nowMs + 3_600_000 }).bytes

  it.each([
    ['that end below what it once claimed', false],
    ['with one from the future behind it, which excuses the end', true],
  ])('is not kept waiting by true headers, one at a time, %s', async (_name, isEarly) => {
    let isHuge = true
    const says = (status: Status): Status => ({
      ...status,
      ...(isHuge ? { height: 1_000_000, totalWork: 2n ** 200n } : { height: 1, totalWork: 1n }),
    })
    const { hub, node, liar } = await beset(says)
    liar.peers.exchange.answer('headers', async (_, { locator, limit }) => {
      if (limit === 1) return { refusal: 'busy' }
      await pause(hub.time, 4_500)
      const reply = headersOf(own, locator, 1)
      const height = own.chain.database.entry(locator[0] as BlockId)?.header.height ?? 0
      if (!isEarly || height === OWN) return { reply }
      const shown = own.chain.database.entry(own.chain.database.idAt(height + 1) as BlockId) as BlockEntry
      return { reply: [...reply, earlyBehind(headerTipOf(own.chain.database, shown), hub)] }
    })
    await hub.time.pass(100)
    isHuge = isEarly
    const { status } = node.peers.get('liar' as PeerId) as Peer
    void liar.peers.exchange.ask('node' as PeerId, 'status', says(status))
    await hub.time.pass(100)
    node.synchroniser.start()
    await hub.time.pass(300_000)
    expectHeavier(node)
    await node.stop()
  })

  it('is not kept waiting by a proven branch whose pages end in the future where they are shown again', async () => {
    const { hub, node, liar } = await beset((status) => ({ ...status, height: 1_000_000, totalWork: 2n ** 200n }))
    const { database } = own.chain
    const easy = headerBranch(
      RULES,
      headerTipOf(database, database.entry(own.chain.ruleBook.genesis.block.id) as BlockEntry),
      150,
    )
    liar.peers.exchange.answer('headers', (_, { locator, limit }) => {
      const from = easy.findIndex(({ id }) => id === locator[0]) + 1
      const shown = easy.slice(from, from + limit - (limit <= easy.length ? 1 : 0))
      const last = shown.at(-1) ?? (easy.at(-1) as HeaderTip)
      return { reply: [...shown.map((tip) => tip.bytes), earlyBehind(last, hub)].slice(0, limit) }
    })
    node.synchroniser.start()
    await hub.time.pass(600_000)
    expectHeavier(node)
    await node.stop()
  }, 120_000)

  it.each([
    ['one peer that disputes what others show, and leaves with its answer', 1, 1],
    ['one that leaves after it', 1, 3],
    ['two that take turns', 2, 1],
  ])(
    'is not kept waiting for long by %s',
    async (_name, names, leavesMs) => {
      const hub = new MemoryNetwork(new VirtualTime(own.nowMs + 120_000_000))
      const verifier = new FallibleVerifier()
      const test = await TestChain.open(RULES, new MemoryKeyValueStore(), { ...PARTS, verifier })
      const node = await SyncNode.open(hub, 'node', { test, verifier })
      const take = node.intake.take.bind(node.intake)
      node.intake.take = async (...block) => {
        await pause(hub.time, 10)
        return take(...block)
      }
      for (const peer of await honestPeers(hub, 1)) hub.connect(node.network, peer.network)
      for (let i = 0; i < names; i++) {
        const says = (status: Status): Status => ({ ...status, height: 1_000_000, totalWork: 2n ** 200n })
        const liar = await SyncNode.open(hub, `liar ${i}`, { test: own, says })
        let asked = 0
        liar.peers.exchange.answer('headers', async (_, { limit }) => {
          asked += 1
          if (asked % 5 !== 0 || limit > 1) return { refusal: 'busy' }
          // It comes again when the branch that it disputed is followed again.
          void pause(hub.time, leavesMs).then(async () => {
            liar.network.disconnect(node.network.self, 'it leaves')
            await pause(hub.time, 5_300)
            hub.connect(node.network, liar.network)
          })
          return { reply: headersOf(lighter, [own.chain.ruleBook.genesis.block.id], FORK + 1).slice(-1) }
        })
        hub.connect(node.network, liar.network)
      }
      node.synchroniser.start()
      await hub.time.pass(240_000)
      expectHeavier(node)
      await node.stop()
    },
    120_000,
  )

  it('is not kept waiting by what that disputes while its own claim is collected page by page', async () => {
    const { hub, node, liar } = await beset((status) => ({ ...status, height: 1_000_000, totalWork: 2n ** 200n }))
    const { database } = own.chain
    const shared = headerTipOf(database, database.entry(database.idAt(10) as BlockId) as BlockEntry)
    const late = headerBranch(RULES, shared, 1, { timeMs: shared.header.timeMs + 86_400_000 })
    const untrue = [...late, ...headerBranch(RULES, late[0] as HeaderTip, 12_000)]
    const bytesOf = new Set(untrue.map(({ bytes }) => toHex(bytes)))
    node.isFalse = ({ bytes }) => bytesOf.has(toHex(bytes))
    let asked = 0
    liar.peers.exchange.answer('headers', async (_, { locator, limit }) => {
      const from = untrue.findIndex(({ id }) => id === locator[0]) + 1
      asked += 1
      // Each page comes after nine times busy, each just in time.
      if (from > 0 && asked % 10 !== 0) {
        await pause(hub.time, 14_500)
        return { refusal: 'busy' }
      }
      return { reply: untrue.slice(from, from + limit).map(({ bytes }) => bytes) }
    })
    node.synchroniser.start()
    await hub.time.pass(900_000)
    expectHeavier(node)
    await node.stop()
  }, 120_000)
})
