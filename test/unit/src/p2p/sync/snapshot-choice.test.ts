import { expect, it } from 'vitest'
import type { BlockId } from '../../../../../consensus/primitives/ids.ts'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import type { Peer } from '../../../../../src/p2p/peers/peers.ts'
import { SnapshotChoice } from '../../../../../src/p2p/sync/snapshot-choice.ts'

const HONEST = 'honest' as PeerId

function offering(id: string, height: number, direction: 'outbound' | 'inbound' = 'outbound'): Peer {
  const snapshots = [{ height, id: `${height}` as BlockId }]
  return { info: { id, direction, address: `/memory/${id}` }, status: { snapshots } } as unknown as Peer
}

function world() {
  const choice = new SnapshotChoice((id) => `place of ${id}`)
  const best = (peers: readonly Peer[]): number | undefined => choice.best(peers, HONEST, () => true)?.height
  return { choice, best }
}

it('of as many peers, the snapshot is taken that the owner of the branch offers, though others are newer', () => {
  const { best } = world()
  expect(best([offering('liar', 1_200), offering(HONEST, 1_100)])).toBe(1_100)
  expect(best([offering('a', 1_200), offering('b', 1_200), offering(HONEST, 1_100)])).toBe(1_200)
})

it('peers whose offers came to nothing count for half each time, whatever they offer next', () => {
  const { choice, best } = world()
  const heights: (number | undefined)[] = []
  for (let time = 0; time < 4; time++) {
    const liars = ['a', 'b', 'c', 'd'].map((id) => offering(id, 1_200 + time))
    heights.push(best([...liars, offering(HONEST, 1_100)]))
    choice.failed(liars.map(({ info }) => info.id))
  }
  expect(heights).toEqual([1_200, 1_201, 1_100, 1_100])
})

it('what came to nothing for all who offer it is taken again before what a stranger offers', () => {
  const { choice, best } = world()
  choice.failed([HONEST])
  expect(best([offering('stranger', 1_200, 'inbound'), offering(HONEST, 1_100)])).toBe(1_100)
})

it('a snapshot has a rival where at least half as much speaks for another one', () => {
  const { choice } = world()
  const taken = { height: 1_200, id: '1200' as BlockId }
  const hasRival = (peers: readonly Peer[]): boolean => choice.hasRival(peers, taken, () => true)
  const liar = offering('liar', 1_200)
  expect(hasRival([liar])).toBe(false)
  expect(hasRival([liar, offering('stranger', 1_100, 'inbound')])).toBe(false)
  expect(hasRival([liar, offering(HONEST, 1_100)])).toBe(true)
  expect(hasRival([liar, ...['a', 'b'].map((id) => offering(id, 1_200)), offering(HONEST, 1_100)])).toBe(false)
  const older = { height: 1_100, id: '1100' }
  const both = { ...offering(HONEST, 1_100), status: { snapshots: [taken, older] } } as unknown as Peer
  expect(hasRival([both])).toBe(false)
  choice.failed([HONEST])
  expect(hasRival([liar, offering(HONEST, 1_100)])).toBe(true)
  choice.failed([HONEST])
  expect(hasRival([liar, offering(HONEST, 1_100)])).toBe(false)
})
