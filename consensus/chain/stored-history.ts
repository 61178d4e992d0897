import { type HistoryNode, type HistoryPeak, peakPositions } from '../block/history.ts'
import { assert } from '../primitives/assert.ts'
import { decodeOwn } from '../primitives/codec.ts'
import type { BlockId } from '../primitives/ids.ts'
import type { KeyValueStore } from './key-value.ts'
import {
  BASE_MARK,
  type BlockEntry,
  decodeEntry,
  decodeHistoryNode,
  HELD_MARK,
  type HeldBodies,
  KEYS,
} from './layout.ts'

type Reader = Pick<KeyValueStore, 'get'>

/** A perfect node of the best chain's history tree. */
export function storedHistoryNode(store: Reader, level: number, index: number): HistoryNode {
  const bytes = store.get(KEYS.history(level, index))
  assert(bytes !== undefined, `history node ${level}/${index} is missing`)
  return decodeHistoryNode(bytes)
}

/** Peaks of the history tree over the best chain's first `count` blocks. */
export function storedPeaks(store: Reader, count: number): readonly HistoryPeak[] {
  return peakPositions(count).map(({ level, index }) => ({ ...storedHistoryNode(store, level, index), level }))
}

/** Height of the snapshot that was adopted last, else 0. */
export function storedBase(store: Reader): number {
  const mark = store.get(KEYS.meta('base'))
  return mark === undefined ? 0 : decodeOwn(BASE_MARK, mark).height
}

/** Which bodies a store holds: all of them if it has no mark. */
export function storedHeld(store: Reader): HeldBodies {
  const mark = store.get(KEYS.meta('held'))
  return mark === undefined ? { bodiesFrom: 0, witnessesFrom: 0 } : decodeOwn(HELD_MARK, mark)
}

/** All that is stored of a block besides its body: header, total work and more. */
export function storedEntry(store: Reader, id: BlockId): BlockEntry | undefined {
  const bytes = store.get(KEYS.entry(id))
  return bytes && decodeEntry(bytes)
}
