import { type Holder, heldTooMany } from '../consensus/primitives/fair-share.ts'
import type { Address } from '../consensus/primitives/ids.ts'
import type { JobListener, Mined, Seat } from './job-book.ts'

/** Most addresses with external miners at the same time. */
export const REMOTE_ADDRESSES_MAX = 64
/** Most clients over all addresses. */
export const REMOTE_SEATS_MAX = 1_024
/** `Mined.knows` without a template from the mempool: below any count of admissions, even 0. */
export const NOTHING = -1

/** The external clients and their addresses. */
export class Seats {
  readonly #mined = new Map<Address, Mined>()
  /** By address and client, least recently used first. */
  readonly #seats = new Map<string, Seat>()
  readonly #onGivenUp: (seat: Seat) => void

  /** `onGivenUp` is called for seats dropped to make room. */
  constructor(onGivenUp: (seat: Seat) => void) {
    this.#onGivenUp = onGivenUp
  }

  get all(): readonly Seat[] {
    return [...this.#seats.values()]
  }

  get mined(): readonly Mined[] {
    return [...this.#mined.values()]
  }

  has(mined: Mined): boolean {
    return this.#mined.get(mined.address) === mined
  }

  /** The seat of a client for an address, marked as used; undefined if there is no room. */
  take(address: Address, holder: Holder, nowMs: number): Seat | undefined {
    const name = nameOf(address, holder)
    const seat = this.#seats.get(name) ?? this.#newSeat(address, holder)
    if (seat === undefined) return undefined
    seat.usedMs = nowMs
    this.#seats.delete(name)
    this.#seats.set(name, seat)
    return seat
  }

  /** Removes a seat. Its address goes with its last seat. */
  drop(seat: Seat): void {
    const { mined, holder } = seat
    this.#seats.delete(nameOf(mined.address, holder))
    mined.seats.delete(seat)
    if (mined.seats.size === 0) this.#mined.delete(mined.address)
  }

  #newSeat(address: Address, holder: Holder): Seat | undefined {
    while (this.#isFullFor(address)) {
      const over = this.#toGiveUp(holder)
      if (over === undefined) return undefined
      this.drop(over)
      this.#onGivenUp(over)
    }
    const mined = this.#mined.get(address) ?? { address, seats: new Set(), jobs: [], owed: true, knows: NOTHING }
    this.#mined.set(address, mined)
    const seat: Seat = { mined, holder, listeners: new Set(), usedMs: 0 }
    mined.seats.add(seat)
    return seat
  }

  #isFullFor(address: Address): boolean {
    const full = this.#mined.size >= REMOTE_ADDRESSES_MAX && !this.#mined.has(address)
    return full || this.#seats.size >= REMOTE_SEATS_MAX
  }

  /**
   * A seat to drop: one of a client or network that holds too many, else an unused one, of the newcomer's own network if
   * possible.
   */
  #toGiveUp(holder: Holder): Seat | undefined {
    const seats = this.all
    const theirs = heldTooMany(seats, holder)
    if (theirs.length > 0) return leastShared(theirs.filter(isUnused))[0] ?? leastShared(theirs).at(-1)
    const unused = seats.filter(isUnused)
    const own = unused.filter((seat) => seat.holder.network === holder.network)
    return leastShared(own.length > 0 ? own : unused)[0]
  }
}

/** Whether the seat has no listeners. */
export function isUnused({ listeners }: Seat): boolean {
  return listeners.size === 0
}

/** All listeners of an address. */
export function listenersOf({ seats }: Mined): readonly JobListener[] {
  return [...seats].flatMap(({ listeners }) => [...listeners])
}

/** The seats whose address has the fewest clients: dropping them frees an address soonest. */
function leastShared(seats: readonly Seat[]): readonly Seat[] {
  const fewest = Math.min(...seats.map(({ mined }) => mined.seats.size))
  return seats.filter(({ mined }) => mined.seats.size === fewest)
}

function nameOf(address: Address, { address: client }: Holder): string {
  return `${address} ${client}`
}
