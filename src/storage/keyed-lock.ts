/** Runs work with the same key in sequence, and work with different keys concurrently. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    const turn = before.then(work, work)
    this.#tails.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#tails.get(key) === turn) this.#tails.delete(key)
    }
  }
}
