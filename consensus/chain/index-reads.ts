import type { ChainIndex, IndexEntry } from './chain-index.ts'
import { type KeyValueEntry, type KeyValueListing, type KeyValueStore, prefixRange } from './key-value.ts'
import { INDEX_KEY_AT, KEYS } from './layout.ts'

/** Which entries of an index are read, in the order of their keys. Keys are the index's own. */
export interface IndexRange {
  /** What their keys begin with. */
  readonly prefix: Uint8Array
  /** First key under the prefix; default the least. */
  readonly from?: Uint8Array | undefined
  /** First key under the prefix that is not read any more; default none. */
  readonly to?: Uint8Array | undefined
  /** From the last to the first. */
  readonly reverse?: boolean
  /** Most entries. */
  readonly limit: number
}

/** Entries of an index in a store, as they are at the moment of the call; {@link indexEntry} reads them. */
export function indexListing(
  store: KeyValueStore,
  { prefix: index }: ChainIndex,
  { prefix, from, to, reverse = false, limit }: IndexRange,
): KeyValueListing {
  const all = prefixRange(KEYS.index(index, prefix))
  const gte = from === undefined ? all.gte : KEYS.index(index, from)
  const lt = to === undefined ? all.lt : KEYS.index(index, to)
  return store.range({ gte, lt, reverse, limit })
}

/** An entry with the index's own key. */
export function indexEntry([key, value]: KeyValueEntry): IndexEntry {
  return { key: key.subarray(INDEX_KEY_AT), value }
}
