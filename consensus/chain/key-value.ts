import { concat, fromHex, toHex } from '../primitives/bytes.ts'

/** Without a value the key is deleted. */
export interface Write {
  readonly key: Uint8Array
  readonly value?: Uint8Array
}

/** A key with its value. */
export type KeyValueEntry = readonly [Uint8Array, Uint8Array]

/** Keys from `gte` to before `lt`; last key first with `reverse`; at most `limit`. */
export interface KeyRange {
  readonly gte: Uint8Array
  /** Absent: to the end of the store. */
  readonly lt?: Uint8Array | undefined
  readonly reverse?: boolean
  readonly limit?: number
}

/** Entries of a store in key order, or reversed. */
export type KeyValueListing = AsyncIterable<KeyValueEntry> | Iterable<KeyValueEntry>

/**
 * What a chain needs of a disk: ordered byte keys, synchronous consistent reads, atomic durable batches. Reads show the
 * state before a batch until its `onDurable` is called, and the state after it from then on.
 */
export interface KeyValueStore {
  get(key: Uint8Array): Uint8Array | undefined
  /** Entries with the prefix, in key order, as {@link range} lists them. */
  entries(prefix: Uint8Array): KeyValueListing
  /**
   * Entries of a range as at the moment of the call, whatever is written while they are fetched. The store keeps that
   * state until the listing is read to the end or broken off, so the caller must do one or the other.
   */
  range(range: KeyRange): KeyValueListing
  /** Writes all or nothing, flushed to disk before `onDurable` runs. On failure it rejects with the error of the store. */
  batch(writes: readonly Write[], onDurable: () => void): Promise<void>
}

/** A store in memory, for tests and simulations. */
export class MemoryKeyValueStore implements KeyValueStore {
  readonly #entries = new Map<string, Uint8Array>()

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#entries.get(toHex(key))
  }

  entries(prefix: Uint8Array): Iterable<KeyValueEntry> {
    return this.range(prefixRange(prefix))
  }

  range({ gte, lt, reverse = false, limit = Number.POSITIVE_INFINITY }: KeyRange): Iterable<KeyValueEntry> {
    const first = toHex(gte)
    const end = lt && toHex(lt)
    const found = [...this.#entries].filter(([key]) => key >= first && (end === undefined || key < end))
    const sign = reverse ? -1 : 1
    const sorted = found.sort(([a], [b]) => (a < b ? -sign : sign))
    return sorted.slice(0, limit).map(([key, value]) => [fromHex(key), value] as const)
  }

  async batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    for (const { key, value } of writes) {
      if (value === undefined) this.#entries.delete(toHex(key))
      else this.#entries.set(toHex(key), value)
    }
    onDurable()
  }
}

/** The range of all keys that begin with the prefix. */
export function prefixRange(prefix: Uint8Array): KeyRange {
  return { gte: prefix, lt: successor(prefix) }
}

/** The first key after all that begin with the prefix; undefined if there is none. */
function successor(prefix: Uint8Array): Uint8Array | undefined {
  for (let length = prefix.length; length > 0; length--) {
    const last = prefix[length - 1] as number
    if (last < 0xff) return Uint8Array.of(...prefix.subarray(0, length - 1), last + 1)
  }
  return undefined
}

/** The first possible key after this one. */
export function keyAfter(key: Uint8Array): Uint8Array {
  return concat(key, Uint8Array.of(0))
}

/** Reads a listing to its end and maps its entries. */
export async function collect<T>(listing: KeyValueListing, map: (entry: KeyValueEntry) => T): Promise<readonly T[]> {
  const found: T[] = []
  for await (const entry of listing) found.push(map(entry))
  return found
}

/** Maps the entries of a listing lazily. */
export async function* mapListing<T>(listing: KeyValueListing, map: (entry: KeyValueEntry) => T): AsyncIterable<T> {
  for await (const entry of listing) yield map(entry)
}
