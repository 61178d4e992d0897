import { describe, expect, it } from 'vitest'
import {
  ADDRESSES_MAX,
  AddressBook,
  HEARD_PER_SOURCE,
  KNOWN_PER_GROUP,
  KNOWN_PER_HOST,
  sourceOf,
  TOLD_PER_GROUP,
} from '../../../../../src/p2p/host/address-book.ts'
import { parseIp } from '../../../../../src/p2p/host/address-groups.ts'
import { RecordWriter } from '../../../../../src/p2p/host/peer-records.ts'
import { seeded } from '../../../../sim/miners.ts'
import { addressOf, MemoryRecords, peerId } from '../../../../support/peering.ts'

const DAY_MS = 86_400_000

class Library {
  nowMs = 1_700_000_000_000
  readonly lost: unknown[] = []
  readonly records: MemoryRecords
  readonly writer: RecordWriter
  readonly book: AddressBook

  constructor(allowPrivate = false, entries = new Map<string, string>()) {
    this.records = new MemoryRecords(entries)
    this.writer = new RecordWriter(this.records, (error) => this.lost.push(error))
    const clock = { now: () => this.nowMs }
    this.book = new AddressBook({ clock, writer: this.writer, allowPrivate, random: seeded(3) })
  }

  async reopened(): Promise<Library> {
    await this.writer.flush()
    const next = new Library(false, this.records.entries)
    await next.book.load(next.records)
    await next.writer.flush()
    return next
  }
}

/** A public address in another /16 for each number. */
const spread = (number: number): string => addressOf(number, `${60 + (number >> 8)}.${number & 255}.1.1`)
const anything = (): boolean => true

describe('the address book', () => {
  it('takes public addresses of nodes alone', () => {
    const { book } = new Library()
    const refused = [
      addressOf(1, '127.0.0.1'),
      addressOf(1, '10.0.0.1'),
      addressOf(1, '224.0.0.1'),
      '/ip4/8.8.8.8/tcp/8421',
      `/dns4/node.example/tcp/8421/p2p/${peerId(1)}`,
      `/ip4/8.8.8.8/udp/8421/p2p/${peerId(1)}`,
      `/ip4/8.8.8.8/tcp/0/p2p/${peerId(1)}`,
      `/ip4/8.8.8.8/tcp/8421/p2p/${peerId(1)}0`,
      `/ip4/8.8.8.8/tcp/8421/p2p/${peerId(1)}/p2p-circuit`,
      'x'.repeat(10_000),
    ]
    for (const text of refused) expect(book.add(text, 'kad'), text).toBe(false)
    expect(book.size).toBe(0)
    expect(book.add(addressOf(1, '8.8.8.8'), 'kad')).toBe(true)
    expect(book.get(addressOf(1, '8.8.8.8'))).toMatchObject({ peer: peerId(1), source: 'kad', failures: 0 })
    const devnet = new Library(true)
    expect(devnet.book.add(addressOf(1, '127.0.0.1'), 'mdns')).toBe(true)
  })

  it('has room for so many of one source, and for others after it', () => {
    const { book } = new Library()
    for (let i = 0; i < 2 * HEARD_PER_SOURCE; i++) book.add(spread(i), 'from 4:1.2')
    expect(book.size).toBe(HEARD_PER_SOURCE)
    expect(book.add(spread(5_000), 'from 4:1.3')).toBe(true)
    const text = spread(0)
    book.succeeded(text)
    expect(book.add(spread(5_001), 'from 4:1.2')).toBe(true)
    expect(book.add(spread(5_002), 'from 4:1.2')).toBe(false)
    book.failed(spread(1))
    expect(book.add(spread(5_002), 'from 4:1.2')).toBe(true)
    expect([book.get(spread(1)), book.get(text)?.failures]).toEqual([undefined, 0])
  })

  it('never grows beyond its bound, and gives up what worked for nothing that did not', () => {
    const { book } = new Library()
    for (let i = 0; i < 100; i++) {
      book.add(spread(i), 'from 4:9.9')
      book.succeeded(spread(i))
    }
    for (let i = 100; i < ADDRESSES_MAX + 500; i++) book.add(spread(i), `from 4:1.${i % 40}`)
    expect(book.size).toBe(ADDRESSES_MAX)
    for (let i = 0; i < 100; i++) expect(book.get(spread(i))).toBeDefined()
  })

  it('keeps few places of one peer, and the one where it was', () => {
    const { book } = new Library()
    const places = Array.from({ length: 12 }, (_, i) => addressOf(7, `8.${i}.1.1`))
    book.add(places[0]!, 'kad')
    book.succeeded(places[0]!)
    for (const place of places) book.add(place, 'from 4:6.6')
    expect(book.size).toBe(4)
    expect(book.get(places[0]!)).toBeDefined()
    book.forget(peerId(7))
    expect(book.size).toBe(0)
  })

  it('keeps few places where a node said of itself that it is, of one machine and of one group', () => {
    const library = new Library()
    const { book } = library
    for (let i = 0; i < 100; i++) book.seen(addressOf(i, '66.77.88.99', 1_000 + i))
    expect(book.size).toBe(KNOWN_PER_HOST)
    const honest = addressOf(5_000, '66.77.1.1')
    expect(book.seen(honest)).toBe(true)
    for (let i = 0; i < 1_000; i++) {
      library.nowMs += 1
      book.seen(addressOf(i, `66.77.${2 + (i % 25)}.1`, 1_000 + i))
    }
    expect([book.size, book.get(honest)?.peer]).toEqual([KNOWN_PER_GROUP, peerId(5_000)])
    book.succeeded(honest)
    library.nowMs += 2 * DAY_MS
    for (let i = 0; i < 1_000; i++) book.seen(addressOf(i, `66.77.${2 + (i % 250)}.2`))
    expect([book.size, book.get(honest)?.peer]).toEqual([KNOWN_PER_GROUP, peerId(5_000)])
    expect([library.book.good(100).length, book.hasReached([66, 77, 1, 1])]).toEqual([TOLD_PER_GROUP, true])
    expect(book.hasReached([66, 77, 2, 2])).toBe(false)
    expect(book.seen(spread(1))).toBe(true)
  })

  it('counts a /64 of IPv6 as one machine', () => {
    const { book } = new Library()
    for (let i = 1; i < 100; i++) book.seen(`/ip6/2a00:1:2:3::${i.toString(16)}/tcp/1/p2p/${peerId(i)}`)
    expect(book.size).toBe(KNOWN_PER_HOST)
  })

  it('gives up for hearsay neither what was reached nor, of one peer, what it said of itself within a day', () => {
    const library = new Library()
    const { book } = library
    const own = addressOf(7, '8.8.1.1')
    book.seen(own)
    for (let i = 0; i < 20; i++) book.add(addressOf(7, `9.${i}.1.1`), `from 4:6.${i}`)
    expect(book.get(own)).toBeDefined()
    library.nowMs += 2 * DAY_MS
    for (let i = 20; i < 40; i++) book.add(addressOf(7, `9.${i}.1.1`), `from 4:6.${i}`)
    expect([book.get(own), book.size]).toEqual([undefined, 4])
  })

  it('takes what is new where it is full of what nodes said of themselves, and what was reached in any case', () => {
    const { book } = new Library()
    for (let i = 0; i < ADDRESSES_MAX; i++) book.seen(spread(i))
    expect([book.add(spread(5_000), 'kad'), book.size]).toEqual([true, ADDRESSES_MAX])
    const library = new Library()
    for (let i = 0; i < ADDRESSES_MAX; i++) library.book.succeeded(spread(i))
    expect([library.book.add(spread(5_000), 'kad'), library.book.seen(spread(5_000))]).toEqual([false, false])
    library.book.succeeded(spread(5_001))
    expect([library.book.size, library.book.get(spread(5_001))?.source]).toEqual([ADDRESSES_MAX, 'dialled'])
    library.nowMs += 8 * DAY_MS
    expect([library.book.add(spread(5_000), 'kad'), library.book.size]).toEqual([true, ADDRESSES_MAX])
  })

  it('waits longer after each failure, and forgets what never worked after the third', () => {
    const library = new Library()
    const { book } = library
    book.add(spread(1), 'kad')
    const waits: number[] = []
    for (let i = 0; i < 3; i++) {
      const sinceMs = library.nowMs
      while (book.pick(anything, false) === undefined && book.size > 0) library.nowMs += 1_000
      waits.push(library.nowMs - sinceMs)
      book.failed(spread(1))
    }
    expect(waits).toEqual([0, 5_000, 10_000])
    expect(book.size).toBe(0)
  })

  it('tries what worked before again and again for a week, sooner where connections are missing', () => {
    const library = new Library()
    const { book } = library
    book.add(spread(1), 'kad')
    book.succeeded(spread(1))
    for (let i = 0; i < 20; i++) book.failed(spread(1))
    library.nowMs += 30_000
    expect(book.pick(anything, false)).toBeUndefined()
    expect(book.pick(anything, true)?.text).toBe(spread(1))
    library.nowMs += 570_000
    expect(book.pick(anything, false)?.text).toBe(spread(1))
    library.nowMs += 7 * DAY_MS
    book.failed(spread(1))
    expect(book.size).toBe(0)
  })

  it('picks proven and new ones alike, and what fits alone', () => {
    const { book } = new Library()
    for (let i = 0; i < 200; i++) book.add(spread(i), 'kad')
    book.succeeded(spread(0))
    const picks = Array.from({ length: 400 }, () => book.pick(anything, false)?.text)
    const proven = picks.filter((text) => text === spread(0)).length
    expect(proven).toBeGreaterThan(120)
    expect(proven).toBeLessThan(280)
    expect(new Set(picks).size).toBeGreaterThan(80)
    expect(book.pick(({ peer }) => peer === peerId(5), false)?.text).toBe(spread(5))
    expect(book.pick(() => false, true)).toBeUndefined()
  })

  it('passes on addresses that were reachable in the last day, up to a bound', () => {
    const library = new Library()
    const { book } = library
    for (let i = 0; i < 300; i++) {
      book.add(spread(i), `from 4:1.${i % 3}`)
      if (i < 100) book.succeeded(spread(i))
      else if (i < 200) book.seen(spread(i))
    }
    book.failed(spread(0))
    expect(book.good(1_000).length).toBe(199)
    expect(book.good(1_000)).not.toContain(spread(0))
    expect(new Set(book.good(50)).size).toBe(50)
    expect(book.good(50)).not.toEqual(book.good(50))
    library.nowMs += DAY_MS
    expect(book.good(1_000)).toEqual([])
  })

  it('outlives a restart with everything that it knew', async () => {
    const library = new Library()
    library.book.add(spread(1), 'kad')
    library.book.add(spread(2), sourceOf(parseIp('8.8.1.1')))
    library.book.add(spread(3), 'kad')
    library.book.succeeded(spread(1))
    library.book.failed(spread(2))
    library.book.forget(peerId(3))
    const next = await library.reopened()
    expect(next.book.size).toBe(2)
    for (const i of [1, 2]) expect(next.book.get(spread(i))).toEqual(library.book.get(spread(i)))
    expect(next.book.get(spread(2))?.source).toBe('from 4:8.8')
  })

  it('drops what an earlier release let one machine fill it with', async () => {
    const library = new Library()
    library.book.add(spread(1), 'kad')
    library.book.add(spread(2), 'kad')
    library.book.succeeded(spread(2))
    await library.writer.flush()
    const sound = JSON.parse(library.records.entries.get(`address/${spread(1)}`)!) as object
    for (let i = 0; i < 4_000; i++)
      library.records.entries.set(
        `address/${addressOf(i, '66.77.88.99', 1_000 + (i & 3))}`,
        JSON.stringify({ ...sound, source: 'from 4:66.77', seenMs: library.nowMs }),
      )
    const next = await library.reopened()
    expect([next.book.size, next.records.entries.size]).toEqual([2 + KNOWN_PER_HOST, 2 + KNOWN_PER_HOST])
    for (const i of [1, 2]) expect(next.book.get(spread(i))).toBeDefined()
  })

  it('removes records that it cannot have written', async () => {
    const library = new Library()
    library.book.add(spread(1), 'kad')
    await library.writer.flush()
    const sound = library.records.entries.get(`address/${spread(1)}`)!
    const strange = [
      ['address/nothing', sound],
      [`address/${addressOf(2, '10.0.0.1')}`, sound],
      [`address/${spread(3)}`, '{'],
      [`address/${spread(4)}`, '{"source":1}'],
      [`address/${spread(5)}`, sound.replace('"failures":0', '"failures":null')],
    ] as const
    for (const [key, value] of strange) library.records.entries.set(key, value)
    const next = await library.reopened()
    expect(next.book.size).toBe(1)
    expect([...next.records.entries.keys()]).toEqual([`address/${spread(1)}`])
  })

  it('goes on where its records cannot be written, and says so', async () => {
    const library = new Library()
    library.records.broken = new Error('disk full')
    library.book.add(spread(1), 'kad')
    await library.writer.flush()
    expect([library.book.size, library.lost.length]).toEqual([1, 1])
    library.records.broken = null
    library.book.add(spread(2), 'kad')
    await library.writer.close()
    library.book.add(spread(3), 'kad')
    await library.writer.flush()
    expect([...library.records.entries.keys()]).toEqual([`address/${spread(2)}`])
  })
})
