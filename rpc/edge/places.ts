import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { WorkKind } from './overload.ts'

/** What a place is held for: a kind of work, or a call whose kind is unknown until its body is read. */
export type PlaceKind = WorkKind | 'unread'

/** For each kind, the share of all places up to which a request is admitted. The rest stays free for the kinds after it. */
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
/** A network may hold this many times the places left. So two addresses of one network get as much as two of different networks. */
export const NETWORK_FACTOR = 3
/** Least time that the node waits for a client before the request can lose its place. {@link UNREAD_SHARE} is the exception. */
export const PATIENCE_MS = 1_000
/**
 * Share of all places that a network may hold with requests whose bodies are missing. Beyond it, such a request gives
 * way as soon as its place is needed: an attacker would otherwise drop and repeat it just before {@link PATIENCE_MS}.
 */
export const UNREAD_SHARE = 1 / 64

/** Kinds of requests of an address that are counted together. Requests of the operator have no bound by address. */
type Purse = 'stranger' | 'kept' | 'health'

/** A request that holds a place, or asks for one. */
export interface Guest {
  readonly holder: Holder
  /** Its kind at the last judgement. */
  kind: PlaceKind
  /** What the node waits for: the client's body, or the client to take the answer. Null while the node works. */
  waitsFor: 'body' | 'reader' | null
  waitsSinceMs: number
}

/** Why a request gets no place: none is left for its kind, or its address or its network has too many. */
export type NoPlace = 'full' | 'crowded' | 'crowded-network'

interface Group {
  readonly held: Record<Purse, number>
  /** The longest waiting is in front. */
  readonly body: Set<Guest>
  readonly reader: Set<Guest>
}

interface Network extends Group {
  readonly addresses: Map<string, Group>
}

/**
 * The requests under way. An address may hold no more places than are left, and a network no more than a few times that.
 * Where a bound would be exceeded, a request that waits for its client gives way: places are for work, not for clients that
 * neither send nor read.
 */
export class Places {
  readonly #max: number
  readonly #unreadMax: number
  readonly #giveUp: (guest: Guest) => void
  readonly #networks = new Map<string, Network>()
  #taken = 0

  /** `giveUp` ends a request. It calls {@link leave} before it returns, unless the request must keep its place. */
  constructor(max: number, giveUp: (guest: Guest) => void) {
    this.#max = max
    this.#unreadMax = Math.ceil(max * UNREAD_SHARE)
    this.#giveUp = giveUp
  }

  get taken(): number {
    return this.#taken
  }

  /** Takes a place without a check. {@link judge} checks. */
  enter(guest: Guest): void {
    this.#taken += 1
    const purse = purseOf(guest.kind)
    if (purse === null) return
    for (const group of this.#groupsOf(guest)) {
      group.held[purse] += 1
      if (guest.waitsFor !== null) group[guest.waitsFor].add(guest)
    }
  }

  /** Recounts an entered request as `kind`, and says why it may not stay; null if it may. */
  judge(guest: Guest, kind: PlaceKind, nowMs: number): NoPlace | null {
    this.#recount(guest, kind)
    let lack = this.#lackOf(guest)
    while (lack !== null && this.#makesRoom(lack, guest, nowMs)) lack = this.#lackOf(guest)
    return lack
  }

  waits(guest: Guest, nowMs: number): void {
    guest.waitsFor = 'reader'
    guest.waitsSinceMs = nowMs
    for (const group of this.#groupsOf(guest)) {
      forget(group, guest)
      if (purseOf(guest.kind) !== null) group.reader.add(guest)
    }
  }

  works(guest: Guest): void {
    guest.waitsFor = null
    for (const group of this.#groupsOf(guest)) forget(group, guest)
  }

  /** Must be called once only. */
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

  /**
   * Ends a request that waits for its client: of the crowded address or network, else of the network with most. Returns
   * whether a place got free.
   */
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

  /**
   * A request of the network with most missing bodies, if these are too many, else of the network with most requests that
   * wait. For `crowded-network`, both can only be the guest's own network.
   */
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

/** The largest group; of equally large ones, the earliest in `groups`. Undefined if all sizes are 0. */
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
