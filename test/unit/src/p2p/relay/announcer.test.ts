import { expect, it } from 'vitest'
import type { WtxId } from '../../../../../consensus/primitives/ids.ts'
import { Announcer } from '../../../../../src/p2p/relay/announcer.ts'
import { NOTHING } from '../../../../../src/p2p/wire/messages.ts'
import { TestChain } from '../../../../support/chain.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { RelayNode } from '../../../../support/p2p/relay-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'

it('tells of a long stream of transactions within what a peer allows', async () => {
  const like = await TestChain.open()
  await like.mineTo(1)
  const hub = new MemoryNetwork(new VirtualTime(like.nowMs))
  const [one, other] = [await RelayNode.open(hub, 'one', { like }), await RelayNode.open(hub, 'other', { like })]
  // While the other node is behind, it records announcements and asks for nothing.
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

it('tells a busy peer again, and not for ever', async () => {
  const like = await TestChain.open()
  await like.mineTo(1)
  const hub = new MemoryNetwork(new VirtualTime(like.nowMs))
  const [one, other] = [await RelayNode.open(hub, 'one', { like }), await RelayNode.open(hub, 'other', { like })]
  hub.connect(one.network, other.network)
  await hub.time.pass(100)
  const heard: (readonly WtxId[])[] = []
  let busy = 3
  other.peers.exchange.answer('announce', (_, ids) => {
    heard.push(ids)
    return busy-- > 0 ? { refusal: 'busy' } : { reply: NOTHING }
  })
  const announcer = new Announcer(one.peers, hub.time, () => {})
  const [first, second] = ['01'.repeat(32), '02'.repeat(32)] as [WtxId, WtxId]
  announcer.tell(first)
  await hub.time.pass(1_000)
  announcer.tell(second)
  await hub.time.pass(10_000)
  expect(heard).toEqual([[first], [first], [first], [first], [second]])
  heard.length = 0
  busy = Number.POSITIVE_INFINITY
  announcer.tell('03'.repeat(32) as WtxId)
  await hub.time.pass(60_000)
  expect(heard).toHaveLength(10)
  announcer.stop()
  expect(other.offences).toEqual([])
})
