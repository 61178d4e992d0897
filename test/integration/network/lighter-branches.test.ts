import { beforeAll, describe, expect, it } from 'vitest'
import type { Block } from '../../../consensus/block/block.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { BlockRelay } from '../../../src/p2p/relay/block-relay.ts'
import { makeCompactBlock } from '../../../src/p2p/relay/compact-block.ts'
import { pause } from '../../../src/p2p/relay/within.ts'
import { serveState } from '../../../src/p2p/serve/state.ts'
import type { Status } from '../../../src/p2p/wire/messages.ts'
import type { StateSnapshots } from '../../../src/storage/state-snapshots.ts'
import type { TestChain } from '../../support/chain.ts'
import {
  type EasyBranch,
  EVERY,
  easyBranch,
  expectHeavier,
  FORK,
  freshNode,
  headersOf,
  honestPeers,
  LONG,
  RULES,
} from '../../support/p2p/easy-branch.ts'
import { MemoryNetwork } from '../../support/p2p/memory-network.ts'
import { SyncNode } from '../../support/p2p/sync-node.ts'
import { slowly, takingNode } from '../../support/p2p/taking-node.ts'
import { VirtualTime } from '../../support/sim/virtual-clock.ts'
import { SILENT } from '../../support/wire.ts'

const PRUNED = { mode: 2, bodiesFrom: 900, witnessesFrom: 900 } as const

let world: EasyBranch
let own: TestChain
let lighter: TestChain
let ownStates: StateSnapshots
let lighterStates: StateSnapshots

beforeAll(async () => {
  world = await easyBranch()
  ;({ own, lighter, ownStates, lighterStates } = world)
}, 280_000)

function hubNow(): MemoryNetwork {
  return new MemoryNetwork(new VirtualTime(Math.max(lighter.nowMs, own.nowMs) + 1_000_000))
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
    [
      'by the first peer that comes after it was alone',
      { claims: truth, isFirst: true, came: true, offline: 60_000, alone: 20_000, importMs: 5 },
    ],
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
      offline = 0,
      alone = 0,
      importMs = 0,
      height,
    }: Case) => {
      expect(truth()).toBeLessThan(own.chain.head.totalWork)
      const hub = hubNow()
      const node = await freshNode(hub)
      const take = node.intake.take.bind(node.intake)
      node.intake.take = async (...block) => {
        if (importMs > 0) await pause(hub.time, importMs)
        return take(...block)
      }
      const says = (status: Status): Status => ({ ...status, height: height ?? status.height, totalWork: claims() })
      const liar = await SyncNode.open(hub, 'liar', { test: lighter, says })
      const meetLiar = (): void =>
        came ? hub.connect(liar.network, node.network) : hub.connect(node.network, liar.network)
      if (offline > 0) node.synchroniser.start()
      await hub.time.pass(offline)
      if (isFirst) meetLiar()
      if (alone > 0 && offline === 0) node.synchroniser.start()
      await hub.time.pass(alone)
      for (const peer of await honestPeers(hub, world, { count: honest, busyMs }))
        hub.connect(node.network, peer.network)
      if (!isFirst) meetLiar()
      if (alone === 0) node.synchroniser.start()
      await hub.time.pass(300_000)
      expectHeavier(node, world)
      await node.stop()
    },
  )
})

interface Case {
  readonly claims: () => bigint
  /** Whether the node meets the liar before the honest peers. */
  readonly isFirst?: boolean
  readonly busyMs?: number
  readonly honest?: number
  /** Whether the liar dialled the node. */
  readonly came?: boolean
  /** How long the node is alone. */
  readonly offline?: number
  /** How long the liar is alone with the node. */
  readonly alone?: number
  /** How long the import of a block takes. */
  readonly importMs?: number
  /** Height that the liar claims. */
  readonly height?: number
}

/** A node that takes snapshots, with three honest chosen peers that are pruned and answer slowly. */
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
    expectHeavier(node, world)
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
      expectHeavier(node, world)
      expect(node.test.chain.database.base).toBe(2 * EVERY)
      await node.stop()
    },
    120_000,
  )
})
