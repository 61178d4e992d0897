import { expect, it } from 'vitest'
import { encodeAccountKeys } from '../../../../../consensus/crypto/account-keys.ts'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import { fetchKeys } from '../../../../../src/p2p/sync/key-fetch.ts'
import { PROTOCOLS } from '../../../../../src/p2p/wire/protocols.ts'
import { TestChain, wallet } from '../../../../support/chain.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { SyncNode } from '../../../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'

const ADDRESSES = [1, 2, 3].map((n) => wallet(n).address)
const KEYS = [1, 2, 3].map((n) => encodeAccountKeys(wallet(n).keys))

it('peers that drip key by key hold keys up for seconds, where another one has them', async () => {
  const like = await TestChain.open()
  const hub = new MemoryNetwork(new VirtualTime(like.nowMs))
  const node = await SyncNode.open(hub, 'node')
  for (const name of ['drip 1', 'drip 2', 'drip 3', 'drip 4']) {
    const peer = await SyncNode.open(hub, name)
    peer.peers.exchange.answer('keys', async (_, wanted) => {
      await new Promise<void>((resolve) => void hub.time.after(PROTOCOLS.keys.deadlineMs - 100, resolve))
      return { reply: wanted.map((_, i) => (i === 0 ? (KEYS[0] as Uint8Array) : new Uint8Array(0))) }
    })
    hub.connect(peer.network, node.network)
  }
  const honest = await SyncNode.open(hub, 'honest')
  honest.peers.exchange.answer('keys', (_, wanted) => ({
    reply: wanted.map((address) => KEYS[ADDRESSES.indexOf(address)] as Uint8Array),
  }))
  hub.connect(node.network, honest.network)
  await hub.time.pass(100)
  let found: readonly string[] | undefined
  void fetchKeys({ peers: node.peers, timers: hub.time }, ADDRESSES, 'drip 1' as PeerId).then((keys) => {
    found = keys.map(({ address }) => address)
  })
  await hub.time.pass(5_000)
  expect([...(found ?? [])].sort()).toEqual([...ADDRESSES].sort())
  expect(node.offences).toEqual([])
  await node.stop()
})

it('keys come from a slow peer alone, too', async () => {
  const like = await TestChain.open()
  const hub = new MemoryNetwork(new VirtualTime(like.nowMs))
  const [node, slow] = [await SyncNode.open(hub, 'node'), await SyncNode.open(hub, 'slow')]
  slow.peers.exchange.answer('keys', async () => {
    await new Promise<void>((resolve) => void hub.time.after(9_000, resolve))
    return { reply: KEYS }
  })
  hub.connect(node.network, slow.network)
  await hub.time.pass(100)
  const fetched = fetchKeys({ peers: node.peers, timers: hub.time }, ADDRESSES, null)
  await hub.time.pass(10_000)
  expect(await fetched).toHaveLength(3)
  await node.stop()
})
