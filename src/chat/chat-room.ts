/** Limits concurrent chats, until it is closed. */
export class ChatRoom {
  readonly #max: number
  readonly #inside = new Set<() => void>()
  #isClosed = false

  constructor(max: number) {
    this.#max = max
  }

  get inside(): number {
    return this.#inside.size
  }

  /**
   * Returns a function that frees the slot; null if no slot is free. `end` is called when the room closes, or at once if
   * it is closed.
   */
  readonly enter = (end: () => void = () => {}): (() => void) | null => {
    if (this.#isClosed) end()
    if (this.#isClosed || this.#inside.size >= this.#max) return null
    // Callers may pass the same function twice.
    const own = (): void => end()
    this.#inside.add(own)
    return () => void this.#inside.delete(own)
  }

  close(): void {
    this.#isClosed = true
    for (const end of this.#inside) end()
  }
}
