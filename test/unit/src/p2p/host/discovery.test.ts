import { describe, expect, it } from 'vitest'
import { DEVNET } from '../../../../../config/networks/devnet.ts'
import { createRuleBook } from '../../../../../consensus/chain/rule-book.ts'
import { decode, encode } from '../../../../../consensus/primitives/codec.ts'
import { fault } from '../../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import {
  AddressBook,
  HEARD_PER_SOURCE,
  KNOWN_PER_HOST,
  TOLD_PER_GROUP,
} from '../../../../../src/p2p/host/address-book.ts'
import { Discovery, type Finder } from '../../../../../src/p2p/host/discovery.ts'
import { RecordWriter } from '../../../../../src/p2p/host/peer-records.ts'
import type { ConnectionListener, Network, PeerId, PeerInfo, RequestHandler } from '../../../../../src/p2p/network.ts'
import { Peers } from '../../../../../src/p2p/peers/peers.ts'
import { NOTHING, replyCodec, requestCodec } from '../../../../../src/p2p/wire/messages.ts'
import type { ProtocolName } from '../../../../../src/p2p/wire/protocols.ts'
import { PROTOCOL } from '../../../../../src/protocol.ts'
import { seeded } from '../../../../sim/miners.ts'
import { addressOf, MemoryRecords, peerId, SILENT, virtualTime } from '../../../../support/peering.ts'

const ruleBook = createRuleBook(DEVNET, PROTOCOL)
const STATUS = {
  version: 1,
  genesis: ruleBook.genesis.block.id,
  rules: ruleBook.fingerprintAt(0),
  agent: 'x',
  head: ruleBook.genesis.block.id,
  height: 0,
  totalWork: 0n,
  mode: 1,
  bodiesFrom: 0,
  witnessesFrom: 0,
  snapshots: [],
}
const HOUR_MS = 3_600_000

/** A network of peers that do the handshake and answer with addresses from the test. */
class ScriptedNetwork implements Network {
  readonly self = peerId(0)
  readonly told = new Map<PeerId, readonly string[]>()
  readonly asked: PeerId[] = []
  readonly disconnected: PeerId[] = []
  readonly #handlers = new Map<ProtocolName, RequestHandler>()
  readonly #listeners: ConnectionListener[] = []
  readonly #peers = new Map<PeerId, PeerInfo>()

  peers(): readonly PeerInfo[] {
    return [...this.#peers.values()]
  }

  onConnection(listener: ConnectionListener): void {
    this.#listeners.push(listener)
  }

  async request(peer: PeerId, protocol: ProtocolName): Promise<Result<Uint8Array>> {
    if (protocol === 'status') return ok(Uint8Array.of(0, ...encode(replyCodec('status'), STATUS)))
    this.asked.push(peer)
    const told = this.told.get(peer)
    if (told === undefined) return fail(fault('p2p/unreachable', { reason: 'it says nothing' }))
    return ok(Uint8Array.of(0, ...encode(replyCodec('addresses'), told as string[])))
  }

  serve(protocol: ProtocolName, handler: RequestHandler): void {
    this.#handlers.set(protocol, handler)
  }

  publish(): void {}

  subscribe(): void {}

  disconnect(peer: PeerId): void {
    this.disconnected.push(peer)
    if (this.#peers.delete(peer)) for (const listener of this.#listeners) listener.disconnected(peer)
  }

  join(number: number, ip: string, direction: PeerInfo['direction']): PeerId {
    const info = { id: peerId(number), direction, address: `/ip4/${ip}/tcp/8421` }
    this.#peers.set(info.id, info)
    for (const listener of this.#listeners) listener.connected(info)
    return info.id
  }

  /** Sends the status of a peer that dialled the node. */
  async greet(from: PeerId): Promise<void> {
    await this.#handlers.get('status')!(from, encode(requestCodec('status'), STATUS))
  }

  /** Asks for addresses as a peer. Null for a refusal. */
  async ask(from: PeerId): Promise<readonly string[] | null> {
    const reply = await this.#handlers.get('addresses')!(from, encode(requestCodec('addresses'), NOTHING))
    if (reply[0] === 1) return null
    const list = decode(replyCodec('addresses'), reply.subarray(1))
    return list.ok ? list.value : expect.fail('no reply')
  }
}

function scene() {
  const { time, node } = virtualTime()
  const network = new ScriptedNetwork()
  const writer = new RecordWriter(new MemoryRecords(), (error) => {
    throw error
  })
  const book = new AddressBook({ clock: node, writer, allowPrivate: false, random: seeded(1) })
  const common = { clock: node, timers: node }
  const peers = new Peers({ network, ruleBook, log: SILENT, ownStatus: () => STATUS, ...common })
  const seen = { walks: 0, pokes: 0, needy: true, identified: [] as PeerId[] }
  let found: Parameters<Finder['onFound']>[0] = () => {}
  const finder: Finder = {
    onFound: (listener) => {
      found = listener
    },
    identify: async (peer) => void seen.identified.push(peer),
    walk: async () => {
      seen.walks += 1
    },
  }
  const poke = (): void => {
    seen.pokes += 1
  }
  const manager = { poke, isNeedy: () => seen.needy }
  const discovery = new Discovery({ finder, book, manager, peers, ...common })
  discovery.start()
  return { time, network, book, peers, discovery, seen, find: (...args: Parameters<typeof found>) => found(...args) }
}

const place = (number: number): string => addressOf(number, `70.${number}.0.1`)

describe('the addresses protocol', () => {
  it('asks those that we dialled, after the handshake and then hourly, and no others', async () => {
    const { time, network, book, seen, discovery } = scene()
    seen.needy = false
    const dialled = network.join(1, '60.1.0.1', 'outbound')
    network.join(2, '60.2.0.1', 'inbound')
    network.told.set(dialled, [place(10), place(11)])
    await time.pass(60_000)
    expect(network.asked).toEqual([dialled])
    expect([book.get(place(10))?.source, book.size]).toEqual(['from 4:60.1', 2])
    await time.pass(2 * HOUR_MS)
    expect(network.asked).toEqual([dialled, dialled, dialled])
    discovery.stop()
    await time.pass(2 * HOUR_MS)
    expect(network.asked.length).toBe(3)
  })

  it('asks again soon while connections are missing: after a wait that doubles, and that is a minute if an address was learnt', async () => {
    const { time, network, seen, discovery } = scene()
    const dialled = network.join(1, '60.1.0.1', 'outbound')
    const askedIn = async (ms: number): Promise<number> => {
      const before = network.asked.length
      await time.pass(ms)
      return network.asked.length - before
    }
    expect(await askedIn(1_999)).toBe(1)
    network.told.set(dialled, [])
    expect(await askedIn(1_000)).toBe(1)
    expect(await askedIn(3_000)).toBe(0)
    network.told.set(dialled, [place(10)])
    expect(await askedIn(1_000)).toBe(1)
    expect(await askedIn(60_000)).toBe(0)
    expect(await askedIn(6_000)).toBe(1)
    network.told.set(dialled, [])
    expect(await askedIn(HOUR_MS)).toBe(10)
    expect(await askedIn(HOUR_MS)).toBe(6)
    seen.needy = false
    expect(await askedIn(2 * HOUR_MS)).toBe(2)
    seen.needy = true
    expect(await askedIn(600_000)).toBe(1)
    discovery.stop()
    expect(await askedIn(HOUR_MS)).toBe(0)
  })

  it('ends with the connection, and begins anew with the next', async () => {
    const { time, network } = scene()
    const dialled = network.join(1, '60.1.0.1', 'outbound')
    await time.pass(1_000)
    network.disconnect(dialled)
    await time.pass(2 * HOUR_MS)
    expect(network.asked).toEqual([dialled])
    network.told.set(network.join(1, '60.1.0.1', 'outbound'), [])
    await time.pass(2_500)
    expect(network.asked.length).toBe(3)
  })

  it('takes what is no address as an offence, but not addresses that are of no use here', async () => {
    for (const [text, offends] of [
      ['x', true],
      ['/ip4/70.0.0.1/tcp/1', true],
      [`/dns4/a.example/tcp/1/p2p/${peerId(9)}`, true],
      [addressOf(9, '10.0.0.1'), false],
    ] as const) {
      const { time, network, book } = scene()
      const peer = network.join(1, '60.1.0.1', 'outbound')
      network.told.set(peer, [place(10), text])
      await time.pass(1_000)
      expect(network.disconnected.includes(peer), text).toBe(offends)
      expect(book.size).toBe(1)
    }
  })

  it('answers with at most 256 good addresses, once a minute', async () => {
    const { time, network, book } = scene()
    for (let i = 0; i < 400; i++) {
      const text = addressOf(1_000 + i, `71.${i % 256}.${i >> 8}.1`)
      book.add(text, `from 4:1.${i % 4}`)
      if (i < 300) book.succeeded(text)
    }
    const peer = network.join(1, '60.1.0.1', 'outbound')
    await time.pass(1_000)
    const list = (await network.ask(peer))!
    expect([list.length, new Set(list).size]).toEqual([256, 256])
    expect(list.every((text) => book.get(text)!.successMs > 0)).toBe(true)
    expect(await network.ask(peer)).toBeNull()
    await time.pass(60_000)
    expect(await network.ask(peer)).not.toBeNull()
  })

  it('tells no peer of itself, and a peer that was told of none may ask again after a second', async () => {
    const { time, network, find } = scene()
    for (const number of [1, 2]) find(peerId(number), [`/ip4/60.${number}.0.1/tcp/8421`], 'identify')
    const first = network.join(1, '60.1.0.1', 'outbound')
    await time.pass(1_000)
    expect(await network.ask(first)).toEqual([])
    expect(await network.ask(first)).toBeNull()
    network.join(2, '60.2.0.1', 'outbound')
    await time.pass(1_000)
    expect(await network.ask(first)).toEqual([addressOf(2, '60.2.0.1')])
    await time.pass(59_000)
    expect(await network.ask(first)).toBeNull()
  })
})

describe('what is found otherwise', () => {
  it('of a peer about itself counts where it is, once it shook hands', async () => {
    const { time, network, book, find } = scene()
    find(peerId(1), ['/ip4/60.1.0.1/tcp/8421', '/ip4/60.9.0.1/tcp/8421', '/ip4/127.0.0.1/tcp/8421', 'x'], 'identify')
    find(peerId(1), [...Array.from({ length: 3 }, (_, i) => `/ip4/60.1.0.1/tcp/${9_000 + i}`), place(2)], 'identify')
    expect(book.size).toBe(0)
    network.join(1, '60.1.0.1', 'outbound')
    await time.pass(1_000)
    expect(book.size).toBe(3)
    for (let i = 0; i < 3; i++) expect(book.get(addressOf(1, '60.1.0.1', 9_000 + i))?.seenMs).toBeGreaterThan(0)
    expect(book.good(10).length).toBe(TOLD_PER_GROUP)
    find(peerId(1), ['/ip4/60.9.0.1/tcp/8421'], 'identify')
    expect([book.size, book.get(addressOf(1, '60.9.0.1'))?.seenMs]).toEqual([4, 0])
  })

  it('of a thousand peers at one address leaves the book to others', async () => {
    const { time, network, book, find } = scene()
    const heard = Array.from({ length: 1_500 }, (_, i) => addressOf(i, `${20 + (i >> 8)}.${i & 255}.7.1`))
    for (const [i, text] of heard.entries()) book.add(text, `from 4:9.${i % 12}`)
    for (let i = 0; i < 1_100; i++) {
      const peer = peerId(10_000 + i)
      find(
        peer,
        [1, 2, 3].map((port) => `/ip4/66.77.88.99/tcp/${port}`).concat(`/ip4/67.${i & 255}.1.1/tcp/1`),
        'identify',
      )
      await network.greet(network.join(10_000 + i, '66.77.88.99', 'inbound'))
      await time.pass(400)
      network.disconnect(peer)
    }
    expect(heard.filter((text) => book.get(text) === undefined)).toEqual([])
    expect(book.size).toBe(heard.length + KNOWN_PER_HOST + HEARD_PER_SOURCE)
    expect(book.good(256).length).toBe(TOLD_PER_GROUP)
    expect(book.add(place(1), 'from 4:45.1')).toBe(true)
  })

  it('of a peer about itself is asked for again until it is said', async () => {
    const { time, network, book, seen, find, discovery } = scene()
    find(peerId(1), ['/ip4/60.1.0.1/tcp/8421'], 'identify')
    network.join(1, '60.1.0.1', 'outbound')
    const silent = network.join(2, '60.2.0.1', 'outbound')
    await time.pass(45_000)
    expect(seen.identified).toEqual([silent, silent])
    find(silent, ['/ip4/60.2.0.1/tcp/8421'], 'identify')
    expect(book.good(10).toSorted()).toEqual([addressOf(1, '60.1.0.1'), addressOf(2, '60.2.0.1')])
    await time.pass(60_000)
    expect(seen.identified.length).toBe(2)
    network.join(3, '60.3.0.1', 'outbound')
    await time.pass(5_000)
    discovery.stop()
    await time.pass(HOUR_MS)
    expect(seen.identified.length).toBe(2)
  })

  it('in the table of nodes and nearby goes into the book under the id that it is said of', () => {
    const { book, find, seen } = scene()
    find(peerId(5), [place(5), '/ip4/72.0.0.1/tcp/1', place(6)], 'kad')
    expect([book.get(place(5))?.source, book.get(place(6)), book.size]).toEqual(['kad', undefined, 2])
    find(peerId(7), [place(7)], 'mdns')
    expect([book.get(place(7))?.source, seen.pokes]).toEqual(['mdns', 1])
  })

  it('is looked for every minute while connections are missing, else every ten', async () => {
    const { time, seen, discovery } = scene()
    await time.pass(5_000 + 5 * 60_000)
    expect(seen.walks).toBe(6)
    seen.needy = false
    await time.pass(31 * 60_000)
    expect(seen.walks).toBe(10)
    discovery.stop()
    await time.pass(HOUR_MS)
    expect(seen.walks).toBe(10)
  })
})
