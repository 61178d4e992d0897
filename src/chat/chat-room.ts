/** Lets in so many chats at once, until it is closed. */
export class ChatRoom {
  readonly #max: number
  /** What ends each chat that is inside. */
  readonly #inside = new Set<() => void>()
  #isClosed = false

  constructor(max: number) {
    this.#max = max
  }

  /** Chats that are answered now. */
  get inside(): number {
    return this.#inside.size
  }

  /**
   * Room for one more until what is given back is called; null where there is none. `end` is called where the room is
   * closed before, or is already. */
  readonly enter = (end: () => void = () => {}): (() => void) | null => {
    if (this.#isClosed) end()
    if (this.#isClosed || this.#inside.size >= this.#max) return null
    // One of its own, whatever came.
    const own = (): void => end()
    this.#inside.add(own)
    return () => void this.#inside.delete(own)
  }

  /** Ends every chat, and lets no more in. */
  close(): void {
    this.#isClosed = true
    for (const end of this.#inside) end()
  }
}
