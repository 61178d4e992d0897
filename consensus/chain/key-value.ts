import { concat, fromHex, toHex } from '../primitives/bytes.ts'

/** One write of an atomic batch; without a value the key is deleted. */
export interface Write {
  readonly key: Uint8Array
  readonly value?: Uint8Array
}

/** A key with its value. */
export type KeyValueEntry = readonly [Uint8Array, Uint8Array]

/** Keys from `gte` up to but not with `lt`; from the last to the first with `reverse`; at most `limit` of them. */
export interface KeyRange {
  readonly gte: Uint8Array
  /** Absent: to the end of the store. */
  readonly lt?: Uint8Array | undefined
  readonly reverse?: boolean
  readonly limit?: number
}

/** Entries as a store lists them, in key order or in its reverse. */
export type KeyValueListing = AsyncIterable<KeyValueEntry> | Iterable<KeyValueEntry>

/**
 * What a chain needs from a disk: ordered byte keys, synchronous reads of one consistent state, atomic durable batches.
 * Reads show the state before a batch until `onDurable` is called, and the state after it from then on.
 */
export interface KeyValueStore {
  get(key: Uint8Array): Uint8Array | undefined
  /** Entries with the prefix, in key order: a listing like that of {@link range}. */
  entries(prefix: Uint8Array): KeyValueListing
  /**
   * Entries of a range, as synchronous reads show them at the moment of the call, whenever they are fetched and whatever is
   * written meanwhile. Whoever asks for a listing goes through it, or breaks it off: until then the store keeps that state.
   */
  range(range: KeyRange): KeyValueListing
  /** Writes all or nothing, flushed to the disk before `onDurable` runs. Rejects with a fault's details on failure. */
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

/** The first key after all that begin with the prefix, undefined if there is none. */
function successor(prefix: Uint8Array): Uint8Array | undefined {
  for (let length = prefix.length; length > 0; length--) {
    const last = prefix[length - 1] as number
    if (last < 0xff) return Uint8Array.of(...prefix.subarray(0, length - 1), last + 1)
  }
  return undefined
}

/** The least key that is greater. */
export function keyAfter(key: Uint8Array): Uint8Array {
  return concat(key, Uint8Array.of(0))
}

/** Everything that a listing has, turned into something else. */
export async function collect<T>(listing: KeyValueListing, map: (entry: KeyValueEntry) => T): Promise<readonly T[]> {
  const found: T[] = []
  for await (const entry of listing) found.push(map(entry))
  return found
}

/** Goes through a listing and turns its entries into something else; the listing's state stays the one of its call. */
export async function* mapListing<T>(listing: KeyValueListing, map: (entry: KeyValueEntry) => T): AsyncIterable<T> {
  for await (const entry of listing) yield map(entry)
}
