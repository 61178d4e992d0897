import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { WorkKind } from './overload.ts'

/** What a place is held as: a kind of work, or a call whose body is not there yet, which alone tells what it is. */
export type PlaceKind = WorkKind | 'unread'

/** Share of the places that may be taken when one more request of a kind is let in: what is free leaves some for what is paid. */
export const PLACES_SHARE: Readonly<Record<PlaceKind, number>> = {
  list: 0.5,
  read: 0.8,
  quote: 0.85,
  transaction: 0.95,
  unread: 0.97,
  kept: 0.98,
  health: 0.99,
  operator: 1,
}
/** A network has at most so many times what is left: its first two addresses get no less than strangers would. */
export const NETWORK_FACTOR = 3
/** A request is given up for another only if its client has been waited for so long. */
export const PATIENCE_MS = 1_000
/**
 * Share of the places that a network may hold with bodies that are not there yet. Those beyond are given up for another at once: their
 * clients would else give them up themselves just before {@link PATIENCE_MS}, and ask anew.
 */
export const UNREAD_SHARE = 1 / 64

/** Requests of an address that are counted together; the operator's are bounded by no address. */
type Purse = 'stranger' | 'kept' | 'health'

/** A request that holds a place, or asks for one. */
export interface Guest {
  /** The client that it counts for. */
  readonly holder: Holder
  /** What it was last judged as. */
  kind: PlaceKind
  /** What its client is waited for: to send a body, or to take the answer; null while the node has work with it. */
  waitsFor: 'body' | 'reader' | null
  /** Since when. */
  waitsSinceMs: number
}

/** Why a request gets no place: there is none for its kind, or its address has its share, or its network. */
export type NoPlace = 'full' | 'crowded' | 'crowded-network'

/** What is held together. */
interface Group {
  readonly held: Record<Purse, number>
  /** Those whose clients are waited for, the longest first. */
  readonly body: Set<Guest>
  readonly reader: Set<Guest>
}

interface Network extends Group {
  readonly addresses: Map<string, Group>
}

/**
 * The requests under way. Each kind may take its share of the places, no address more than are left, and no network more than a few
 * times that. Where there is none left, the one whose client is waited for the longest makes room: places are for work, not for clients
 * who neither send nor read.
 */
export class Places {
  readonly #max: number
  readonly #unreadMax: number
  readonly #giveUp: (guest: Guest) => void
  readonly #networks = new Map<string, Network>()
  #taken = 0

  /** `giveUp` ends a request, which has left by then. */
  constructor(max: number, giveUp: (guest: Guest) => void) {
    this.#max = max
    this.#unreadMax = Math.ceil(max * UNREAD_SHARE)
    this.#giveUp = giveUp
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#taken
  }

  /** Takes a place, whether there is room or not: {@link judge} says that. */
  enter(guest: Guest): void {
    this.#taken += 1
    const purse = purseOf(guest.kind)
    if (purse === null) return
    for (const group of this.#groupsOf(guest)) {
      group.held[purse] += 1
      if (guest.waitsFor !== null) group[guest.waitsFor].add(guest)
    }
  }

  /** Whether one that has entered may stay, counted as a kind from now on. */
  judge(guest: Guest, kind: PlaceKind, nowMs: number): NoPlace | null {
    this.#recount(guest, kind)
    let lack = this.#lackOf(guest)
    while (lack !== null && this.#makesRoom(lack, guest, nowMs)) lack = this.#lackOf(guest)
    return lack
  }

  /** The node waits for the client to take the answer from now on. */
  waits(guest: Guest, nowMs: number): void {
    guest.waitsFor = 'reader'
    guest.waitsSinceMs = nowMs
    for (const group of this.#groupsOf(guest)) {
      forget(group, guest)
      if (purseOf(guest.kind) !== null) group.reader.add(guest)
    }
  }

  /** The node stops waiting for the client and works. */
  works(guest: Guest): void {
    guest.waitsFor = null
    for (const group of this.#groupsOf(guest)) forget(group, guest)
  }

  /** Gives the place back, once. */
  leave(guest: Guest): void {
    this.#taken -= 1
    const { holder, kind } = guest
    const [network, address] = this.#groupsOf(guest)
    const purse = purseOf(kind)
    for (const group of [network, address]) {
      forget(group, guest)
      if (purse !== null) group.held[purse] -= 1
    }
    if (isEmpty(address)) network.addresses.delete(holder.address)
    if (isEmpty(network)) this.#networks.delete(holder.network)
  }

  #groupsOf({ holder }: Guest): readonly [Network, Group] {
    let network = this.#networks.get(holder.network)
    if (network === undefined) {
      network = { ...emptyGroup(), addresses: new Map() }
      this.#networks.set(holder.network, network)
    }
    let address = network.addresses.get(holder.address)
    if (address === undefined) {
      address = emptyGroup()
      network.addresses.set(holder.address, address)
    }
    return [network, address]
  }

  #recount(guest: Guest, kind: PlaceKind): void {
    const [before, after] = [purseOf(guest.kind), purseOf(kind)]
    guest.kind = kind
    if (before === after) return
    for (const group of this.#groupsOf(guest)) {
      if (before !== null) group.held[before] -= 1
      if (after !== null) group.held[after] += 1
      else forget(group, guest)
    }
  }

  #lackOf(guest: Guest): NoPlace | null {
    const max = Math.ceil(this.#max * PLACES_SHARE[guest.kind])
    const left = max - (this.#taken - 1)
    if (left <= 0) return 'full'
    const purse = purseOf(guest.kind)
    if (purse === null) return null
    const [ofNetwork, own] = this.#groupsOf(guest).map(({ held }) => held[purse] - 1) as [number, number]
    if (own > 0 && own >= left) return 'crowded'
    return ofNetwork > 0 && ofNetwork >= NETWORK_FACTOR * left ? 'crowded-network' : null
  }

  /** Gives up one whose client is waited for: of the same address or network where that is crowded, else of the one that has most. */
  #makesRoom(lack: NoPlace, guest: Guest, nowMs: number): boolean {
    const given = lack === 'crowded' ? longest(this.#groupsOf(guest)[1], guest) : this.#ofMost(lack, guest)
    if (given === undefined) return false
    const [{ body }] = this.#groupsOf(given)
    const isOneTooMany = lack !== 'crowded' && given.waitsFor === 'body' && body.size > this.#unreadMax
    if (!isOneTooMany && nowMs - given.waitsSinceMs < PATIENCE_MS) return false
    const before = this.#taken
    this.#giveUp(given)
    return this.#taken < before
  }

  /** Of the network with too many bodies that are not there yet, else of the one whose clients are waited for most. */
  #ofMost(lack: NoPlace, guest: Guest): Guest | undefined {
    const networks = (): Iterable<Network> => (lack === 'full' ? this.#networks.values() : [this.#groupsOf(guest)[0]])
    const unread = ({ body }: Group): number => body.size - (body.has(guest) ? 1 : 0)
    const waiting = (group: Group): number => unread(group) + group.reader.size
    const hoarder = largest(networks(), unread)
    if (hoarder !== undefined && hoarder.body.size > this.#unreadMax) {
      const address = largest(hoarder.addresses.values(), unread)
      return address === undefined ? undefined : first(address.body, guest)
    }
    const slowest = largest(networks(), waiting)
    const address = slowest === undefined ? undefined : largest(slowest.addresses.values(), waiting)
    return address === undefined ? undefined : longest(address, guest)
  }
}

function emptyGroup(): Group {
  return { held: { stranger: 0, kept: 0, health: 0 }, body: new Set(), reader: new Set() }
}

function isEmpty({ held }: Group): boolean {
  return held.stranger + held.kept + held.health === 0
}

function forget({ body, reader }: Group, guest: Guest): void {
  body.delete(guest)
  reader.delete(guest)
}

function first(guests: ReadonlySet<Guest>, besides: Guest): Guest | undefined {
  for (const guest of guests) if (guest !== besides) return guest
  return undefined
}

function longest({ body, reader }: Group, besides: Guest): Guest | undefined {
  const [a, b] = [first(body, besides), first(reader, besides)]
  if (a === undefined || b === undefined) return a ?? b
  return a.waitsSinceMs <= b.waitsSinceMs ? a : b
}

/** The one with most; of several the first. Undefined where none has any. */
function largest<T extends Group>(groups: Iterable<T>, sizeOf: (group: T) => number): T | undefined {
  let most: T | undefined
  let size = 0
  for (const group of groups) {
    const its = sizeOf(group)
    if (its <= size) continue
    most = group
    size = its
  }
  return most
}

function purseOf(kind: PlaceKind): Purse | null {
  if (kind === 'operator') return null
  if (kind === 'health') return kind
  return kind === 'kept' || kind === 'unread' ? 'kept' : 'stranger'
}
