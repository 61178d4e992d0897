import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressKey, holderOf } from '../../../rpc/edge/client-key.ts'
import { type Guest, PATIENCE_MS, type PlaceKind, Places } from '../../../rpc/edge/places.ts'

const MAX = 100
const KINDS: readonly PlaceKind[] = ['list', 'read', 'quote', 'transaction', 'unread', 'kept', 'health', 'operator']

class Inn {
  readonly inside = new Set<Guest>()
  readonly givenUp: Guest[] = []
  readonly places: Places
  nowMs = 0

  constructor(max = MAX) {
    this.places = new Places(max, (guest) => {
      this.givenUp.push(guest)
      this.leave(guest)
    })
  }

  /** Asks for a place. A guest without a place leaves at once. */
  ask(key: string, kind: PlaceKind, isWaitedFor = false): Guest | string {
    const holder = holderOf(addressKey(key))
    const guest: Guest = { holder, kind, waitsFor: isWaitedFor ? 'body' : null, waitsSinceMs: this.nowMs }
    this.inside.add(guest)
    this.places.enter(guest)
    const lack = this.places.judge(guest, kind, this.nowMs)
    if (lack !== null) this.leave(guest)
    return lack ?? guest
  }

  leave(guest: Guest): void {
    this.inside.delete(guest)
    this.places.leave(guest)
  }

  /** Asks once for each address. Returns how many got a place. */
  askAll(count: number, addressOf: (i: number) => string, kind: PlaceKind, isWaitedFor = false): number {
    const asked = Array.from({ length: count }, (_, i) => this.ask(addressOf(i), kind, isWaitedFor))
    return asked.filter((one) => typeof one !== 'string').length
  }

  /** Asks until there is no more place. Returns how many there were. */
  fill(key: string, kind: PlaceKind): number {
    let count = 0
    while (typeof this.ask(key, kind) !== 'string') count += 1
    return count
  }
}

describe('places', () => {
  it('are left by each kind for those that matter more', () => {
    const inn = new Inn()
    const counts = KINDS.map((kind) => {
      let count = 0
      for (let i = 0; typeof inn.ask(`${kind} ${i}`, kind) !== 'string'; i++) count += 1
      return count
    })
    expect(counts).toEqual([50, 30, 5, 10, 2, 1, 1, 1])
    expect(inn.places.taken).toBe(MAX)
  })

  it('go to an address as long as as many are left, whatever it asks for', () => {
    const inn = new Inn()
    expect([inn.fill('a', 'list'), inn.fill('a', 'transaction')]).toEqual([25, 23])
    expect(inn.ask('a', 'read')).toBe('crowded')
    expect([inn.fill('b', 'transaction'), inn.fill('c', 'transaction')]).toEqual([24, 12])
    expect(typeof inn.ask('d', 'transaction')).toBe('object')
  })

  it('of who is waited for go to others after a second: of the same address, or of the one that has most of them', () => {
    const inn = new Inn(40)
    const slow = Array.from({ length: 20 }, () => inn.ask('slow', 'transaction', true)).filter(
      (one) => typeof one !== 'string',
    )
    expect(slow).toHaveLength(19)
    expect(inn.ask('slow', 'transaction')).toBe('crowded')
    inn.nowMs += PATIENCE_MS
    expect(typeof inn.ask('slow', 'transaction')).toBe('object')
    expect(inn.givenUp).toEqual([slow[0]])
    for (let i = 0; i < 19; i++) inn.ask(`other ${i}`, 'transaction')
    expect(inn.givenUp).toEqual([slow[0]])
    expect(typeof inn.ask('one more', 'transaction')).toBe('object')
    expect(inn.givenUp).toEqual(slow.slice(0, 2))
  })

  it.each([
    ['a /48 of IPv6', (i: number) => `2001:db8:1:${i.toString(16)}::1`, '2001:db8:2::1'],
    ['a /24 of IPv4', (i: number) => `192.0.2.${i}`, '198.51.100.1'],
  ])('go to all addresses of %s up to three times what is left', (_, addressOf, elsewhere) => {
    const inn = new Inn()
    expect(inn.askAll(200, addressOf, 'transaction')).toBe(72)
    expect(inn.ask(addressOf(201), 'transaction')).toBe('crowded-network')
    expect([typeof inn.ask(elsewhere, 'read'), inn.fill(elsewhere, 'transaction')]).toEqual(['object', 11])
    // One address gets two thirds of its network's places, and leaves a third to the other addresses of the network.
    const alone = new Inn()
    expect([
      alone.fill(addressOf(1), 'transaction'),
      alone.askAll(100, (i) => addressOf(i + 2), 'transaction'),
    ]).toEqual([48, 24])
  })

  it('of a network with too many bodies that are not there yet go to others at once, in it and elsewhere', () => {
    const inn = new Inn(128)
    const addressOf = (i: number): string => `2001:db8:1:${i.toString(16)}::1`
    for (let network = 0; network < 10; network++)
      inn.askAll(128, (i) => `2001:db8:${network + 1}:${i.toString(16)}::1`, 'unread', true)
    expect(inn.places.taken).toBeGreaterThan(120)
    inn.nowMs += 1
    for (const [key, kind] of [
      [addressOf(200), 'unread'],
      ['192.0.2.1', 'quote'],
      ['192.0.3.1', 'list'],
    ] as const)
      expect(typeof inn.ask(key, kind)).toBe('object')
    // Two bodies of each network are kept, because an honest client may be slow too.
    for (let i = 0; i < 100; i++) inn.ask(`198.51.${i}.1`, 'unread')
    expect(inn.ask('198.51.101.1', 'list')).toBe('full')
    expect([...inn.inside].filter(({ waitsFor }) => waitsFor === 'body').length).toBe(20)
  })

  it('are not taken at once from a guest that is only slow to read its answer', () => {
    const inn = new Inn(10)
    for (let i = 0; i < 20; i++) {
      const guest = inn.ask(`192.0.2.${i}`, 'unread')
      if (typeof guest !== 'string') inn.places.waits(guest, inn.nowMs)
    }
    expect(inn.ask('192.0.2.50', 'unread')).toBe('crowded-network')
    expect(inn.givenUp).toEqual([])
    inn.nowMs += PATIENCE_MS
    expect(typeof inn.ask('192.0.2.50', 'unread')).toBe('object')
  })

  it('are never taken from a guest whose request is worked on, nor from the operator', () => {
    const inn = new Inn(10)
    for (let i = 0; i < 20; i++) inn.ask('operator', 'operator', true)
    inn.nowMs += PATIENCE_MS
    expect([inn.ask('a', 'health'), inn.ask('operator', 'operator')]).toEqual(['full', 'full'])
    const [one] = inn.inside
    inn.leave(one as Guest)
    const busy = inn.ask('a', 'operator', true) as Guest
    inn.places.works(busy)
    inn.nowMs += PATIENCE_MS
    expect([inn.ask('b', 'operator'), inn.givenUp]).toEqual(['full', []])
  })

  it('are counted right in whatever order guests come, wait, are judged anew and go', () => {
    const step = fc.record({
      what: fc.constantFrom('ask', 'judge', 'wait', 'work', 'leave', 'pass'),
      key: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.3.1', 'c', 'operator'),
      kind: fc.constantFrom(...KINDS),
      which: fc.nat(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const inn = new Inn(12)
        for (const { what, key, kind, which } of steps) {
          const guest = [...inn.inside][which % Math.max(1, inn.inside.size)]
          if (what === 'ask') inn.ask(key, key === 'operator' ? 'operator' : kind, which % 2 === 0)
          else if (what === 'pass') inn.nowMs += PATIENCE_MS
          else if (guest === undefined) continue
          else if (what === 'wait') inn.places.waits(guest, inn.nowMs)
          else if (what === 'work') inn.places.works(guest)
          else if (what === 'leave') inn.leave(guest)
          else if (inn.places.judge(guest, kind, inn.nowMs) !== null) inn.leave(guest)
          expect(inn.places.taken).toBe(inn.inside.size)
          expect(inn.places.taken).toBeLessThanOrEqual(12)
        }
        for (const guest of [...inn.inside]) inn.leave(guest)
        expect(inn.places.taken).toBe(0)
        const fresh = new Inn(12)
        expect([inn.fill('a', 'transaction'), inn.fill('b', 'health')]).toEqual([
          fresh.fill('a', 'transaction'),
          fresh.fill('b', 'health'),
        ])
      }),
    )
  })
})
