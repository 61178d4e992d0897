import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId, PeerInfo } from '../network.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { AddressAsker, serveAddresses } from '../serve/addresses.ts'
import { type AddressBook, sourceOf } from './address-book.ts'
import { formatIp } from './address-groups.ts'
import { ipOf, parseNodeAddress, withPeer } from './node-address.ts'
import type { PeerManager } from './peer-manager.ts'

/** How addresses were found: on the local network, in the node table, or told by the peer itself when it connected. */
export type FoundBy = 'mdns' | 'kad' | 'identify'

/** Hears of a node that was found. `from` is the peer that told of it, if one did. */
export type FoundListener = (peer: PeerId, addresses: readonly string[], by: FoundBy, from?: PeerId) => void

/** Finds nodes by other means than the `addresses` protocol. */
export interface Finder {
  /** The listener gets multiaddrs with or without the node's id. */
  onFound(listener: FoundListener): void
  /** Asks a connected peer again where it listens. The listeners hear the answer. It ends soon and never rejects. */
  identify(peer: PeerId): Promise<void>
  /** Asks some peers for other nodes. It ends soon and never rejects. */
  walk(): Promise<void>
}

/** What discovery works with. */
export interface DiscoveryDependencies {
  readonly finder: Finder
  readonly book: AddressBook
  readonly manager: Pick<PeerManager, 'poke' | 'isNeedy'>
  readonly peers: Peers
  readonly clock: Clock
  readonly timers: Timers
}

const FIRST_WALK_MS = 5_000
const NEEDY_WALK_MS = 60_000
const WALK_MS = 600_000
/**
 * A peer that did not say where it listens is asked again this often, but only once it has been connected for a while. An address of a peer
 * that came to us counts as known only if the peer says it.
 */
const IDENTIFY_EVERY_MS = 20_000
const IDENTIFY_AFTER_MS = 10_000
/** Addresses that are taken from one report about a node. */
export const OWN_ADDRESSES_MAX = 8
/** Most peers of which it is remembered where they say that they listen. */
const CLAIMS_MAX = 1_024

/** Fills the address book: from the node table, from the local network, and from peers about themselves and others. */
export class Discovery {
  readonly #deps: DiscoveryDependencies
  readonly #asker: AddressAsker
  readonly #claims = new LruMap<PeerId, readonly string[]>(CLAIMS_MAX)
  #running = false
  #cancel: () => void = () => {}
  #cancelIdentify: () => void = () => {}

  constructor(dependencies: DiscoveryDependencies) {
    this.#deps = dependencies
    const { peers, book, manager, finder, clock, timers } = dependencies
    const served = serveAddresses(peers.exchange, {
      good: (limit, except) => book.good(limit, except),
      now: () => clock.now(),
    })
    this.#asker = new AddressAsker({
      ...{ peers, clock, timers },
      isNeedy: () => manager.isNeedy(),
      hear: (peer, addresses) => this.#hear(peer, addresses),
    })
    finder.onFound((peer, addresses, ...how) => this.#found(peer, addresses.slice(0, OWN_ADDRESSES_MAX), ...how))
    peers.onPeer({
      ready: ({ info }) => this.#takeClaims(info),
      gone: (id) => {
        served.forget(id)
        this.#claims.delete(id)
      },
    })
  }

  start(): void {
    this.#running = true
    this.#asker.start()
    this.#cancel = this.#deps.timers.after(FIRST_WALK_MS, () => void this.#walk())
    this.#identifyLater()
  }

  stop(): void {
    this.#running = false
    this.#cancel()
    this.#cancelIdentify()
    this.#asker.stop()
  }

  #identifyLater(): void {
    const { timers, peers, finder, clock } = this.#deps
    this.#cancelIdentify = timers.after(IDENTIFY_EVERY_MS, () => {
      this.#identifyLater()
      const sinceMs = clock.now() - IDENTIFY_AFTER_MS
      for (const { info, connectedAtMs } of peers.list())
        if (connectedAtMs <= sinceMs && this.#claims.get(info.id) === undefined) void finder.identify(info.id)
    })
  }

  async #walk(): Promise<void> {
    await this.#deps.finder.walk()
    if (!this.#running) return
    const ms = this.#deps.manager.isNeedy() ? NEEDY_WALK_MS : WALK_MS
    this.#cancel = this.#deps.timers.after(ms, () => void this.#walk())
  }

  #found(...[peer, addresses, by, from]: Parameters<FoundListener>): void {
    if (by === 'identify') {
      this.#claims.set(peer, addresses)
      const ready = this.#deps.peers.get(peer)
      if (ready !== undefined) this.#takeClaims(ready.info)
      return
    }
    // Each network whose peers tell of nodes has its own bound in the book. If the node table were one source, all would share one bound.
    const source = from === undefined ? by : sourceOf(ipOf(this.#deps.peers.get(from)?.info.address ?? ''))
    for (const text of named(addresses, peer)) this.#deps.book.add(text, source)
    if (by === 'mdns') this.#deps.manager.poke()
  }

  /** A peer's word about itself counts as known only at the IP address that it connects from. */
  #takeClaims({ id, address }: PeerInfo): void {
    const ip = ipOf(address)
    const place = ip === undefined ? '' : formatIp(ip)
    for (const text of named(this.#claims.get(id) ?? [], id)) {
      if (text.split('/')[2] === place) this.#deps.book.seen(text)
      else this.#deps.book.add(text, sourceOf(ip))
    }
  }

  #hear({ info }: Peer, addresses: readonly string[]): boolean {
    const source = sourceOf(ipOf(info.address))
    const parsed = addresses.map(parseNodeAddress)
    for (const address of parsed) if (address.ok) this.#deps.book.add(address.value.text, source)
    this.#deps.manager.poke()
    return parsed.every((address) => address.ok && address.value.ip !== null && address.value.peer !== null)
  }
}

/** The addresses of a node, with its id. Addresses that name another node are left out. */
function named(addresses: readonly string[], peer: PeerId): readonly string[] {
  return addresses.map(parseNodeAddress).flatMap((address) => {
    if (!address.ok || (address.value.peer !== null && address.value.peer !== peer)) return []
    return [withPeer(address.value, peer).text]
  })
}
