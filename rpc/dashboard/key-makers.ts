import type { Clock } from '../../consensus/chain/ports.ts'

/** Keys of wallets that are made from one address within a day. */
export const KEYS_A_DAY_MAX = 100
const DAY_MS = 86_400_000
const ADDRESSES_MAX = 20_000

interface Day {
  readonly count: number
  readonly endsMs: number
}

/**
 * Counts keys of wallets by the address that they are made from. A wallet costs nothing: without that, one address would soon have
 * all the keys that a node keeps, and the allowances that go with them.
 */
export class KeyMakers {
  readonly #clock: Clock
  /** In the order in which their days began. */
  readonly #days = new Map<string, Day>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Seconds until an address may make a key, 0 where it may now. */
  waitSeconds(address: string): number {
    const { count, endsMs } = this.#days.get(address) ?? { count: 0, endsMs: 0 }
    return count < KEYS_A_DAY_MAX ? 0 : Math.max(0, Math.ceil((endsMs - this.#clock.now()) / 1_000))
  }

  /** Counts a key that was made. */
  made(address: string): void {
    const nowMs = this.#clock.now()
    for (const [name, { endsMs }] of this.#days) {
      if (endsMs > nowMs && this.#days.size < ADDRESSES_MAX) break
      this.#days.delete(name)
    }
    const { count, endsMs } = this.#days.get(address) ?? { count: 0, endsMs: nowMs + DAY_MS }
    this.#days.set(address, { count: count + 1, endsMs })
  }
}
