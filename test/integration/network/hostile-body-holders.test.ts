import { beforeAll, describe, expect, it } from 'vitest'
import { pause } from '../../../src/p2p/relay/within.ts'
import { type EasyBranch, easyBranch, expectHeavier, freshNode, honestPeers } from '../../support/p2p/easy-branch.ts'
import { MemoryNetwork } from '../../support/p2p/memory-network.ts'
import { SyncNode } from '../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../support/sim/virtual-clock.ts'

let world: EasyBranch
beforeAll(async () => {
  world = await easyBranch()
}, 280_000)

/** How strangers delay bodies: of which batches, for how long, and how many bodies they give then. */
interface Holding {
  readonly strangers: number
  readonly of: 'the batch that is waited for' | 'all batches'
  readonly heldMs: number
  readonly bodies: number
}

/**
 * Strangers that dialled the node send the same status as honest peers, and delay bodies until just before a limit: the deadline of 20 s,
 * or the longest (8 s) or shortest (0.5 s) time after which another peer is asked.
 */
describe.each<Holding>([
  { strangers: 7, of: 'the batch that is waited for', heldMs: 19_500, bodies: 0 },
  { strangers: 16, of: 'the batch that is waited for', heldMs: 19_500, bodies: 0 },
  { strangers: 48, of: 'all batches', heldMs: 19_500, bodies: 0 },
  { strangers: 24, of: 'all batches', heldMs: 7_900, bodies: 0 },
  { strangers: 24, of: 'all batches', heldMs: 7_900, bodies: 1 },
  { strangers: 24, of: 'all batches', heldMs: 450, bodies: 1 },
])('$strangers strangers that give $bodies bodies of $of after $heldMs ms', (holding) => {
  it.each([
    { honest: 'were chosen', seconds: 60 },
    { honest: 'came themselves', seconds: 600 },
  ])('do not keep a node from syncing if its honest peers $honest', async ({ honest, seconds }) => {
    const { own } = world
    const { database } = own.chain
    const hub = new MemoryNetwork(new VirtualTime(own.nowMs + 120_000_000))
    const node = await freshNode(hub)
    let held = 0
    for (let i = 0; i < holding.strangers; i++) {
      const stranger = await SyncNode.open(hub, `stranger ${i}`, { test: own })
      stranger.peers.exchange.answer('bodies', async (_, ids) => {
        const bodies = ids.map((id) => database.encodedTransactions(id) ?? [])
        const [first] = ids.map((id) => database.entry(id)?.header.height)
        if (holding.of === 'the batch that is waited for' && first !== node.height + 1) return { reply: bodies }
        held += 1
        await pause(hub.time, holding.heldMs)
        return { reply: bodies.slice(0, holding.bodies) }
      })
      hub.connect(stranger.network, node.network)
    }
    const isChosen = honest === 'were chosen'
    for (const { network } of await honestPeers(hub, world, { count: 6 }))
      hub.connect(isChosen ? node.network : network, isChosen ? network : node.network)
    // The latency of strangers is measured before the start. While it is unknown, the node asks honest peers before them.
    await hub.time.pass(25_000)
    node.synchroniser.start()
    await hub.time.pass(seconds * 1_000)
    if (!isChosen) expect(held).toBeGreaterThan(0)
    expectHeavier(node, world)
    await node.stop()
  })
})
