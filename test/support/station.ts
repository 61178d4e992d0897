import { AddressBook } from '../../src/p2p/host/address-book.ts'
import { Anchors } from '../../src/p2p/host/anchors.ts'
import { Bans } from '../../src/p2p/host/bans.ts'
import type { Connection } from '../../src/p2p/host/dialer.ts'
import { PeerManager, type PeerManagerSettings } from '../../src/p2p/host/peer-manager.ts'
import { RecordWriter } from '../../src/p2p/host/peer-records.ts'
import type { PeerId } from '../../src/p2p/network.ts'
import { seeded } from '../sim/miners.ts'
import { addressOf, FakeDialer, MemoryRecords, peerId, SILENT, virtualTime } from './peering.ts'

const DEFAULTS: PeerManagerSettings = { outbound: 4, inboundMax: 12, allowPrivate: false, configured: [], seeds: [] }

/** A node with its peer manager among made-up peers. */
export class Station {
  /** Facts of the log lines at level info. */
  readonly told: object[] = []
  readonly time
  readonly dialer
  readonly book
  readonly bans
  readonly manager
  readonly records
  readonly writer
  readonly latencies = new Map<PeerId, number>()

  private constructor(
    settings: Partial<PeerManagerSettings>,
    parts: { records: MemoryRecords; anchors: Anchors; writer: RecordWriter; seed: number; self: number },
  ) {
    const { time, node } = virtualTime()
    const random = seeded(parts.seed)
    const all = { ...DEFAULTS, ...settings }
    this.time = time
    this.records = parts.records
    this.writer = parts.writer
    this.dialer = new FakeDialer(time, peerId(parts.self))
    this.book = new AddressBook({ clock: node, writer: parts.writer, allowPrivate: all.allowPrivate, random })
    this.bans = new Bans(node, parts.writer)
    this.manager = new PeerManager({
      dialer: this.dialer,
      book: this.book,
      bans: this.bans,
      anchors: parts.anchors,
      clock: node,
      timers: node,
      random,
      log: { ...SILENT, info: (facts) => this.told.push(facts) },
      settings: all,
      latencyOf: (peer) => this.latencies.get(peer) ?? null,
    })
  }

  static async open(
    settings: Partial<PeerManagerSettings> = {},
    entries?: Map<string, string>,
    seed = 1,
    self = 0,
  ): Promise<Station> {
    const records = new MemoryRecords(entries)
    const writer = new RecordWriter(records, (error) => {
      throw error
    })
    const anchors = new Anchors(writer)
    await anchors.load(records)
    const station = new Station(settings, { records, anchors, writer, seed, self })
    await station.book.load(records)
    return station
  }

  /** Adds a peer that can be dialled, and puts it into the address book. */
  node(number: number, ip = `60.${number}.0.1`): PeerId {
    this.dialer.online.set(`${ip}:8421`, peerId(number))
    this.book.add(addressOf(number, ip), 'kad')
    return peerId(number)
  }

  /** Lets time pass. Connected peers finish their handshake. */
  async pass(ms: number): Promise<void> {
    const endMs = this.time.nowMs + ms
    while (this.time.nowMs < endMs) {
      await this.time.pass(Math.min(500, endMs - this.time.nowMs))
      for (const peer of this.dialer.peers) this.manager.ready(peer)
    }
  }

  get outbound(): readonly Connection[] {
    return this.dialer.connections().filter(({ direction }) => direction === 'outbound')
  }

  /** Lets a peer dial the node. Undefined if the manager refuses the peer. */
  arrive(number: number, ip: string, port = 40_000): Connection | undefined {
    const address = `/ip4/${ip}/tcp/${port + number}`
    if (!this.manager.mayAccept(address) || !this.manager.mayKeep(peerId(number), address, 'inbound')) return undefined
    return this.dialer.open(peerId(number), address)
  }

  /** Pauses between the dials of an address, in milliseconds. */
  gaps(address: string): readonly number[] {
    const times = this.dialer.dials.filter((dial) => dial.address === address).map(({ atMs }) => atMs)
    return times.slice(1).map((atMs, i) => atMs - times[i]!)
  }
}
