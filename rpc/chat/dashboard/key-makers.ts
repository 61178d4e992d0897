import type { Clock } from '../../../consensus/chain/ports.ts'
import type { Holder } from '../../../consensus/primitives/fair-share.ts'

/** Most keys of wallets that one address may make within a day. */
export const KEYS_A_DAY_MAX = 100
/** Most keys that all addresses of a network may make, since a client may have many addresses. */
export const NETWORK_KEYS_A_DAY_MAX = 400
const DAY_MS = 86_400_000
const ADDRESSES_MAX = 20_000

interface Day {
  readonly count: number
  readonly endsMs: number
}

/**
 * Counts keys of wallets by the address and network that make them. Wallets cost nothing: without a limit one client
 * could take all keys that a node keeps, and their allowances.
 */
export class KeyMakers {
  readonly #addresses: Days
  readonly #networks: Days

  constructor(clock: Clock) {
    this.#addresses = new Days(clock, KEYS_A_DAY_MAX)
    this.#networks = new Days(clock, NETWORK_KEYS_A_DAY_MAX)
  }

  waitSeconds({ address, network }: Holder): number {
    return Math.max(this.#addresses.waitSeconds(address), this.#networks.waitSeconds(network))
  }

  made({ address, network }: Holder): void {
    this.#addresses.made(address)
    this.#networks.made(network)
  }
}

/** Counts by name; each name has a day of its own. */
class Days {
  readonly #clock: Clock
  readonly #max: number
  /** In the order in which their days began. */
  readonly #days = new Map<string, Day>()

  constructor(clock: Clock, max: number) {
    this.#clock = clock
    this.#max = max
  }

  waitSeconds(name: string): number {
    const { count, endsMs } = this.#days.get(name) ?? { count: 0, endsMs: 0 }
    return count < this.#max ? 0 : Math.max(0, Math.ceil((endsMs - this.#clock.now()) / 1_000))
  }

  made(name: string): void {
    const nowMs = this.#clock.now()
    for (const [one, { endsMs }] of this.#days) {
      if (endsMs > nowMs && this.#days.size < ADDRESSES_MAX) break
      this.#days.delete(one)
    }
    const { count, endsMs } = this.#days.get(name) ?? { count: 0, endsMs: nowMs + DAY_MS }
    this.#days.set(name, { count: count + 1, endsMs })
  }
}
