import { beforeAll, describe, expect, it } from 'vitest'
import { type HeaderTip, headerTipOf } from '../../../consensus/block/header-tip.ts'
import type { BlockEntry } from '../../../consensus/chain/layout.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../../../src/p2p/network.ts'
import type { Peer } from '../../../src/p2p/peers/peers.ts'
import { pause } from '../../../src/p2p/relay/within.ts'
import type { Status } from '../../../src/p2p/wire/messages.ts'
import { fork } from '../../support/branches.ts'
import type { TestChain } from '../../support/chain.ts'
import { childHeader, headerBranch } from '../../support/header-branch.ts'
import {
  type EasyBranch,
  easyBranch,
  expectHeavier,
  FORK,
  freshNode,
  headersOf,
  honestPeers,
  LATE_MS,
  OWN,
  PARTS,
  RULES,
} from '../../support/p2p/easy-branch.ts'
import { MemoryNetwork } from '../../support/p2p/memory-network.ts'
import { SyncNode } from '../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../support/sim/virtual-clock.ts'

let world: EasyBranch
let own: TestChain

beforeAll(async () => {
  world = await easyBranch()
  own = world.own
}, 280_000)

const saysTooMuch = (status: Status): Status => ({ ...status, height: 1_000_000, totalWork: 2n ** 200n })

describe('a node with one hostile peer among those that it chose', () => {
  /** A node, honest peers, and a liar that sends the status of `says` and is alone with the node for `aloneMs`. */
  async function beset(says: (status: Status) => Status, { aloneMs = 0, honest = 3 } = {}) {
    const hub = new MemoryNetwork(new VirtualTime(own.nowMs + 120_000_000))
    const node = await freshNode(hub)
    const liar = await SyncNode.open(hub, 'liar', { ruleBook: RULES, says })
    hub.connect(node.network, liar.network)
    const others = await honestPeers(hub, world, { count: honest })
    void pause(hub.time, aloneMs).then(() => {
      for (const peer of others) hub.connect(node.network, peer.network)
    })
    return { hub, node, liar }
  }

  /** Like `beset`, with a growing honest chain, and a second liar on the easy branch that will dial the node. */
  async function besetOnGrowing(count: number) {
    const grown = await fork(own, { parts: PARTS })
    const hub = new MemoryNetwork(new VirtualTime(Math.max(own.nowMs, world.lighter.nowMs) + 120_000_000))
    const node = await freshNode(hub)
    const liar = await SyncNode.open(hub, 'liar', { ruleBook: RULES, says: saysTooMuch })
    hub.connect(node.network, liar.network)
    for (const honest of await honestPeers(hub, { own: grown }, { count })) hub.connect(node.network, honest.network)
    const inbound = await SyncNode.open(hub, 'inbound', { test: world.lighter })
    return { hub, node, liar, grown, inbound }
  }

  /** Grows the honest chain by a block every three seconds. Expects the node to know that it is behind until it has caught up. */
  async function grow(
    { hub, node, grown }: { readonly hub: MemoryNetwork; readonly node: SyncNode; readonly grown: TestChain },
    seconds: number,
    at: (second: number) => void,
  ): Promise<void> {
    for (let second = 0; second < seconds; second += 3) {
      at(second)
      await hub.time.pass(3_000)
      // The block's time is right after its parent's. With a later time the block would be easy.
      grown.nowMs = grown.chain.head.header.timeMs
      await grown.mine()
      grown.nowMs = hub.time.nowMs
      expect(node.synchroniser.progress().behind || node.height >= OWN, `second ${second}`).toBe(true)
    }
  }

  function expectOn(node: SyncNode, grown: TestChain): void {
    expect(node.offences.filter(({ peer }) => peer.startsWith('honest'))).toEqual([])
    expect(node.height).toBeGreaterThanOrEqual(OWN)
    expect(grown.chain.database.entry(node.test.chain.head.id)).toBeDefined()
  }

  /** Makes the liar show headers without work, page by page: each page after nine busy answers, each answer just in time. */
  function collects({
    hub,
    node,
    liar,
  }: {
    readonly hub: MemoryNetwork
    readonly node: SyncNode
    readonly liar: SyncNode
  }): void {
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
      if (from > 0 && asked % 10 !== 0) {
        await pause(hub.time, 14_500)
        return { refusal: 'busy' }
      }
      return { reply: untrue.slice(from, from + limit).map(({ bytes }) => bytes) }
    })
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
    expectHeavier(node, world)
    await node.stop()
  })

  it('is not kept waiting by a proven branch whose pages, when shown again, end in the future', async () => {
    const { hub, node, liar } = await beset(saysTooMuch)
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
    expectHeavier(node, world)
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
      const node = await freshNode(hub)
      const take = node.intake.take.bind(node.intake)
      node.intake.take = async (...block) => {
        await pause(hub.time, 10)
        return take(...block)
      }
      for (const peer of await honestPeers(hub, world, { count: 1 })) hub.connect(node.network, peer.network)
      for (let i = 0; i < names; i++) {
        const liar = await SyncNode.open(hub, `liar ${i}`, { test: own, says: saysTooMuch })
        let asked = 0
        liar.peers.exchange.answer('headers', async (_, { limit }) => {
          asked += 1
          if (asked % 5 !== 0 || limit > 1) return { refusal: 'busy' }
          // The liar comes back when the node follows the disputed branch again.
          void pause(hub.time, leavesMs).then(async () => {
            liar.network.disconnect(node.network.self, 'it leaves')
            await pause(hub.time, 5_300)
            hub.connect(node.network, liar.network)
          })
          return { reply: headersOf(world.lighter, [own.chain.ruleBook.genesis.block.id], FORK + 1).slice(-1) }
        })
        hub.connect(node.network, liar.network)
      }
      node.synchroniser.start()
      await hub.time.pass(240_000)
      expectHeavier(node, world)
      await node.stop()
    },
    120_000,
  )

  it('is not kept waiting by a liar with a small real branch and headers without work', async () => {
    const says = (status: Status): Status => {
      const { id, header, totalWork } = mined.at(-1) as HeaderTip
      return { ...status, head: id, height: header.height, totalWork }
    }
    const { hub, node, liar } = await beset(says, { aloneMs: 20 })
    const { database } = own.chain
    const genesis = database.entry(own.chain.ruleBook.genesis.block.id) as BlockEntry
    const base = headerTipOf(database, genesis)
    const late = headerBranch(RULES, base, 1, { timeMs: base.header.timeMs + LATE_MS })
    const mined = [...late, ...headerBranch(RULES, late[0] as HeaderTip, 149)]
    const untrue = headerBranch(RULES, base, 1_999)
    const bytesOf = new Set(untrue.map(({ bytes }) => toHex(bytes)))
    node.isFalse = ({ bytes }) => bytesOf.has(toHex(bytes))
    let isFirst = true
    liar.peers.exchange.answer('headers', async (_, { locator, limit }) => {
      if (limit === 1) await pause(hub.time, 3_000)
      const from = mined.findIndex(({ id }) => id === locator[0]) + 1
      if (limit === 1 || !isFirst) return { reply: mined.slice(from, from + limit).map(({ bytes }) => bytes) }
      isFirst = false
      // A header that does not follow the others but whose parent is known. Its sender is not blamed.
      const last = database.entry(database.idAt(1) as BlockId) as BlockEntry
      return { reply: [...untrue.map(({ bytes }) => bytes), last.bytes] }
    })
    node.synchroniser.start()
    await hub.time.pass(300_000)
    expectHeavier(node, world)
    await node.stop()
  })

  it('knows that it is behind as long as the proven branch is disputed', async () => {
    const { hub, node, liar } = await beset(saysTooMuch, { honest: 1 })
    let asked = 0
    liar.peers.exchange.answer('headers', (_, { limit }) => {
      if (limit > 1) return { refusal: 'busy' }
      asked += 1
      // The liar disputes twice. Then it only answers that it is busy.
      return asked > 2 ? { refusal: 'busy' } : { reply: headersOf(world.lighter, [], FORK + 1).slice(-1) }
    })
    node.synchroniser.start()
    for (let second = 0; node.height < OWN; second++) {
      await hub.time.pass(1_000)
      if (node.height === 0) expect(node.synchroniser.progress().behind, `second ${second}`).toBe(true)
    }
    expect(asked).toBeGreaterThan(6)
    expectHeavier(node, world)
    await node.stop()
  }, 120_000)

  it.each([1, 3])(
    'does not hold against %d honest peers that their chain grew while it was disputed',
    async (count) => {
      const parts = await besetOnGrowing(count)
      const { hub, node, liar, grown, inbound } = parts
      let asked = 0
      liar.peers.exchange.answer('headers', (_, { limit }) => {
        if (limit > 1) return { refusal: 'busy' }
        asked += 1
        const disputes = asked <= 10 && asked % 5 === 0
        return disputes ? { reply: headersOf(world.lighter, [], FORK + 1).slice(-1) } : { refusal: 'busy' }
      })
      node.synchroniser.start()
      await grow(parts, 300, (second) => {
        if (second === 60) hub.connect(inbound.network, node.network)
      })
      expectOn(node, grown)
      await node.stop()
    },
    120_000,
  )

  it('is not kept waiting by disputes of a peer whose own claim is collected page by page', async () => {
    const parts = await beset(saysTooMuch)
    collects(parts)
    parts.node.synchroniser.start()
    await parts.hub.time.pass(900_000)
    expectHeavier(parts.node, world)
    await parts.node.stop()
  }, 120_000)

  it('does not treat honest peers as rivals because of that, and still hears them', async () => {
    const parts = await besetOnGrowing(3)
    const { hub, node, liar, grown, inbound } = parts
    collects(parts)
    node.synchroniser.start()
    await grow(parts, 900, (second) => {
      if (second === 300) liar.network.disconnect(node.network.self, 'it leaves')
      if (second === 330) hub.connect(inbound.network, node.network)
    })
    expectOn(node, grown)
    await node.stop()
  }, 120_000)
})
