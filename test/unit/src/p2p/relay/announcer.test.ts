import { expect, it } from 'vitest'
import type { WtxId } from '../../../../../consensus/primitives/ids.ts'
import { Announcer } from '../../../../../src/p2p/relay/announcer.ts'
import { TestChain } from '../../../../support/chain.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { RelayNode } from '../../../../support/p2p/relay-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'

it('tells of a long stream of transactions within what a peer allows', async () => {
  const like = await TestChain.open()
  await like.mineTo(1)
  const hub = new MemoryNetwork(new VirtualTime(like.nowMs))
  const [one, other] = [await RelayNode.open(hub, 'one', { like }), await RelayNode.open(hub, 'other', { like })]
  // It takes note of what it is told, and asks for nothing.
  other.behind = true
  hub.connect(one.network, other.network)
  await hub.time.pass(100)
  let told = 0
  const announcer = new Announcer(one.peers, hub.time, (ids) => {
    told += ids
  })
  const COUNT = 10_000
  for (let i = 0; i < COUNT; i++) {
    announcer.tell(i.toString(16).padStart(64, '0') as WtxId)
    await hub.time.pass(4)
  }
  await hub.time.pass(100)
  announcer.stop()
  expect(told).toBe(COUNT)
  expect(other.offences).toEqual([])
  expect(other.network.ended).toEqual([])
})
