import type { Clock } from '../../consensus/chain/ports.ts'
import { type Holder, NETWORK_CLIENTS } from '../../consensus/primitives/fair-share.ts'
import { type CountBounds, RecentCounts } from './recent-counts.ts'

/** Counts what happened to clients lately, and to the networks that they are in, where one client may have many addresses. */
export class ClientCounts {
  readonly #addresses: RecentCounts
  readonly #networks: RecentCounts

  constructor(clock: Clock, bounds: CountBounds) {
    this.#addresses = new RecentCounts(clock, bounds)
    this.#networks = new RecentCounts(clock, { ...bounds, most: NETWORK_CLIENTS * bounds.most })
  }

  /** Counts it once more. */
  add({ address, network }: Holder): void {
    this.#addresses.add(address)
    if (network !== address) this.#networks.add(network)
  }

  /** How often it has happened to a client lately. */
  count({ address }: Holder): number {
    return this.#addresses.count(address)
  }

  /**
   * Milliseconds until it has happened to a client less often than is borne, beside as often as `good` has, and to its network less
   * often than is borne of a few clients; 0 where that is so.
   */
  waitMs({ address, network }: Holder, borne: number, good: ClientCounts | null = null): number {
    const addressMs = this.#addresses.waitMs(address, borne + (good === null ? 0 : good.#addresses.count(address)))
    if (network === address) return addressMs
    const ofNetwork = NETWORK_CLIENTS * borne + (good === null ? 0 : good.#networks.count(network))
    return Math.max(addressMs, this.#networks.waitMs(network, ofNetwork))
  }
}
