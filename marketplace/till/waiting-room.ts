import type { Timers } from '../../consensus/chain/ports.ts'
import { type Holder, heldTooMany } from '../../consensus/primitives/fair-share.ts'

/** Calls that may wait at once. Waiting costs a caller nothing and holds a request open. */
export const WAITING_MAX = 256
/** How many of these calls may wait for one payment. */
export const WAITING_PER_PAYMENT_MAX = 64
/** Clients whose address is not known count as one. */
const UNTOLD: Holder = { network: '', address: '' }

/** What a call waits for, and the client that sent it. */
export interface Waiting {
  readonly paymentId: string
  readonly from: Holder | undefined
}

/** Resolves when the room is woken, or after `ms`: whether the call still has its place. */
export type Stay = (ms: number) => Promise<boolean>

interface Guest {
  readonly paymentId: string
  readonly holder: Holder
  readonly leave: () => void
}

/** Calls that wait for the chain or for another call's work. If all places are taken, {@link heldTooMany} chooses a call to give up. */
export class WaitingRoom {
  readonly #timers: Timers
  readonly #guests = new Set<Guest>()
  readonly #wakers = new Set<() => void>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Null if there is no place for the work, or if it loses its place. */
  async run<T>({ paymentId, from = UNTOLD }: Waiting, work: (stay: Stay) => Promise<T>): Promise<T | null> {
    if (!this.#makesRoom(paymentId, from)) return null
    const lost = Promise.withResolvers<null>()
    let isLost = false
    let wake = (): void => {}
    const leave = (): void => {
      isLost = true
      this.#guests.delete(guest)
      lost.resolve(null)
      wake()
    }
    const stay = async (ms: number): Promise<boolean> => {
      if (!isLost) await this.#pause(ms, (done) => (wake = done))
      return !isLost
    }
    const guest: Guest = { paymentId, holder: from, leave }
    this.#guests.add(guest)
    try {
      return await Promise.race([work(stay), lost.promise])
    } finally {
      this.#guests.delete(guest)
    }
  }

  /** Resolves when the room is woken, or when the time is over. */
  pause(ms: number): Promise<void> {
    return this.#pause(ms, () => {})
  }

  /** Makes all waiting calls look again. */
  wake(): void {
    for (const waker of [...this.#wakers]) waker()
  }

  #pause(ms: number, begun: (wake: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel()
        this.#wakers.delete(done)
        resolve()
      }
      const cancel = this.#timers.after(ms, done)
      this.#wakers.add(done)
      begun(done)
    })
  }

  #makesRoom(paymentId: string, from: Holder): boolean {
    const same = [...this.#guests].filter((guest) => guest.paymentId === paymentId)
    const isCrowded = same.length >= WAITING_PER_PAYMENT_MAX
    if (!isCrowded && this.#guests.size < WAITING_MAX) return true
    const last = heldTooMany(isCrowded ? same : this.#guests, from).at(-1)
    last?.leave()
    return last !== undefined
  }
}
