import type { KeyValueStore, Write } from '../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../consensus/chain/layout.ts'
import {
  bool,
  byteList,
  container,
  decode,
  encode,
  hex32,
  safeUint64,
  uint8,
  uint32,
  type ValueOf,
} from '../../../consensus/primitives/codec.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'

/** Stages of taking a snapshot, in order. */
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
  /** Whether older pages and records were stored at the beginning. Those of other snapshots are dropped on the way. */
  stale: bool,
})

/** How far a snapshot was taken, written with the content. What is stored up to `after` is proven. */
export type TakingMark = ValueOf<typeof TAKING_MARK>

/**
 * The mark of a store. Undefined if there is none, or if another release wrote it in another format. The snapshot is then taken from the
 * first stage on, over the parts stored so far.
 */
export function readTaking(store: KeyValueStore): TakingMark | undefined {
  const bytes = store.get(KEYS.meta('taking'))
  const mark = bytes && decode(TAKING_MARK, bytes)
  return mark?.ok ? mark.value : undefined
}

/** The write of a mark. */
export function takingWrite(mark: TakingMark): Write {
  return { key: KEYS.meta('taking'), value: encode(TAKING_MARK, mark) }
}
