/** Limits concurrent chats, until it is closed. */
export class ChatRoom {
  readonly #max: number
  /** Callbacks that end each running chat. */
  readonly #inside = new Set<() => void>()
  #isClosed = false

  constructor(max: number) {
    this.#max = max
  }

  /** Number of running chats. */
  get inside(): number {
    return this.#inside.size
  }

  /**
   * A slot for a chat, returned by calling the result. Null if there is none. `end` is called when the room closes, or
   * at once if it is closed.
   */
  readonly enter = (end: () => void = () => {}): (() => void) | null => {
    if (this.#isClosed) end()
    if (this.#isClosed || this.#inside.size >= this.#max) return null
    // A new function for each call, since callers may pass the same one twice.
    const own = (): void => end()
    this.#inside.add(own)
    return () => void this.#inside.delete(own)
  }

  /** Ends every chat and admits no more. */
  close(): void {
    this.#isClosed = true
    for (const end of this.#inside) end()
  }
}
