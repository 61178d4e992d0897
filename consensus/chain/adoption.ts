import { appendLeaf, type HistoryNodeAt, historyLeaf } from '../block/history.ts'
import { assert } from '../primitives/assert.ts'
import { fromHex, toHex } from '../primitives/bytes.ts'
import { decodeOwn, encode } from '../primitives/codec.ts'
import type { BlockId } from '../primitives/ids.ts'
import type { KeyValueStore, Write } from './key-value.ts'
import {
  BASE_MARK,
  type BlockEntry,
  decodeEntry,
  encodeEntry,
  encodeHistoryNode,
  HELD_MARK,
  type HeldBodies,
  KEYS,
} from './layout.ts'
import { otherSpace, spaceOf } from './spaced-store.ts'
import { storedPeaks } from './stored-history.ts'

/** Headers that are written at once. */
const HEADERS_PER_BATCH = 1_000

/** Height of the snapshot that a store began from, 0 without one. */
export function storedBase(store: Pick<KeyValueStore, 'get'>): number {
  const mark = store.get(KEYS.meta('base'))
  return mark === undefined ? 0 : decodeOwn(BASE_MARK, mark).height
}

/** First height whose block was executed here: from there on transactions are found by their ids, unless they were pruned. */
export function executedFrom({ base }: { readonly base: number }): number {
  return base === 0 ? 0 : base + 1
}

/**
 * From which height on the indexes over a store's blocks are complete: its first blocks, unless a rebuild could not begin there.
 * Indexes that follow from the state always are.
 */
export function indexedFrom({ store }: { readonly store: Pick<KeyValueStore, 'get'> }): number {
  const mark = store.get(KEYS.meta('indexedFrom'))
  return mark === undefined ? executedFrom({ base: storedBase(store) }) : decodeOwn(BASE_MARK, mark).height
}

/** What a store holds of its blocks; everything unless it says otherwise. */
export function storedHeld(store: Pick<KeyValueStore, 'get'>): HeldBodies {
  const mark = store.get(KEYS.meta('held'))
  return mark === undefined ? { bodiesFrom: 0, witnessesFrom: 0 } : decodeOwn(HELD_MARK, mark)
}

/** The write after which a store holds all of a snapshot's state in its other room: from then on it becomes the head's. */
export function adoptionWrite(height: number): Write {
  return { key: KEYS.meta('adopting'), value: encode(BASE_MARK, { height }) }
}

/**
 * Makes the block of a snapshot the head of a store whose other room holds its state: first entries, canonical ids and history
 * of all headers up to it, out of those kept, then all that shows in one batch. Done again from the start after a crash. `onDone`
 * runs when the head has moved; false if there is nothing to adopt.
 */
export async function finishAdoption(store: KeyValueStore, onDone: (head: BlockEntry) => void): Promise<boolean> {
  const mark = store.get(KEYS.meta('adopting'))
  if (mark === undefined) return false
  const { height: base } = decodeOwn(BASE_MARK, mark)
  const before = storedHead(store)
  let peaks = storedPeaks(store, before.header.height + 1)
  let writes: Write[] = []
  let last = before
  for (let height = before.header.height + 1; height <= base; height++) {
    last = keptEntry(store, height)
    const appended = appendLeaf(peaks, historyLeaf(last), height)
    peaks = appended.peaks
    writes.push(...headerWrites(last, appended.nodes))
    if (height % HEADERS_PER_BATCH !== 0) continue
    await store.batch(writes, () => {})
    writes = []
  }
  await store.batch([...writes, ...headWrites(store, last)], () => onDone(last))
  return true
}

function storedHead(store: KeyValueStore): BlockEntry {
  const id = store.get(KEYS.meta('head'))
  const entry = id && store.get(KEYS.entry(toHex(id) as BlockId))
  assert(entry !== undefined, 'an initialised store has a head')
  return decodeEntry(entry)
}

function keptEntry(store: KeyValueStore, height: number): BlockEntry {
  const bytes = store.get(KEYS.kept(height))
  assert(bytes !== undefined, `the header at ${height} was not kept`)
  return decodeEntry(bytes)
}

function headerWrites(entry: BlockEntry, nodes: readonly HistoryNodeAt[]): readonly Write[] {
  return [
    { key: KEYS.entry(entry.id), value: encodeEntry(entry) },
    { key: KEYS.canonical(entry.header.height), value: fromHex(entry.id) },
    ...nodes.map((node) => ({ key: KEYS.history(node.level, node.index), value: encodeHistoryNode(node) })),
  ]
}

function headWrites(store: KeyValueStore, { id, header }: BlockEntry): readonly Write[] {
  const from = header.height + 1
  return [
    { key: KEYS.meta('head'), value: fromHex(id) },
    { key: KEYS.meta('space'), value: Uint8Array.of(otherSpace(spaceOf(store))) },
    { key: KEYS.meta('base'), value: encode(BASE_MARK, { height: header.height }) },
    { key: KEYS.meta('held'), value: encode(HELD_MARK, { bodiesFrom: from, witnessesFrom: from }) },
    { key: KEYS.meta('residue'), value: new Uint8Array(0) },
    { key: KEYS.meta('indexedFrom') },
    { key: KEYS.meta('adopting') },
    { key: KEYS.meta('taking') },
    { key: KEYS.meta('kept') },
  ]
}
