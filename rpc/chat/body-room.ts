import { type Share, SharedRoom } from '../../marketplace/ports/shared-room.ts'

/** Bodies up to this length need no room here: the limit on requests at once bounds them, as on any route. */
const SMALL_BYTES = 1_048_576
/** Most bytes of longer bodies at once. A body is in memory several times while it is read, checked and passed on. */
const BYTES_MAX = 96 * 1_048_576
/** Most bytes of longer bodies of one owner of keys at once. */
const OWNER_BYTES_MAX = 40 * 1_048_576
/** A body that has not arrived after this time may lose its room to another. */
const PATIENCE_MS = 1_000

const NOTHING = { leave: () => {}, shrink: () => {}, yields: () => {}, yieldsIf: () => {} }
const SMALL: Share = { ...NOTHING, wasLate: false, isInTheWay: () => false }

/** A body that arrives. */
export interface Arrival {
  readonly bytes: number
  readonly received: () => number
  readonly withinMs: number
  /** Whether the owner counted as late when the body came. */
  readonly wasLate: boolean
}

/** Limits the memory of long request bodies, such as those with pictures. */
export class BodyRoom {
  readonly #room: SharedRoom
  readonly #now: () => number

  /** `now` is a clock that never goes back, ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#room = new SharedRoom({ max: BYTES_MAX, ownMax: OWNER_BYTES_MAX, patienceMs: PATIENCE_MS }, now)
  }

  /** Room for a body; null if there is none now. */
  enter(owner: string, bytes: number): Share | null {
    return this.isShort(bytes) ? SMALL : this.#room.enter(owner, bytes)
  }

  isShort(bytes: number): boolean {
    return bytes <= SMALL_BYTES
  }

  /** Returns a check whether a body arrives too slowly to be complete in time. */
  paceOf({ bytes, received, withinMs, wasLate }: Arrival): () => boolean {
    const beganMs = this.#now() + (wasLate ? 0 : PATIENCE_MS)
    return () => received() * withinMs < bytes * (this.#now() - beganMs)
  }
}
