import { toHex } from '../primitives/bytes.ts'
import { decodeOwn } from '../primitives/codec.ts'
import type { StateKey, StateTable } from '../state/table.ts'
import { type KeyValueStore, keyAfter, mapListing, prefixRange } from './key-value.ts'
import { idOfKey, KEYS } from './layout.ts'

/** An encoded record. */
export interface StoredRecord {
  readonly key: StateKey
  readonly value: Uint8Array
}

/** Every record of the state in a store, encoded. */
export function storedRecords(store: KeyValueStore): AsyncIterable<StoredRecord> {
  return mapListing(store.entries(KEYS.state('' as StateKey)), ([key, value]) => ({
    key: idOfKey(key) as StateKey,
    value,
  }))
}

/**
 * Records of a table to read: at most `limit`, with ids that begin with `idPrefix` (whole bytes), after the key
 * `after`.
 */
export interface StateRange {
  readonly idPrefix: string
  readonly limit: number
  readonly after: StateKey | undefined
}

/** In key order, as at the moment of the call. */
export function storedRange<Id, T>(
  store: KeyValueStore,
  table: StateTable<Id, T>,
  { idPrefix, limit, after }: StateRange,
): AsyncIterable<{ readonly key: StateKey; readonly value: T }> {
  const prefix = KEYS.state((toHex(Uint8Array.of(table.prefix)) + idPrefix) as StateKey)
  const gte = after === undefined ? prefix : keyAfter(KEYS.state(after))
  return mapListing(store.range({ ...prefixRange(prefix), gte, limit }), ([key, value]) => ({
    key: idOfKey(key) as StateKey,
    value: decodeOwn(table.codec, value),
  }))
}
