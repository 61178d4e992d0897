import { expect, it } from 'vitest'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import type { Peer } from '../../../../../src/p2p/peers/peers.ts'
import { Candidates } from '../../../../../src/p2p/sync/candidates.ts'

const ID = 'rival' as PeerId
const HEAD = 1_000n

it('a peer that disputes and leaves has a say four times, until all is shown that it ever claimed', () => {
  const [chain, connected, clock] = [{ head: { totalWork: HEAD } }, [] as Peer[], { now: () => 0 }]
  const candidates = new Candidates({ chain, clock, peers: { list: () => connected, isReady: () => true } } as never)
  const comes = (totalWork: bigint): void => {
    connected[0] = { info: { id: ID, direction: 'outbound' }, head: { totalWork }, claimedWork: totalWork } as Peer
  }
  const leaves = (): void => {
    const [peer] = connected.splice(0)
    candidates.forget(ID, peer?.claimedWork ?? 0n)
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
  chain.head = { totalWork: HEAD * 9n }
  candidates.unpark(ID)
  expect(isHeard()).toBe(true)
})
