import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { BanFacts, NetworkApi, PeerFacts } from '../../../rpc/node/network.ts'
import type { NetworkLog, PeerId, PeerInfo } from '../network.ts'
import type { Offence } from '../peers/offences.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { STORAGE_MODES } from '../wire/messages.ts'
import { AddressBook } from './address-book.ts'
import { Anchors } from './anchors.ts'
import { Bans } from './bans.ts'
import type { Dialer, Gate } from './dialer.ts'
import { Discovery, type Finder } from './discovery.ts'
import { isPeerId } from './node-address.ts'
import { PeerManager, type PeerManagerSettings } from './peer-manager.ts'
import { type PeerRecords, RecordWriter } from './peer-records.ts'

/** The part of the transport that handles connections. */
export interface PeeringHost extends Dialer {
  readonly finder: Finder
  setGate(gate: Gate): void
  onBan(listener: (peer: PeerInfo, reason: string) => void): void
}

/** What peering works with. */
export interface PeeringDependencies {
  readonly host: PeeringHost
  readonly peers: Peers
  readonly records: PeerRecords
  readonly settings: PeerManagerSettings
  readonly clock: Clock
  readonly timers: Timers
  /** A number from 0 to below 1. */
  readonly random: () => number
  readonly log: NetworkLog
  readonly bytesOf: (peer: PeerId) => { readonly in: number; readonly out: number } | null
}

/** The connections of this node: address book, bans, manager and discovery, wired to one host. */
export class Peering {
  readonly manager: PeerManager
  readonly book: AddressBook
  readonly bans: Bans
  readonly network: NetworkApi
  readonly #discovery: Discovery
  readonly #writer: RecordWriter

  private constructor(
    dependencies: PeeringDependencies,
    parts: { book: AddressBook; bans: Bans; anchors: Anchors; writer: RecordWriter },
  ) {
    const { host, peers, settings, bytesOf, ...common } = dependencies
    const { book, bans, anchors } = parts
    const latencyOf = (peer: PeerId): number | null => peers.get(peer)?.latencyMs ?? null
    this.book = book
    this.bans = bans
    this.#writer = parts.writer
    this.manager = new PeerManager({ ...common, dialer: host, book, bans, anchors, settings, latencyOf })
    this.#discovery = new Discovery({ ...common, finder: host.finder, book, manager: this.manager, peers })
    this.network = new NetworkView({ peers, bans, manager: this.manager, bytesOf })
    host.setGate(this.manager)
    host.onBan(({ id }, reason) => this.manager.ban(id, reason))
    peers.onPeer({
      ready: ({ info }) => this.manager.ready(info.id),
      useful: (id, what) => this.manager.useful(id, what),
    })
    for (const { info } of peers.list()) this.manager.ready(info.id)
  }

  /** Nothing is dialled before `start`. The caller closes the records. */
  static async open(dependencies: PeeringDependencies): Promise<Peering> {
    const { records, clock, random, log, settings } = dependencies
    const writer = new RecordWriter(records, (error) =>
      log.warn({ reason: String(error) }, 'what is known of peers could not be written'),
    )
    const book = new AddressBook({ clock, writer, allowPrivate: settings.allowPrivate, random })
    const bans = new Bans(clock, writer)
    const anchors = new Anchors(writer)
    for (const part of [book, bans, anchors]) await part.load(records)
    return new Peering(dependencies, { book, bans, anchors, writer })
  }

  start(): void {
    this.manager.start()
    this.#discovery.start()
  }

  /** Stops dialling and writes what is known. The host ends the connections. It never rejects. */
  async stop(): Promise<void> {
    this.#discovery.stop()
    this.manager.stop()
    await this.#writer.close()
  }
}

/** What the network view works with. */
export interface NetworkViewDependencies {
  readonly peers: Peers
  readonly bans: Bans
  readonly manager: PeerManager
  readonly bytesOf: (peer: PeerId) => { readonly in: number; readonly out: number } | null
}

const HOUR_MS = 3_600_000
const OPERATORS_REASON = 'the operator'

/** The network as the API shows it, with the operator's bans. */
export class NetworkView implements NetworkApi {
  readonly #deps: NetworkViewDependencies
  readonly #offences = new Map<PeerId, Record<string, number>>()

  constructor(dependencies: NetworkViewDependencies) {
    this.#deps = dependencies
    dependencies.peers.onOffence((peer, offence) => this.#count(peer, offence))
    dependencies.peers.onPeer({ gone: (id) => void this.#offences.delete(id) })
  }

  peers(): readonly PeerFacts[] {
    return this.#deps.peers.list().map((peer) => this.#factsOf(peer))
  }

  bans(): readonly BanFacts[] {
    return this.#deps.bans.list()
  }

  ban(target: string, hours: number): Result<BanFacts> {
    const ban = this.#deps.bans.ban(target, hours * HOUR_MS, OPERATORS_REASON)
    if (ban.ok) this.#deps.manager.hangUpBanned()
    return ban
  }

  unban(target: string): Result<BanFacts> {
    const ban = this.#deps.bans.lift(target)
    if (!ban.ok) return ban
    // With its old points it would be banned again for the next small offence.
    if (isPeerId(target)) this.#deps.peers.reputation.forgive(target)
    return ok(ban.value)
  }

  #factsOf({ info, status, head, latencyMs, connectedAtMs }: Peer): PeerFacts {
    const bytes = this.#deps.bytesOf(info.id)
    return {
      id: info.id,
      address: info.address,
      direction: info.direction,
      agent: status.agent,
      height: head.height,
      totalWork: head.totalWork,
      mode: STORAGE_MODES[status.mode] ?? 'pruned',
      latencyMs,
      connectedAtMs,
      bytesIn: bytes?.in ?? null,
      bytesOut: bytes?.out ?? null,
      points: this.#deps.peers.reputation.pointsOf(info.id),
      offences: this.#offences.get(info.id) ?? {},
      protected: this.#deps.manager.isProtected(info.id),
    }
  }

  /** Counts only peers that are connected and have shaken hands, so peers that come and go cannot fill the map. */
  #count(peer: PeerId, offence: Offence): void {
    if (!this.#deps.peers.isReady(peer)) return
    const counts = this.#offences.get(peer) ?? {}
    counts[offence] = (counts[offence] ?? 0) + 1
    this.#offences.set(peer, counts)
  }
}
