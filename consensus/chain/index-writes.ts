import { assert } from '../primitives/assert.ts'
import { decodeOwn } from '../primitives/codec.ts'
import { encodeText } from '../primitives/text.ts'
import type { StateChange } from '../state/view.ts'
import type { ChainIndex, IndexRead, IndexWrite } from './chain-index.ts'
import type { ConnectedBlock } from './events.ts'
import type { Write } from './key-value.ts'
import { encodeUndo, indexKeys, KEYS, type Replaced, UNDO } from './layout.ts'

/** Reads a key of the store as it was before the writes that are being worked out. */
export type StoreRead = (key: Uint8Array) => Uint8Array | undefined

/** What a block that joins the best chain does to the indexes. */
export interface IndexConnection {
  readonly writes: readonly Write[]
  /** Record that takes back what the folded indexes wrote; null where there is none of those. */
  readonly undo: Uint8Array | null
}

/** Everything that the indexes write for a block that joins the best chain. */
export function connectIndexes(
  indexes: readonly ChainIndex[],
  connected: ConnectedBlock,
  read: StoreRead,
): IndexConnection {
  const writes: Write[] = []
  const replaced: Replaced[] = []
  for (const index of indexes) {
    const found = writesOf(index, connected, readerOf(index, read))
    const keys = indexKeys(index.prefix, found)
    for (const [i, { value }] of found.entries()) {
      const storeKey = keys[i] as Uint8Array
      writes.push(value === undefined ? { key: storeKey } : { key: storeKey, value })
      if ('fold' in index) replaced.push({ key: storeKey, before: read(storeKey) })
    }
  }
  return { writes, undo: hasFolded(indexes) ? encodeUndo(replaced) : null }
}

function writesOf(index: ChainIndex, connected: ConnectedBlock, read: IndexRead): readonly IndexWrite[] {
  if ('entriesOf' in index) return index.entriesOf(connected)
  return 'changesOf' in index ? index.changesOf(connected.changes, read) : index.fold(connected, read)
}

/** What takes back all that {@link connectIndexes} wrote; `undo` is the record it gave. */
export function disconnectIndexes(
  indexes: readonly ChainIndex[],
  connected: ConnectedBlock,
  read: StoreRead,
  undo: Uint8Array | undefined,
): readonly Write[] {
  assert(undo !== undefined || !hasFolded(indexes), 'the undo record of the indexes is missing')
  const swapped = connected.changes.map((change) => ({ ...change, before: change.after, after: change.before }))
  const restored = undo === undefined ? [] : decodeOwn(UNDO, undo)
  return [
    ...indexes.flatMap((index) => takenBack(index, connected, swapped, readerOf(index, read))),
    ...restored.map(({ key, existed, value }) => (existed ? { key, value } : { key })),
  ]
}

function takenBack(
  index: ChainIndex,
  connected: ConnectedBlock,
  swapped: readonly StateChange[],
  read: IndexRead,
): readonly Write[] {
  if ('entriesOf' in index) return index.entriesOf(connected).map(({ key }) => ({ key: KEYS.index(index.prefix, key) }))
  if ('fold' in index) return []
  return index.changesOf(swapped, read).map((write) => ({ ...write, key: KEYS.index(index.prefix, write.key) }))
}

function readerOf({ prefix }: ChainIndex, read: StoreRead): IndexRead {
  return (key) => read(KEYS.index(prefix, key))
}

function hasFolded(indexes: readonly ChainIndex[]): boolean {
  return indexes.some((index) => 'fold' in index)
}

/** Says which indexes a store holds: where it differs from the program's they have to be rebuilt. */
export function indexesMark(indexes: readonly ChainIndex[]): Uint8Array {
  const prefixes = new Set(indexes.map(({ prefix }) => prefix))
  assert(prefixes.size === indexes.length, 'two indexes have the same prefix')
  return encodeText(indexes.map(({ name, prefix }) => `${prefix}:${name}`).join(' '))
}
