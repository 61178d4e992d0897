import { type Holder, heldTooMany } from '../consensus/primitives/fair-share.ts'
import type { Address } from '../consensus/primitives/ids.ts'
import type { JobListener, Mined, Seat } from './job-book.ts'

/** Addresses that are mined for at once. */
export const REMOTE_ADDRESSES_MAX = 64
/** Clients that mine for them. */
export const REMOTE_SEATS_MAX = 1_024
/** What a template knows that has seen no admission, not even the number 0. */
export const NOTHING = -1

/** The clients that mine from outside, and the addresses that they mine for. The one with most seats makes room for others. */
export class Seats {
  readonly #mined = new Map<Address, Mined>()
  /** By address and client, least recently used first. */
  readonly #seats = new Map<string, Seat>()
  readonly #onGivenUp: (seat: Seat) => void

  /** `onGivenUp` hears of seats that were dropped to make room. */
  constructor(onGivenUp: (seat: Seat) => void) {
    this.#onGivenUp = onGivenUp
  }

  /** All seats, least recently used first. */
  get all(): readonly Seat[] {
    return [...this.#seats.values()]
  }

  /** The addresses that are mined for. */
  get mined(): readonly Mined[] {
    return [...this.#mined.values()]
  }

  /** Whether an address is mined for still. */
  has(mined: Mined): boolean {
    return this.#mined.get(mined.address) === mined
  }

  /** The seat of a client for an address, used now; undefined where there is none for it. */
  take(address: Address, holder: Holder, nowMs: number): Seat | undefined {
    const name = nameOf(address, holder)
    const seat = this.#seats.get(name) ?? this.#newSeat(address, holder)
    if (seat === undefined) return undefined
    seat.usedMs = nowMs
    this.#seats.delete(name)
    this.#seats.set(name, seat)
    return seat
  }

  /** The address is mined for until its last client is gone. */
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

  /** A seat of the holder with too many, else one without a listener: of the asker's own, where he has any. */
  #toGiveUp(holder: Holder): Seat | undefined {
    const seats = this.all
    const theirs = heldTooMany(seats, holder)
    if (theirs.length > 0) return leastShared(theirs.filter(isUnused))[0] ?? leastShared(theirs).at(-1)
    const unused = seats.filter(isUnused)
    const own = unused.filter((seat) => seat.holder.network === holder.network)
    return leastShared(own.length > 0 ? own : unused)[0]
  }
}

/** Whether nothing listens at a seat. */
export function isUnused({ listeners }: Seat): boolean {
  return listeners.size === 0
}

/** All that listen to the jobs of an address. */
export function listenersOf({ seats }: Mined): readonly JobListener[] {
  return [...seats].flatMap(({ listeners }) => [...listeners])
}

/** Those whose address the fewest others mine for: giving one up makes room soonest. */
function leastShared(seats: readonly Seat[]): readonly Seat[] {
  const fewest = Math.min(...seats.map(({ mined }) => mined.seats.size))
  return seats.filter(({ mined }) => mined.seats.size === fewest)
}

function nameOf(address: Address, { address: client }: Holder): string {
  return `${address} ${client}`
}
