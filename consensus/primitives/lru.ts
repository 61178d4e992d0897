/** A map that keeps its `limit` most recently used entries. */
export class LruMap<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #limit: number
  /**
   * Stands before the oldest entry, for all before it are gone. A new iterator would go over the gaps of those each time.
   */
  #oldest: Iterator<K> = this.#entries.keys()

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#limit) return
    const oldest = this.#oldest.next()
    if (!oldest.done) this.#entries.delete(oldest.value)
  }

  delete(key: K): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#oldest = this.#entries.keys()
  }

  get size(): number {
    return this.#entries.size
  }
}
