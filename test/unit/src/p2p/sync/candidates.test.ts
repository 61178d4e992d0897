import { expect, it } from 'vitest'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import type { Peer } from '../../../../../src/p2p/peers/peers.ts'
import { Candidates } from '../../../../../src/p2p/sync/candidates.ts'

const ID = 'rival' as PeerId
const HEAD = 1_000n
const PLACE = '/ip4/203.0.113.7/tcp/9333'

it('a peer that disputes and leaves has a say four times an hour, also where it shows a little in between', () => {
  const [chain, connected] = [{ head: { totalWork: HEAD } }, [] as Peer[]]
  let nowMs = 0
  const clock = { now: () => nowMs }
  const candidates = new Candidates({ chain, clock, peers: { list: () => connected, isReady: () => true } } as never)
  const comes = (totalWork: bigint): void => {
    connected[0] = {
      info: { id: ID, direction: 'outbound', address: PLACE },
      head: { totalWork },
      claimedWork: totalWork,
    } as Peer
  }
  const leaves = (): void => {
    const [peer] = connected.splice(0)
    candidates.forget(peer as Peer)
  }
  const isHeard = (): boolean => candidates.rivals(HEAD).length > 0

  for (let time = 0; time < 4; time++) {
    comes(HEAD * 9n)
    expect(isHeard(), `time ${time}`).toBe(true)
    candidates.asking(ID)
    leaves()
  }
  comes(HEAD + 1n)
  candidates.asking(ID)
  candidates.looking(ID)
  chain.head = { totalWork: HEAD + 1n }
  candidates.unpark(ID)
  leaves()
  comes(HEAD * 9n)
  expect(isHeard()).toBe(false)
  nowMs += 3_599_999
  expect(isHeard()).toBe(false)
  nowMs += 1
  expect(isHeard()).toBe(true)
})

it('a peer that shows all that it ever claimed is heard again', () => {
  const chain = { head: { totalWork: HEAD } }
  const peer = { info: { id: ID, direction: 'outbound', address: PLACE }, head: { totalWork: HEAD * 10n } } as Peer
  const peers = { list: () => [peer], isReady: () => true }
  const candidates = new Candidates({ chain, clock: { now: () => 0 }, peers } as never)
  candidates.asking(ID)
  candidates.forget({ ...peer, claimedWork: HEAD * 9n })
  for (let time = 0; time < 3; time++) candidates.park(ID)
  expect(candidates.rivals(HEAD)).toEqual([])
  candidates.unpark(ID)
  expect(candidates.rivals(HEAD)).toEqual([])
  chain.head = { totalWork: HEAD * 9n }
  candidates.unpark(ID)
  expect(candidates.rivals(HEAD)).toEqual([peer])
})

it('a peer that disputes, leaves and comes with a new name at the same place has a say four times an hour', () => {
  const connected: Peer[] = []
  const peers = { list: () => connected, isReady: () => true }
  const candidates = new Candidates({ chain: { head: { totalWork: HEAD } }, clock: { now: () => 0 }, peers } as never)
  const comes = (name: string, place = PLACE): void => {
    const info = { id: name as PeerId, direction: 'outbound', address: `${place}/p2p/${name}` } as const
    connected[0] = { info, head: { totalWork: HEAD * 9n }, claimedWork: HEAD * 9n } as Peer
    candidates.came(connected[0])
  }
  for (let time = 0; time < 4; time++) {
    comes(`name ${time}`)
    expect(candidates.rivals(HEAD), `time ${time}`).toHaveLength(1)
    candidates.asking(connected[0]?.info.id as PeerId)
    candidates.forget(connected.pop() as Peer)
  }
  comes('another name')
  expect(candidates.rivals(HEAD)).toEqual([])
  comes('an honest one', '/ip4/203.0.113.8/tcp/9333')
  expect(candidates.rivals(HEAD)).toHaveLength(1)
})
