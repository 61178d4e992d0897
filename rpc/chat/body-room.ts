/** Bodies up to this length are as those of any route, whose number is bounded with the requests at once. */
const SMALL_BYTES = 1_048_576
/** Bytes of longer bodies at once: each is in memory a few times over while it is read, checked and passed on. */
const BYTES_MAX = 96 * 1_048_576
/** Of one owner of keys. */
const OWNER_BYTES_MAX = 40 * 1_048_576

/** Room for bodies with pictures in them. */
export class BodyRoom {
  readonly #owners = new Map<string, number>()
  #bytes = 0

  /** Room for a body until what is given back is called, once or more; null where there is none now. */
  enter(owner: string, bytes: number): (() => void) | null {
    if (bytes <= SMALL_BYTES) return () => {}
    const own = (this.#owners.get(owner) ?? 0) + bytes
    if (own > OWNER_BYTES_MAX || this.#bytes + bytes > BYTES_MAX) return null
    this.#owners.set(owner, own)
    this.#bytes += bytes
    let isInside = true
    return () => {
      if (isInside) this.#leave(owner, bytes)
      isInside = false
    }
  }

  #leave(owner: string, bytes: number): void {
    this.#bytes -= bytes
    const left = (this.#owners.get(owner) ?? 0) - bytes
    if (left > 0) this.#owners.set(owner, left)
    else this.#owners.delete(owner)
  }
}
