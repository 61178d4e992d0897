import type { Clock } from '../../consensus/chain/ports.ts'
import { type Holder, NETWORK_CLIENTS } from '../../consensus/primitives/fair-share.ts'

/** Recent events of clients and of their networks: one client may have many addresses in a network. */
export class ClientCounts {
  readonly #addresses: RecentCounts
  readonly #networks: RecentCounts

  constructor(clock: Clock, bounds: CountBounds) {
    this.#addresses = new RecentCounts(clock, bounds)
    this.#networks = new RecentCounts(clock, { ...bounds, most: NETWORK_CLIENTS * bounds.most })
  }

  add({ address, network }: Holder): void {
    this.#addresses.add(address)
    if (network !== address) this.#networks.add(network)
  }

  /** Recent events of a client, or those of its network divided by {@link NETWORK_CLIENTS} and rounded up, whichever is more. */
  count({ address, network }: Holder): number {
    const ofAddress = this.#addresses.count(address)
    return network === address
      ? ofAddress
      : Math.max(ofAddress, Math.ceil(this.#networks.count(network) / NETWORK_CLIENTS))
  }

  /**
   * Milliseconds until a client has fewer recent events than `borne` plus its events in `good`, and its network fewer than {@link
   * NETWORK_CLIENTS} times `borne` plus its own in `good`.
   */
  waitMs({ address, network }: Holder, borne: number, good: ClientCounts | null = null): number {
    const addressMs = this.#addresses.waitMs(address, borne + (good === null ? 0 : good.#addresses.count(address)))
    if (network === address) return addressMs
    const ofNetwork = NETWORK_CLIENTS * borne + (good === null ? 0 : good.#networks.count(network))
    return Math.max(addressMs, this.#networks.waitMs(network, ofNetwork))
  }

  /** How many more events make {@link waitMs} more than 0. */
  room({ address, network }: Holder, borne: number, good: ClientCounts): ClientRoom {
    return {
      ofAddress: borne + good.#addresses.count(address) - this.#addresses.count(address),
      ofNetwork: NETWORK_CLIENTS * borne + good.#networks.count(network) - this.#networks.count(network),
    }
  }
}

/** How many of something a client may have, and how many its network. */
export interface ClientRoom {
  readonly ofAddress: number
  readonly ofNetwork: number
}

/** What clients and their networks hold at the moment. */
export class ClientTally {
  readonly #addresses = new Map<string, number>()
  readonly #networks = new Map<string, number>()

  add({ address, network }: Holder, more: 1 | -1): void {
    addTo(this.#addresses, address, more)
    if (network !== address) addTo(this.#networks, network, more)
  }

  /** What a client holds, or what its network holds divided by {@link NETWORK_CLIENTS} and rounded down, whichever is more. */
  shareOf({ address, network }: Holder): number {
    const ofNetwork = network === address ? 0 : (this.#networks.get(network) ?? 0)
    return Math.max(this.#addresses.get(address) ?? 0, Math.floor(ofNetwork / NETWORK_CLIENTS))
  }

  exceeds({ address, network }: Holder, { ofAddress, ofNetwork }: ClientRoom): boolean {
    if ((this.#addresses.get(address) ?? 0) > ofAddress) return true
    return network !== address && (this.#networks.get(network) ?? 0) > ofNetwork
  }
}

/** A name at 0 is forgotten. */
export function addTo(counts: Map<string, number>, name: string, more: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + more
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}

/** How many events are counted for a name, and for how long each counts. */
export interface CountBounds {
  readonly most: number
  readonly withinMs: number
  /** Maximum names that are remembered; those that were counted longest ago are forgotten first. */
  readonly namesMax: number
}

/** Recent events by name, in bounded memory. */
export class RecentCounts {
  readonly #clock: Clock
  readonly #bounds: CountBounds
  /** In the order in which they were counted. */
  readonly #timesMs = new Map<string, number[]>()

  constructor(clock: Clock, bounds: CountBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  add(name: string): void {
    const times = this.#recent(name)
    times.push(this.#clock.now())
    if (times.length > this.#bounds.most) times.shift()
    this.#timesMs.delete(name)
    this.#timesMs.set(name, times)
    if (this.#timesMs.size <= this.#bounds.namesMax) return
    const [oldest] = this.#timesMs.keys()
    this.#timesMs.delete(oldest as string)
  }

  /** At most `most`. */
  count(name: string): number {
    return this.#recent(name).length
  }

  /** Milliseconds until a name has fewer than `most` recent events. `most` must not exceed the bound of the counts. */
  waitMs(name: string, most = this.#bounds.most): number {
    const recent = this.#recent(name)
    if (recent.length < most) return 0
    return Math.max(1, (recent[recent.length - most] as number) + this.#bounds.withinMs - this.#clock.now())
  }

  /** Forgets old ones in place: a busy caller is counted with each of its calls. */
  #recent(name: string): number[] {
    const times = this.#timesMs.get(name)
    if (times === undefined) return []
    const sinceMs = this.#clock.now() - this.#bounds.withinMs
    const old = times.findIndex((ms) => ms > sinceMs)
    if (old !== 0) times.splice(0, old < 0 ? times.length : old)
    return times
  }
}
