import { beforeAll, expect, it } from 'vitest'
import { pause } from '../../src/p2p/relay/within.ts'
import { type EasyBranch, easyBranch, expectHeavier, freshNode, honestPeers } from '../support/p2p/easy-branch.ts'
import { MemoryNetwork } from '../support/p2p/memory-network.ts'
import { SyncNode } from '../support/p2p/sync-node.ts'
import { VirtualTime } from '../support/sim/virtual-clock.ts'

const HELD_MS = 19_500

let world: EasyBranch
beforeAll(async () => {
  world = await easyBranch()
}, 280_000)

/** Strangers that came to a node say what honest peers say, and hold back bodies, until just before that is late. */
it.each([
  { strangers: 7, what: 'those that the node waits for', holdsAll: false },
  { strangers: 16, what: 'those that the node waits for', holdsAll: false },
  { strangers: 48, what: 'all', holdsAll: true },
])('$strangers strangers that give no bodies, of $what, cost a node seconds', async ({ strangers, holdsAll }) => {
  const { own } = world
  const { database } = own.chain
  const hub = new MemoryNetwork(new VirtualTime(own.nowMs + 120_000_000))
  const node = await freshNode(hub)
  let held = 0
  for (let i = 0; i < strangers; i++) {
    const stranger = await SyncNode.open(hub, `stranger ${i}`, { test: own })
    stranger.peers.exchange.answer('bodies', async (_, ids) => {
      const [first] = ids.map((id) => database.entry(id)?.header.height)
      if (!holdsAll && first !== node.height + 1)
        return { reply: ids.map((id) => database.encodedTransactions(id) ?? []) }
      held += 1
      await pause(hub.time, HELD_MS)
      return { reply: [] }
    })
    hub.connect(stranger.network, node.network)
  }
  for (const honest of await honestPeers(hub, world, { count: 6 })) hub.connect(node.network, honest.network)
  // Until what strangers take to answer was measured, honest peers are asked.
  await hub.time.pass(25_000)
  node.synchroniser.start()
  await hub.time.pass(60_000)
  expect(held).toBeGreaterThan(0)
  expectHeavier(node, world)
  await node.stop()
})
