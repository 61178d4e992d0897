import { compare, fromHex, toHex } from '../primitives/bytes.ts'

/** One write of an atomic batch; without a value the key is deleted. */
export interface Write {
  readonly key: Uint8Array
  readonly value?: Uint8Array
}

/** A key with its value. */
export type KeyValueEntry = readonly [Uint8Array, Uint8Array]

/**
 * What a chain needs from a disk: ordered byte keys, synchronous reads of one consistent state, atomic durable batches.
 * Reads show the state before a batch until `onDurable` is called, and the state after it from then on.
 */
export interface KeyValueStore {
  get(key: Uint8Array): Uint8Array | undefined
  /** Entries with the prefix, in key order. */
  entries(prefix: Uint8Array): AsyncIterable<KeyValueEntry> | Iterable<KeyValueEntry>
  /** Writes all or nothing, flushed to the disk before `onDurable` runs. Rejects with a fault's details on failure. */
  batch(writes: readonly Write[], onDurable: () => void): Promise<void>
}

/** A store in memory, for tests and simulations. */
export class MemoryKeyValueStore implements KeyValueStore {
  readonly #entries = new Map<string, Uint8Array>()

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#entries.get(toHex(key))
  }

  *entries(prefix: Uint8Array): Iterable<KeyValueEntry> {
    const start = toHex(prefix)
    const found = [...this.#entries].filter(([key]) => key.startsWith(start))
    const decoded = found.map(([key, value]) => [fromHex(key), value] as const)
    yield* decoded.sort(([a], [b]) => compare(a, b))
  }

  async batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    for (const { key, value } of writes) {
      if (value === undefined) this.#entries.delete(toHex(key))
      else this.#entries.set(toHex(key), value)
    }
    onDurable()
  }
}
