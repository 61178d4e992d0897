import type { Clock } from '../../../consensus/chain/ports.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'

/** Wrong passwords of an address before it must wait. Each further one doubles the wait. */
const FREE = 5
const WAIT_MS_MIN = 1_000
const WAIT_MS_MAX = 900_000
/** An address without a try for this long begins anew. */
const FORGET_MS = 3_600_000
const ADDRESSES_MAX = 5_000
/** Wrong passwords of all addresses within an hour. After so many, only known addresses may try. */
const ALL_MAX = 300
/** Most known addresses, which are those that gave the right password. */
const KNOWN_MAX = 16
/** This machine, as `addressKey` writes it. */
const LOOPBACK = /^(127(\.\d{1,3}){3}|0:0:0:0::\/64)$/

interface Failures {
  readonly count: number
  readonly lastMs: number
}

/**
 * Slows down guesses of the operator's password, per address and in all. An address that gave the right password becomes
 * known: guesses from other addresses do not keep it out. This machine counts as known.
 */
export class SignInGuard {
  readonly #clock: Clock
  /** Failures by address, the address that was quiet longest first. */
  readonly #byAddress = new Map<string, Failures>()
  readonly #known = new LruMap<string, true>(KNOWN_MAX)
  #hour = { count: 0, beganMs: 0 }

  constructor(clock: Clock) {
    this.#clock = clock
  }

  waitSeconds(address: string): number {
    const nowMs = this.#clock.now()
    const { count, lastMs } = this.#byAddress.get(address) ?? { count: 0, lastMs: 0 }
    const waitMs = count < FREE ? 0 : Math.min(WAIT_MS_MAX, WAIT_MS_MIN * 2 ** Math.min(count - FREE, 20))
    const hourMs = this.#hour.beganMs + FORGET_MS - nowMs
    const ofAllMs = this.#hour.count >= ALL_MAX && !this.#isKnown(address) ? hourMs : 0
    return Math.max(0, Math.ceil((lastMs + waitMs - nowMs) / 1_000), Math.ceil(ofAllMs / 1_000))
  }

  /** Counts a wrong password. Call it before the check; {@link succeeded} takes it back. */
  failed(address: string): void {
    const nowMs = this.#clock.now()
    for (const [name, { lastMs }] of this.#byAddress) {
      if (nowMs - lastMs < FORGET_MS && this.#byAddress.size < ADDRESSES_MAX) break
      this.#byAddress.delete(name)
    }
    const { count } = this.#byAddress.get(address) ?? { count: 0 }
    this.#byAddress.delete(address)
    this.#byAddress.set(address, { count: count + 1, lastMs: nowMs })
    const isNew = nowMs - this.#hour.beganMs >= FORGET_MS
    this.#hour = isNew ? { count: 1, beganMs: nowMs } : { ...this.#hour, count: this.#hour.count + 1 }
  }

  /** Takes back the last count. The address becomes known. */
  succeeded(address: string): void {
    this.#byAddress.delete(address)
    this.#known.set(address, true)
    this.#takeBack()
  }

  /** Takes back the last count: the password was not checked. */
  unseen(address: string): void {
    const known = this.#byAddress.get(address)
    if (known !== undefined) this.#byAddress.set(address, { ...known, count: Math.max(0, known.count - 1) })
    this.#takeBack()
  }

  #takeBack(): void {
    this.#hour = { ...this.#hour, count: Math.max(0, this.#hour.count - 1) }
  }

  #isKnown(address: string): boolean {
    return LOOPBACK.test(address) || this.#known.get(address) === true
  }
}
