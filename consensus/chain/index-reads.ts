import type { ChainIndex, IndexEntry } from './chain-index.ts'
import { type KeyValueEntry, type KeyValueListing, type KeyValueStore, prefixRange } from './key-value.ts'
import { INDEX_KEY_AT, KEYS } from './layout.ts'

/** Keys are without the store's prefix. */
export interface IndexRange {
  readonly prefix: Uint8Array
  /** First key; default the first under the prefix. */
  readonly from?: Uint8Array | undefined
  /** First key that is not read; default the end of the prefix. */
  readonly to?: Uint8Array | undefined
  readonly reverse?: boolean
  readonly limit: number
}

/** Lists the entries as at the moment of the call; {@link indexEntry} reads them. */
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

/** The key is without the store's prefix. */
export function indexEntry([key, value]: KeyValueEntry): IndexEntry {
  return { key: key.subarray(INDEX_KEY_AT), value }
}
