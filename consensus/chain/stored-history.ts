import { type HistoryNode, type HistoryPeak, peakPositions } from '../block/history.ts'
import { assert } from '../primitives/assert.ts'
import type { KeyValueStore } from './key-value.ts'
import { decodeHistoryNode, KEYS } from './layout.ts'

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
