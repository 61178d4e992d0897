interface Entry<K, V> {
  readonly key: K
  value: V
  older: Entry<K, V> | undefined
  newer: Entry<K, V> | undefined
}

/**
 * Keeps the `limit` most recently used entries. A linked list holds the order of use. The order of the `Map` itself
 * would not do: moving an entry to its end leaves a gap at each read, and an iterator kept open to skip the gaps keeps
 * every table that the `Map` has outgrown.
 */
export class LruMap<K, V> {
  readonly #entries = new Map<K, Entry<K, V>>()
  readonly #limit: number
  #oldest: Entry<K, V> | undefined
  #newest: Entry<K, V> | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#refresh(entry)
    return entry.value
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  set(key: K, value: V): void {
    const known = this.#entries.get(key)
    if (known !== undefined) {
      known.value = value
      this.#refresh(known)
      return
    }
    const entry = { key, value, older: undefined, newer: undefined }
    this.#entries.set(key, entry)
    this.#append(entry)
    if (this.#entries.size > this.#limit && this.#oldest !== undefined) this.delete(this.#oldest.key)
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#unlink(entry)
  }

  clear(): void {
    this.#entries.clear()
    this.#oldest = undefined
    this.#newest = undefined
  }

  get size(): number {
    return this.#entries.size
  }

  #refresh(entry: Entry<K, V>): void {
    if (entry === this.#newest) return
    this.#unlink(entry)
    this.#append(entry)
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest
    entry.newer = undefined
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
  }

  #unlink(entry: Entry<K, V>): void {
    if (entry.older === undefined) this.#oldest = entry.newer
    else entry.older.newer = entry.newer
    if (entry.newer === undefined) this.#newest = entry.older
    else entry.newer.older = entry.older
  }
}

/** Keeps the `limit` newest members. */
export class LruSet<T> {
  readonly #members: LruMap<T, true>

  constructor(limit: number) {
    this.#members = new LruMap(limit)
  }

  has(member: T): boolean {
    return this.#members.has(member)
  }

  add(member: T): void {
    this.#members.set(member, true)
  }

  delete(member: T): void {
    this.#members.delete(member)
  }

  get size(): number {
    return this.#members.size
  }
}
