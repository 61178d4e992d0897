import { beforeAll, expect, it } from 'vitest'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../../../src/p2p/network.ts'
import { pause } from '../../../src/p2p/relay/within.ts'
import type { Status } from '../../../src/p2p/wire/messages.ts'
import { fork } from '../../support/branches.ts'
import type { TestChain } from '../../support/chain.ts'
import {
  type EasyBranch,
  easyBranch,
  FORK,
  freshNode,
  headersOf,
  honestPeers,
  OWN,
  PARTS,
} from '../../support/p2p/easy-branch.ts'
import { MemoryNetwork } from '../../support/p2p/memory-network.ts'
import { SyncNode } from '../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../support/sim/virtual-clock.ts'

/** Time between two statuses of a liar. At this rate it looks like an honest peer. */
const TOLD_EVERY_MS = 2_500

let world: EasyBranch
beforeAll(async () => {
  world = await easyBranch()
}, 280_000)

/** A peer that shows the honest chain and claims no more, but denies every block that it is asked about. */
class Denier {
  readonly #hub: MemoryNetwork
  readonly #grown: TestChain
  #peer: SyncNode | undefined
  #status: Status | undefined
  #toldMs = 0
  #height = OWN
  /** Ends of the pages that it showed. A request after one of those is for the next page, not about a block. */
  readonly #ends = new Set<number>()
  denied = 0
  other: Denier | undefined

  constructor(hub: MemoryNetwork, grown: TestChain) {
    this.#hub = hub
    this.#grown = grown
  }

  async open(name: string): Promise<SyncNode> {
    const says = (status: Status): Status => {
      this.#status = status
      return this.#statusAt(status)
    }
    const peer = await SyncNode.open(this.#hub, name, { test: this.#grown, says })
    peer.peers.exchange.answer('headers', async (_, { locator, limit }) => {
      const { database } = this.#grown.chain
      const at = database.entry(locator[0] as BlockId)?.header.height ?? 0
      if (limit === 1 && at > 0 && !this.#ends.has(at)) {
        this.denied += 1
        return { reply: headersOf(world.lighter, [], FORK + 1).slice(-1) }
      }
      const end = this.#height
      while (this.#grown.height <= end) await pause(this.#hub.time, 100)
      // Before the node knows this branch, the other denier announces a block more, and may deny again.
      this.other?.tell()
      const reply = headersOf(this.#grown, locator, limit).slice(0, Math.max(0, end - at))
      this.#ends.add(at + reply.length)
      return { reply }
    })
    this.#peer = peer
    return peer
  }

  tell(): void {
    const { nowMs } = this.#hub.time
    if (this.#height === this.#grown.height || nowMs - this.#toldMs < TOLD_EVERY_MS) return
    this.#toldMs = nowMs
    this.#height = this.#grown.height
    void this.#peer?.peers.exchange.ask('node' as PeerId, 'status', this.#statusAt(this.#status as Status))
  }

  #statusAt(status: Status): Status {
    const { database } = this.#grown.chain
    const { id, totalWork } = database.entry(database.idAt(this.#height) as BlockId) as NonNullable<
      ReturnType<typeof database.entry>
    >
    return { ...status, head: id, height: this.#height, totalWork }
  }
}

it('two peers that deny each other’s blocks, which both have, do not keep a node from syncing', async () => {
  const grown = await fork(world.own, { parts: PARTS })
  const hub = new MemoryNetwork(new VirtualTime(Math.max(grown.nowMs, world.lighter.nowMs) + 120_000_000))
  const node = await freshNode(hub)
  const [one, other] = [new Denier(hub, grown), new Denier(hub, grown)]
  one.other = other
  other.other = one
  hub.connect(node.network, (await one.open('liar 0')).network)
  hub.connect(node.network, (await other.open('liar 1')).network)
  for (const honest of await honestPeers(hub, { own: grown }, { count: 6 })) hub.connect(node.network, honest.network)
  await hub.time.pass(100)
  node.synchroniser.start()
  for (let second = 0; second < 300 && node.height < OWN; second += 3) {
    await hub.time.pass(3_000)
    grown.nowMs = grown.chain.head.header.timeMs
    await grown.mine()
    grown.nowMs = hub.time.nowMs
  }
  expect(one.denied + other.denied).toBeGreaterThan(0)
  expect(node.height).toBeGreaterThanOrEqual(OWN)
  expect(node.offences.filter(({ peer }) => peer.startsWith('honest'))).toEqual([])
  await node.stop()
})
