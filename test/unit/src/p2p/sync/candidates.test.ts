import { describe, expect, it } from 'vitest'
import type { BlockId } from '../../../../../consensus/primitives/ids.ts'
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

it('a peer that led nowhere too often comes behind its like, whatever it claims', () => {
  const peerOf = (id: string, direction: 'outbound' | 'inbound', totalWork: bigint): Peer =>
    ({
      info: { id, direction, address: `/ip4/203.0.113.7/tcp/${id.length}` },
      head: { totalWork },
      connectedAtMs: 0,
    }) as Peer
  const [liar, honest, stranger] = [
    peerOf('liar', 'outbound', HEAD * 9n),
    peerOf('honest', 'outbound', HEAD * 2n),
    peerOf('a stranger', 'inbound', HEAD * 10n),
  ]
  let nowMs = 0
  const peers = { list: () => [liar, honest, stranger], isReady: () => true }
  const candidates = new Candidates({
    chain: { head: { totalWork: HEAD } },
    clock: { now: () => nowMs },
    peers,
  } as never)
  const best = (busy: readonly Peer[] = []) => candidates.best((id) => busy.some(({ info }) => info.id === id))
  expect(best()).toBe(liar)
  candidates.discount(liar.info.id)
  nowMs += 600_000
  expect(best()).toBe(honest)
  expect(best([honest])).toBe(liar)
  expect(best([honest, liar])).toBe(stranger)
})

describe('a peer that disputes and comes with a new name at the same place', () => {
  const OTHER_PLACE = '/ip4/203.0.113.8/tcp/9333'
  function world() {
    const connected: Peer[] = []
    const peers = { list: () => connected, isReady: () => true }
    const candidates = new Candidates({ chain: { head: { totalWork: HEAD } }, clock: { now: () => 0 }, peers } as never)
    const comes = (id: string, { place = PLACE, direction = 'outbound' } = {}): PeerId => {
      const info = { id: id as PeerId, direction: direction as 'outbound', address: `${place}/p2p/${id}` }
      connected[0] = { info, head: { totalWork: HEAD * 9n }, claimedWork: HEAD * 9n } as Peer
      candidates.came(connected[0])
      return info.id
    }
    const leaves = (): void => candidates.forget(connected.pop() as Peer)
    return { candidates, comes, leaves, isHeard: () => candidates.rivals(HEAD).length > 0 }
  }

  it.each(['before it is looked at', 'while it is looked at'])('and leaves %s has a say four times an hour', (when) => {
    const { candidates, comes, leaves, isHeard } = world()
    for (let time = 0; time < 4; time++) {
      const id = comes(`name ${time}`)
      expect(isHeard(), `time ${time}`).toBe(true)
      candidates.asking(id)
      if (when === 'while it is looked at') candidates.looking(id)
      leaves()
      if (when === 'while it is looked at') candidates.park(id)
    }
    comes('another name')
    expect(isHeard()).toBe(false)
    comes('an honest one', { place: OTHER_PLACE })
    expect(isHeard()).toBe(true)
  })

  it('is not forgotten for any number of strangers that came and left', () => {
    const { candidates, comes, leaves, isHeard } = world()
    for (let time = 0; time < 4; time++) {
      candidates.asking(comes(`name ${time}`))
      leaves()
    }
    for (let stranger = 0; stranger < 3_000; stranger++) {
      comes(`stranger ${stranger}`, { direction: 'inbound' })
      leaves()
    }
    comes('another name')
    expect(isHeard()).toBe(false)
  })

  it('is not heard more often for coming back as one that chose us, while it is looked at', () => {
    const { candidates, comes, leaves, isHeard } = world()
    for (let time = 0; time < 4; time++) {
      const id = comes(`name ${time}`)
      candidates.asking(id)
      candidates.looking(id)
      leaves()
      comes(id, { direction: 'inbound' })
      candidates.park(id)
      leaves()
    }
    comes('another name')
    expect(isHeard()).toBe(false)
  })

  it('is not heard more often for having come to us with that name before', () => {
    const { candidates, comes, leaves, isHeard } = world()
    comes('prepared', { direction: 'inbound' })
    leaves()
    for (let time = 0; time < 4; time++) {
      candidates.asking(comes(`name ${time}`))
      leaves()
    }
    comes('prepared')
    expect(isHeard()).toBe(false)
  })

  it('is found by its denials', () => {
    const { candidates, comes, leaves } = world()
    const block = { id: 'block' as BlockId, height: 7 }
    candidates.denials.note(comes('one name'), block)
    leaves()
    const id = comes('another name')
    expect(candidates.denials.takeBack(id, () => false)).toBe(false)
    expect(candidates.denials.takeBack(id, ({ height }) => height === 7)).toBe(true)
    expect(candidates.denials.takeBack(id, () => true)).toBe(false)
  })
})

describe('slow peers', () => {
  const peerOf = (id: string, direction: 'outbound' | 'inbound' = 'outbound'): Peer =>
    ({
      info: { id, direction, address: `/memory/${id}` },
      head: { totalWork: HEAD * 2n },
      connectedAtMs: 0,
    }) as Peer
  const [a, b, stranger] = [peerOf('a'), peerOf('b'), peerOf('stranger', 'inbound')]
  const world = () => {
    const parts = { chain: { head: { totalWork: HEAD } }, clock: { now: () => 0 } }
    const peers = { list: () => [a, b, stranger], isReady: () => true }
    return new Candidates({ ...parts, peers } as never)
  }

  it('have the chosen waited for longer once each, and strangers never', () => {
    const candidates = world()
    const patience = (): readonly number[] => [a, b, stranger].map(({ info }) => candidates.patienceFor(info.id))
    for (let time = 0; time < 5; time++) candidates.slow(a.info.id, false)
    candidates.slow(stranger.info.id, false)
    expect(patience()).toEqual([2, 2, 1])
    candidates.slow(b.info.id, false)
    expect(patience()).toEqual([4, 4, 1])
    candidates.calm()
    expect(patience()).toEqual([1, 1, 1])
  })

  it('keep their say the first time, and lose it by four more', () => {
    const candidates = world()
    const sayings: boolean[] = []
    for (let time = 0; time < 5; time++) {
      candidates.slow(a.info.id, false)
      sayings.push(candidates.rivals(HEAD).includes(a))
    }
    expect(sayings).toEqual([true, true, true, true, false])
  })

  it.each([
    [true, 5_000],
    [false, 80_000],
  ])('are left alone for long only where they led no further: %s', (isFurther, restsMs) => {
    const clock = { nowMs: 0, now: () => clock.nowMs }
    const peers = { list: () => [a], isReady: () => true }
    const candidates = new Candidates({ chain: { head: { totalWork: HEAD } }, clock, peers } as never)
    for (let time = 0; time < 6; time++) candidates.slow(a.info.id, isFurther)
    clock.nowMs += restsMs - 1
    expect(candidates.best(() => false)).toBeUndefined()
    clock.nowMs += 1
    expect(candidates.best(() => false)).toBe(a)
    expect(candidates.rivals(HEAD)).toEqual([])
  })

  it('come behind those of their kind that were looked at less often, but for one that disputes a branch', () => {
    const candidates = world()
    candidates.slow(a.info.id, false)
    candidates.free(a.info.id)
    expect(candidates.best(() => false)).toBe(b)
    candidates.denies(a.info.id)
    expect(candidates.best(() => false)).toBe(a)
    candidates.looking(a.info.id)
    expect(candidates.best(() => false)).toBe(b)
  })
})

describe('peers whose branch others do not give', () => {
  const peer = {
    info: { id: ID, direction: 'outbound', address: PLACE },
    head: { totalWork: HEAD * 2n },
    connectedAtMs: 0,
  } as Peer
  const clock = { nowMs: 0, now: () => clock.nowMs }
  const peers = { list: () => [peer], isReady: () => true }
  const world = () => new Candidates({ chain: { head: { totalWork: HEAD } }, clock, peers } as never)

  it('are left alone for longer each time, a minute at most, and keep their say', () => {
    const candidates = world()
    const rests = Array.from({ length: 8 }, () => {
      const beganMs = clock.nowMs
      candidates.spare(ID)
      while (candidates.best(() => false) === undefined) clock.nowMs += 1_000
      return clock.nowMs - beganMs
    })
    expect(rests).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000, 60_000])
    expect(candidates.rivals(HEAD)).toEqual([peer])
  })

  it('have the way that came to nothing known until their branch was followed', () => {
    const candidates = world()
    candidates.failed(ID, 'blocks')
    candidates.spare(ID)
    expect(candidates.failedOf(ID)).toBe('blocks')
    expect(candidates.failedOf('another' as PeerId)).toBeNull()
    expect(candidates.hasFailedState(ID)).toBe(false)
    candidates.failed(ID, 'snapshot')
    candidates.failed(ID, 'blocks')
    expect([candidates.failedOf(ID), candidates.hasFailedState(ID)]).toEqual(['blocks', true])
    candidates.unpark(ID)
    expect([candidates.failedOf(ID), candidates.hasFailedState(ID)]).toEqual([null, false])
  })
})

it('peers that only showed a header without a parent come behind all of their kind that claim more, and take turns', () => {
  const clock = { nowMs: 0, now: () => clock.nowMs }
  const peerOf = (id: string, totalWork: bigint): Peer =>
    ({
      info: { id, direction: 'outbound', address: `/memory/${id}` },
      head: { totalWork },
      connectedAtMs: 0,
    }) as Peer
  const honest = peerOf('honest', HEAD * 2n)
  const showing = ['one', 'two', 'three'].map((id) => peerOf(id, HEAD))
  const listed = [honest, ...showing]
  const peers = { list: () => listed, isReady: () => true }
  const candidates = new Candidates({ chain: { head: { totalWork: HEAD } }, clock, peers } as never)
  // The honest peer is discounted and was asked in vain.
  candidates.discount(honest.info.id)
  candidates.rest(honest.info.id, true)
  const looked: Peer[] = []
  for (let look = 0; look < 9; look++) {
    for (const { info } of showing) candidates.want(info.id)
    const best = candidates.best(() => false) as Peer
    candidates.looking(best.info.id)
    clock.nowMs += 10_000
    candidates.rest(best.info.id, false)
    looked.push(best)
    clock.nowMs += 2_000
  }
  expect(looked.filter((peer) => peer === honest).length).toBeGreaterThanOrEqual(4)
  expect(new Set(looked.filter((peer) => peer !== honest)).size).toBe(3)
})

it('a peer that shows the chain a block at a time keeps no peer that claims more from its turn', () => {
  const clock = { nowMs: 0, now: () => clock.nowMs }
  const peerOf = (id: string): { -readonly [K in keyof Peer]: Peer[K] } =>
    ({ info: { id, direction: 'outbound', address: `/memory/${id}` }, connectedAtMs: 0 }) as Peer
  const [crumbs, honest] = [peerOf('crumbs'), peerOf('honest')]
  const chain = { head: { totalWork: HEAD } }
  honest.head = { totalWork: HEAD * 2n } as Peer['head']
  crumbs.head = { totalWork: HEAD + 1n } as Peer['head']
  const peers = { list: () => [crumbs, honest], isReady: () => true }
  const candidates = new Candidates({ chain, clock, peers } as never)
  const looked: string[] = []
  for (let look = 0; look < 10; look++) {
    const { info } = candidates.best(() => false) as Peer
    candidates.looking(info.id)
    clock.nowMs += 30_000
    looked.push(info.id)
    if (info.id === honest.info.id) candidates.spare(info.id)
    else {
      chain.head = { totalWork: chain.head.totalWork + 1n }
      crumbs.head = { totalWork: chain.head.totalWork + 1n } as Peer['head']
      candidates.unpark(info.id)
    }
  }
  expect(looked.filter((id) => id === honest.info.id).length).toBeGreaterThanOrEqual(4)
})
