import type { KeyValueStore, Write } from '../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../consensus/chain/layout.ts'
import {
  bool,
  byteList,
  container,
  decodeOwn,
  encode,
  hex32,
  safeUint64,
  uint8,
  uint32,
  type ValueOf,
} from '../../../consensus/primitives/codec.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'

/** What a take is at, in order. */
export const STAGES = { pages: 0, records: 1, keys: 2, derived: 3 } as const

const KEY_MAX = 256

const TAKING_MARK = container('TakingMark', {
  height: uint32,
  id: hex32<BlockId>(),
  stage: uint8,
  /** Id of the last page, key of the last record, or address of the last keys that were stored in this stage. */
  after: byteList(KEY_MAX),
  /** Whether anything was stored in this stage. */
  begun: bool,
  leaves: safeUint64,
  records: safeUint64,
  /** Whether pages and records of another snapshot are there, which are told from this one's as it is gone through. */
  stale: bool,
  /** Pages up to the end of this id are those of some snapshot, with all that is below them. */
  completeTo: byteList(KEY_MAX),
})

/** How far a snapshot was taken; written with what it speaks of. */
export type TakingMark = ValueOf<typeof TAKING_MARK>

/** The mark of a store, undefined where no snapshot is being taken. */
export function readTaking(store: KeyValueStore): TakingMark | undefined {
  const bytes = store.get(KEYS.meta('taking'))
  return bytes && decodeOwn(TAKING_MARK, bytes)
}

/** Write of the mark. */
export function takingWrite(mark: TakingMark): Write {
  return { key: KEYS.meta('taking'), value: encode(TAKING_MARK, mark) }
}
