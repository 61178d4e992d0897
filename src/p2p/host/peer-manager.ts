import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import type { NetworkLog, PeerId } from '../network.ts'
import { BAN_MS } from '../peers/offences.ts'
import type { AddressBook, BookEntry } from './address-book.ts'
import { hostOf, type Ip, isDialable, mayReachOut, mayTakeIn } from './address-groups.ts'
import { ANCHORS_MAX, type Anchors } from './anchors.ts'
import { Backoff } from './backoff.ts'
import type { Bans } from './bans.ts'
import type { Connection, Dialer, Gate } from './dialer.ts'
import { type Merits, protectedOf, victimOf } from './eviction.ts'
import { ipOf, type NodeAddress, parseNodeAddress, withPeer } from './node-address.ts'

/** How many connections a node has, and to whom. */
export interface PeerManagerSettings {
  /** Connections that it seeks by itself, beside those to configured peers. */
  readonly outbound: number
  readonly inboundMax: number
  /** Whether nodes may be at loopback and private addresses, as on the devnet. */
  readonly allowPrivate: boolean
  /** Multiaddrs of peers to stay connected to. */
  readonly configured: readonly string[]
  /** Multiaddrs of seeds. One is dialled while no peer is connected, or when no known address can be dialled. */
  readonly seeds: readonly string[]
}

/** What the manager works with. */
export interface PeerManagerDependencies {
  readonly dialer: Dialer
  readonly book: AddressBook
  readonly bans: Bans
  readonly anchors: Anchors
  readonly clock: Clock
  readonly timers: Timers
  /** A number from 0 to below 1. */
  readonly random: () => number
  readonly log: NetworkLog
  readonly settings: PeerManagerSettings
  /** Milliseconds of a peer's last answer; null if unknown. */
  readonly latencyOf: (peer: PeerId) => number | null
}

const TICK_MS = 1_000
const DIALS_MAX = 4
/** How long a connection beyond the wanted ones may stay, so that questions over it can finish. */
const STRAY_MS = 30_000
/** Time that a peer must have been connected before it can become an anchor. */
const ANCHOR_MS = 30_000

interface Member {
  readonly connection: Connection
  /** The address that it was dialled by, as the book writes it; null for an inbound connection. */
  readonly text: string | null
}

/** Keeps the wanted connections, and lets peers in while there is room. */
export class PeerManager implements Gate {
  readonly #deps: PeerManagerDependencies
  readonly #pins: readonly Pin[]
  readonly #members = new Map<string, Member>()
  readonly #ready = new Set<PeerId>()
  readonly #merits = new Map<PeerId, { blockMs: number; transactionMs: number }>()
  /**
   * Address at which each connected peer was dialled by us. The peer counts as ours until it is gone, even if only the connection that it
   * dialled is left. Otherwise it could make us choose one more peer by dialling back.
   */
  readonly #dialled = new Map<PeerId, string>()
  /** Addresses that we are dialling by our own choice. */
  readonly #dials = new Map<string, NodeAddress>()
  #anchors: NodeAddress[] = []
  #cancel: (() => void) | null = null
  #stopped = false

  constructor(dependencies: PeerManagerDependencies) {
    this.#deps = dependencies
    const { configured, seeds } = dependencies.settings
    this.#pins = [
      ...this.#pinned(configured, 'configured'),
      ...this.#pinned(
        seeds.filter((seed) => !configured.includes(seed)),
        'seed',
      ),
    ]
    dependencies.dialer.watch({
      opened: (connection) => this.#opened(connection),
      closed: (connection) => this.#closed(connection),
    })
    for (const connection of dependencies.dialer.connections()) this.#opened(connection)
  }

  /** Anchors of the last run come before other known addresses. */
  start(): void {
    this.#anchors = this.#deps.anchors.texts.flatMap((text) => addressesIn([text]))
    this.#tick()
  }

  /** Stops dialling. The transport ends the connections. */
  stop(): void {
    this.#stopped = true
    this.#cancel?.()
    this.#noteAnchors()
  }

  poke(): void {
    if (this.#cancel === null || this.#stopped) return
    this.#cancel()
    this.#tick()
  }

  /** A peer has shaken hands, so it is of this network. */
  ready(peer: PeerId): void {
    this.#ready.add(peer)
    for (const { connection, text } of this.#members.values())
      if (connection.peer === peer && text !== null) this.#deps.book.succeeded(text)
  }

  useful(peer: PeerId, what: 'block' | 'transaction'): void {
    if (!this.#connections().some((connection) => connection.peer === peer)) return
    const merits = this.#merits.get(peer) ?? { blockMs: 0, transactionMs: 0 }
    this.#merits.set(peer, merits)
    merits[what === 'block' ? 'blockMs' : 'transactionMs'] = this.#deps.clock.now()
  }

  /** Bans a peer that misbehaved and the addresses that it is connected from, and ends its connections. */
  ban(peer: PeerId, reason: string, forMs = BAN_MS): void {
    const own = this.#connections().filter((connection) => connection.peer === peer)
    this.#deps.bans.banPeer(peer, ipsOf(own), forMs, reason)
    this.#deps.book.forget(peer)
    this.hangUpBanned()
  }

  /** Ends every connection that a ban forbids. A banned stranger does not shut out a named peer at the same address. */
  hangUpBanned(): void {
    const { bans, dialer } = this.#deps
    for (const { id, peer, address } of this.#connections()) {
      const ip = ipOf(address)
      const isShutOut = ip !== undefined && bans.isBannedIp(ip) && !this.#isNamed(peer, address)
      if (bans.isBannedPeer(peer) || isShutOut) dialer.hangUp(id, 'banned')
    }
  }

  /** Whether a peer stays when others want in: dialled by us, configured, or protected by its merits. */
  isProtected(peer: PeerId): boolean {
    const own = this.#connections().filter((connection) => connection.peer === peer)
    const stays = protectedOf(this.#inbound(), (each) => this.#meritsOf(each))
    return this.#isOurs(peer) || own.some((each) => stays.has(each))
  }

  /** Whether connections are missing, so that retries should come soon. */
  isNeedy(): boolean {
    return this.#members.size === 0 || this.#sought().length < this.#deps.settings.outbound
  }

  mayAccept(address: string): boolean {
    const ip = ipOf(address)
    if (ip === undefined || this.#stopped) return false
    return !this.#deps.bans.isBannedIp(ip) && mayTakeIn(ipsOf(this.#inbound()), ip, this.#deps.settings.allowPrivate)
  }

  isKnown(address: string): boolean {
    const ip = ipOf(address)
    if (ip === undefined) return false
    const isThere = ({ address: { ip: other } }: Pin): boolean => other !== null && hostOf(other) === hostOf(ip)
    return this.#deps.book.hasReached(ip) || this.#pins.some(isThere)
  }

  mayKeep(peer: PeerId, address: string, direction: 'inbound' | 'outbound'): boolean {
    if (this.#stopped || this.#deps.bans.isBannedPeer(peer)) return false
    if (direction === 'outbound' || this.#isConfigured(peer)) return true
    return this.mayAccept(address) && this.#roomFor(peer)
  }

  mayDial(peer: PeerId | null, address: string): boolean {
    if (this.#stopped || (peer !== null && this.#deps.bans.isBannedPeer(peer))) return false
    const ip = ipOf(address)
    if (ip === undefined || this.#isNamed(peer, address)) return true
    return !this.#deps.bans.isBannedIp(ip) && isDialable(ip, this.#deps.settings.allowPrivate)
  }

  #tick(): void {
    this.#cancel = this.#deps.timers.after(TICK_MS, () => this.#tick())
    // A connection may have passed the gate just before its peer was banned.
    this.hangUpBanned()
    this.#trim()
    this.#redial()
    this.#seek()
    this.#noteAnchors()
  }

  /** Hangs up duplicates, outbound connections beyond the wanted ones, and inbound ones above the limit. */
  #trim(): void {
    const { dialer, clock, settings } = this.#deps
    const now = clock.now()
    for (const { id } of surplusOf(this.#connections(), dialer.self, now)) dialer.hangUp(id, 'duplicate')
    const configured = [...this.#dialled].filter(([peer]) => this.#isConfigured(peer))
    const kept = configured.map(([, address]) => ipOf(address)).filter((ip) => ip !== undefined)
    let count = 0
    for (const { id, peer, openedAtMs } of this.#sought()) {
      const ip = ipOf(this.#dialled.get(peer) as string)
      const fits = ip === undefined || mayReachOut(kept, ip, settings.allowPrivate)
      if (fits && count < settings.outbound) {
        count += 1
        if (ip !== undefined) kept.push(ip)
      } else if (now - openedAtMs >= STRAY_MS) dialer.hangUp(id, 'not needed')
    }
    const inbound = this.#inbound().toSorted((a, b) => a.openedAtMs - b.openedAtMs)
    for (const { id, peer } of inbound.slice(settings.inboundMax)) if (!this.#isOurs(peer)) dialer.hangUp(id, 'full')
  }

  #redial(): void {
    const needy = this.isNeedy()
    for (const pin of this.#pins)
      if (pin.kind === 'configured' && !this.#isConnected(pin.peer) && pin.isDue(needy)) void this.#dialPin(pin)
  }

  /** Dials anchors, seeds and known addresses, a few at a time, until the wanted number is connected or being dialled. */
  #seek(): void {
    const connected = this.#sought().length
    while (connected + this.#dials.size < this.#deps.settings.outbound && this.#dials.size < DIALS_MAX) {
      const seed = this.#dueSeed()
      const next = this.#connections().length === 0 && seed !== undefined ? undefined : this.#nextAddress()
      if (next !== undefined) void this.#dialOwn(next)
      else if (seed !== undefined) void this.#dialSeed(seed)
      else return
    }
  }

  #dueSeed(): Pin | undefined {
    const needy = this.isNeedy()
    return this.#pins.find((pin) => pin.kind === 'seed' && !this.#isConnected(pin.peer) && pin.isDue(needy))
  }

  /** The next anchor, or an address of the book in a network that we are not connected to. */
  #nextAddress(): NodeAddress | undefined {
    for (let anchor = this.#anchors.shift(); anchor !== undefined; anchor = this.#anchors.shift())
      if (this.#fits(anchor)) return anchor
    const entry = this.#deps.book.pick((each) => this.#fits(addressOf(each)), this.isNeedy())
    return entry === undefined ? undefined : addressOf(entry)
  }

  #fits({ peer, ip, text }: NodeAddress): boolean {
    const { dialer, settings } = this.#deps
    if (peer === null || peer === dialer.self || this.#isConnected(peer) || this.#isConfigured(peer)) return false
    const dials = [...this.#dials.values()]
    if (dials.some((dial) => dial.peer === peer) || !this.mayDial(peer, text)) return false
    const connected = [...this.#dialled.values()].map(ipOf)
    const others = [...connected, ...dials.map((dial) => dial.ip)].filter((each) => each != null)
    return ip === null || mayReachOut(others, ip, settings.allowPrivate)
  }

  async #dialPin(pin: Pin): Promise<void> {
    pin.dialing()
    const result = await this.#deps.dialer.dial(pin.address.text)
    if (!result.ok) {
      // The operator hears if the first dial of a configured address fails, because the address may be mistyped.
      const level = pin.kind === 'configured' && pin.neverTried ? 'info' : 'debug'
      this.#deps.log[level]({ address: pin.address.text }, faultMessage(result.fault))
    }
    pin.dialed(result.ok ? result.value : null)
    if (result.ok && !this.#isConnected(result.value)) pin.lost(0)
  }

  async #dialSeed(pin: Pin): Promise<void> {
    const { text } = pin.address
    this.#dials.set(text, pin.address)
    await this.#dialPin(pin)
    this.#dials.delete(text)
  }

  async #dialOwn(address: NodeAddress): Promise<void> {
    const { dialer, book, log } = this.#deps
    this.#dials.set(address.text, address)
    const result = await dialer.dial(address.text)
    this.#dials.delete(address.text)
    if (result.ok) return
    log.debug({ address: address.text }, faultMessage(result.fault))
    book.failed(address.text)
  }

  #opened(connection: Connection): void {
    const { direction, address, peer } = connection
    const [found] = direction === 'outbound' ? addressesIn([address]) : []
    const text = found === undefined ? null : withPeer(found, peer).text
    this.#members.set(connection.id, { connection, text })
    if (direction === 'outbound' && !this.#dialled.has(peer)) this.#dialled.set(peer, address)
    if (text !== null && this.#ready.has(peer)) this.#deps.book.succeeded(text)
  }

  #closed({ id, peer, openedAtMs }: Connection): void {
    const text = this.#members.get(id)?.text ?? null
    this.#members.delete(id)
    if (this.#isConnected(peer)) return
    if (!this.#ready.has(peer) && text !== null) this.#deps.book.failed(text)
    const livedMs = this.#ready.has(peer) ? this.#deps.clock.now() - openedAtMs : 0
    this.#ready.delete(peer)
    this.#merits.delete(peer)
    this.#dialled.delete(peer)
    for (const pin of this.#pins) if (pin.peer === peer) pin.lost(livedMs)
  }

  /** Makes room if need be by ending another connection. False if none may end. */
  #roomFor(peer: PeerId): boolean {
    const { dialer, settings } = this.#deps
    const inbound = this.#inbound()
    if (inbound.length < settings.inboundMax) return true
    const others = inbound.filter((each) => each.peer !== peer && !this.#isOurs(each.peer))
    const victim = victimOf(others, (each) => this.#meritsOf(each))
    if (victim === undefined) return false
    dialer.hangUp(victim.id, 'made room for another')
    this.#members.delete(victim.id)
    return true
  }

  #noteAnchors(): void {
    const now = this.#deps.clock.now()
    const lasting = this.#sought().filter(
      ({ peer, openedAtMs }) => this.#ready.has(peer) && now - openedAtMs >= ANCHOR_MS,
    )
    const texts = lasting.flatMap(({ id }) => this.#members.get(id)?.text ?? [])
    this.#deps.anchors.set(texts.slice(0, ANCHORS_MAX))
  }

  #connections(): readonly Connection[] {
    return [...this.#members.values()].map(({ connection }) => connection)
  }

  /** One connection to each peer that we dialled, configured ones aside: the outbound one if it is there. The oldest come first. */
  #sought(): readonly Connection[] {
    const sought = this.#connections().filter(({ peer }) => this.#dialled.has(peer) && !this.#isConfigured(peer))
    const ofPeers = [...Map.groupBy(sought, ({ peer }) => peer).values()]
    const one = ofPeers.map((all) => all.find(({ direction }) => direction === 'outbound') ?? (all[0] as Connection))
    return one.toSorted((a, b) => a.openedAtMs - b.openedAtMs)
  }

  #inbound(): readonly Connection[] {
    return this.#connections().filter(({ direction }) => direction === 'inbound')
  }

  #isConnected(peer: PeerId | null): boolean {
    return peer !== null && this.#connections().some((connection) => connection.peer === peer)
  }

  #isOurs(peer: PeerId): boolean {
    return this.#isConfigured(peer) || this.#dialled.has(peer)
  }

  #isConfigured(peer: PeerId): boolean {
    return this.#pins.some((pin) => pin.kind === 'configured' && pin.peer === peer)
  }

  /** Whether the operator or the release named the peer or the address. */
  #isNamed(peer: PeerId | null, address: string): boolean {
    const [found] = addressesIn([address])
    const isSame = (pin: Pin): boolean =>
      (peer !== null && pin.peer === peer) || (found !== undefined && placeOf(pin.address) === placeOf(found))
    return this.#pins.some(isSame)
  }

  #meritsOf(peer: PeerId): Merits {
    const { blockMs = 0, transactionMs = 0 } = this.#merits.get(peer) ?? {}
    return { blockMs, transactionMs, latencyMs: this.#deps.latencyOf(peer) }
  }

  #pinned(texts: readonly string[], kind: Pin['kind']): readonly Pin[] {
    return texts.flatMap((text) => {
      const address = parseNodeAddress(text)
      if (address.ok) return [new Pin(address.value, kind, this.#deps)]
      this.#deps.log.warn({ address: text }, faultMessage(address.fault))
      return []
    })
  }
}

function ipsOf(connections: readonly Connection[]): Ip[] {
  return connections.map(({ address }) => ipOf(address)).filter((ip) => ip !== undefined)
}

function addressesIn(texts: readonly string[]): NodeAddress[] {
  return texts.map(parseNodeAddress).flatMap((address) => (address.ok ? [address.value] : []))
}

function addressOf({ text, peer, ip }: BookEntry): NodeAddress {
  const port = Number(text.split('/')[4])
  return { text, peer, ip, port }
}

function placeOf({ text }: NodeAddress): string {
  return text.split('/').slice(0, 5).join('/')
}

const FIRST_RETRY_MS = 1_000
const RETRY_MS_MAX = 60_000
/** Longest delay while connections are missing. With jitter and dial, a seed that comes late is met within 15 s. */
const NEEDY_RETRY_MS_MAX = 10_000
/** After a connection that lasted this long, the next attempt is immediate. */
const GOOD_MS = 20_000

/** An address that the operator or the release names. It is never given up. */
class Pin {
  readonly address: NodeAddress
  /** `configured` addresses are always to be connected, seeds are dialled only while connections are missing. */
  readonly kind: 'configured' | 'seed'
  readonly #backoff: Backoff
  readonly #clock: Clock
  #peer: PeerId | null
  #dialing = false
  #neverTried = true

  constructor(address: NodeAddress, kind: Pin['kind'], { clock, random }: { clock: Clock; random: () => number }) {
    this.address = address
    this.kind = kind
    this.#peer = address.peer
    this.#clock = clock
    this.#backoff = new Backoff(FIRST_RETRY_MS, random)
  }

  /** The peer there, from the address or from the last dial. */
  get peer(): PeerId | null {
    return this.#peer
  }

  get neverTried(): boolean {
    return this.#neverTried
  }

  isDue(needy: boolean): boolean {
    return !this.#dialing && this.#backoff.isDue(this.#clock.now(), needy ? NEEDY_RETRY_MS_MAX : RETRY_MS_MAX)
  }

  dialing(): void {
    this.#dialing = true
  }

  /** Notes how a dial went: the peer, or null. Success counts only when the connection lasts. */
  dialed(peer: PeerId | null): void {
    this.#dialing = false
    this.#neverTried = false
    if (peer === null) this.#backoff.failed(this.#clock.now())
    else this.#peer = peer
  }

  lost(livedMs: number): void {
    if (livedMs >= GOOD_MS) this.#backoff.succeeded()
    else this.#backoff.failed(this.#clock.now())
  }
}

/** A second connection is left alone this long, because the other end may not have it yet. */
const SETTLE_MS = 2_000
/** If the other end dialled both connections, it chooses. We choose if it has not done so in this time. */
const OTHERS_CHOICE_MS = 10_000

/** Connections to hang up. Both ends keep the same one: the oldest that the peer with the lesser id dialled, or else the oldest. */
export function surplusOf(connections: readonly Connection[], self: PeerId, nowMs: number): readonly Connection[] {
  const byPeer = Map.groupBy(connections, ({ peer }) => peer)
  return [...byPeer].flatMap(([peer, all]) => {
    if (all.length === 1) return []
    const wanted = self < peer ? 'outbound' : 'inbound'
    const [kept, ...others] = all.toSorted(
      (a, b) =>
        Number(b.direction === wanted) - Number(a.direction === wanted) ||
        a.openedAtMs - b.openedAtMs ||
        (a.id < b.id ? -1 : 1),
    ) as [Connection, ...Connection[]]
    return others.filter(({ direction, openedAtMs }) => {
      const patience = direction === 'inbound' && kept.direction === 'inbound' ? OTHERS_CHOICE_MS : SETTLE_MS
      return nowMs - Math.max(openedAtMs, kept.openedAtMs) >= patience
    })
  })
}
