import { type Share, SharedRoom } from '../../marketplace/ports/shared-room.ts'

/** Bodies up to this length are as those of any route, whose number is bounded with the requests at once. */
const SMALL_BYTES = 1_048_576
/** Bytes of longer bodies at once: each is in memory a few times over while it is read, checked and passed on. */
const BYTES_MAX = 96 * 1_048_576
/** Of one owner of keys. */
const OWNER_BYTES_MAX = 40 * 1_048_576
/** A body that is not here after this makes room for others. */
const PATIENCE_MS = 1_000

const NOTHING = { leave: () => {}, shrink: () => {}, yields: () => {}, yieldsIf: () => {} }
const SMALL: Share = { ...NOTHING, wasLate: false, isInTheWay: () => false }

/** A body that arrives. */
export interface Arrival {
  readonly bytes: number
  /** Bytes that are here. */
  readonly received: () => number
  /** Time in which a body must arrive, ms. */
  readonly withinMs: number
  /** Whether its caller broke off another lately. */
  readonly wasLate: boolean
}

/** Room for bodies with pictures in them. */
export class BodyRoom {
  readonly #room: SharedRoom
  readonly #now: () => number

  /** `now` is a clock that never goes back, ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#room = new SharedRoom({ max: BYTES_MAX, ownMax: OWNER_BYTES_MAX, patienceMs: PATIENCE_MS }, now)
  }

  /** Room for a body; null where there is none now. */
  enter(owner: string, bytes: number): Share | null {
    return this.isShort(bytes) ? SMALL : this.#room.enter(owner, bytes)
  }

  /** Whether there is always room for it. */
  isShort(bytes: number): boolean {
    return bytes <= SMALL_BYTES
  }

  /** Tells whether a body comes too slowly to be here in time. */
  paceOf({ bytes, received, withinMs, wasLate }: Arrival): () => boolean {
    const beganMs = this.#now() + (wasLate ? 0 : PATIENCE_MS)
    return () => received() * withinMs < bytes * (this.#now() - beganMs)
  }
}
