import { appendLeaf, type HistoryNodeAt, historyLeaf } from '../block/history.ts'
import { assert } from '../primitives/assert.ts'
import { fromHex, toHex } from '../primitives/bytes.ts'
import { decodeOwn, encode } from '../primitives/codec.ts'
import type { BlockId } from '../primitives/ids.ts'
import type { KeyValueStore, Write } from './key-value.ts'
import { BASE_MARK, type BlockEntry, decodeEntry, encodeEntry, encodeHistoryNode, HELD_MARK, KEYS } from './layout.ts'
import { otherSpace, spaceOf } from './spaced-store.ts'
import { storedBase, storedEntry, storedPeaks } from './stored-history.ts'

/** Headers that are written at once. */
const HEADERS_PER_BATCH = 1_000

/** First height whose block was executed here: from there on transactions are found by their ids, unless they were pruned. */
export function executedFrom({ base }: { readonly base: number }): number {
  return base === 0 ? 0 : base + 1
}

/**
 * From which height on the indexes over a store's blocks are complete: its first blocks, unless a rebuild could not begin there.
 * Indexes that follow from the state always are.
 */
export function storedIndexedFrom(store: Pick<KeyValueStore, 'get'>): number {
  const mark = store.get(KEYS.meta('indexedFrom'))
  return mark === undefined ? executedFrom({ base: storedBase(store) }) : decodeOwn(BASE_MARK, mark).height
}

/** The write that keeps a header for a snapshot above it; what the body would say is not known of it. */
export function keptWrite(header: Omit<BlockEntry, 'totalTransactions' | 'bodyBytes' | 'invalid'>): Write {
  const entry = { ...header, totalTransactions: 0, bodyBytes: 0, invalid: false }
  return { key: KEYS.kept(header.header.height), value: encodeEntry(entry) }
}

/** The write after which a store holds all of a snapshot's state in its other room: from then on it becomes the head's. */
export function adoptionWrite(height: number): Write {
  return { key: KEYS.meta('adopting'), value: encode(BASE_MARK, { height }) }
}

/** Height of the snapshot that is becoming the head's state, undefined where none is. */
export function adoptingHeight(store: Pick<KeyValueStore, 'get'>): number | undefined {
  const mark = store.get(KEYS.meta('adopting'))
  return mark && decodeOwn(BASE_MARK, mark).height
}

/** What gives a state in the other room up: it is emptied before the next one comes, and nothing of it is gone on with. */
export const DISCARD_WRITES: readonly Write[] = [
  { key: KEYS.meta('adopting') },
  { key: KEYS.meta('taking') },
  { key: KEYS.meta('residue'), value: new Uint8Array(0) },
]

/**
 * Takes back what {@link finishAdoption} wrote before it was broken off: a header without a body must not pass for a block that
 * is there. Done again from the start after a crash.
 */
export async function abandonAdoption(store: KeyValueStore): Promise<void> {
  const base = adoptingHeight(store)
  assert(base !== undefined, 'there is no adoption to abandon')
  let writes: Write[] = []
  for (let height = storedHead(store).header.height + 1; height <= base; height++) {
    const { id } = keptEntry(store, height)
    writes.push({ key: KEYS.entry(id) }, { key: KEYS.canonical(height) })
    if (height % HEADERS_PER_BATCH !== 0) continue
    await store.batch(writes, () => {})
    writes = []
  }
  await store.batch([...writes, ...DISCARD_WRITES], () => {})
}

/**
 * Gives up what was taken of a state and the headers that were kept for it: they were judged by other rules than those that hold now. Done
 * again from the start after a crash.
 */
export async function abandonTake(store: KeyValueStore): Promise<void> {
  if (adoptingHeight(store) !== undefined) await abandonAdoption(store)
  const isTaking = [KEYS.meta('kept'), KEYS.meta('taking')].some((mark) => store.get(mark) !== undefined)
  if (!isTaking) return
  await store.batch([...DISCARD_WRITES, { key: KEYS.meta('kept') }, { key: KEYS.meta('keptBack') }], () => {})
}

/**
 * Makes the block of a snapshot the head of a store whose other room holds its state: first entries, canonical ids and history
 * of all headers up to it, out of those kept, then all that shows in one batch. Done again from the start after a crash. `onDone`
 * runs when the head has moved; false if there is nothing to adopt.
 */
export async function finishAdoption(store: KeyValueStore, onDone: (head: BlockEntry) => void): Promise<boolean> {
  const base = adoptingHeight(store)
  if (base === undefined) return false
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
  const entry = id && storedEntry(store, toHex(id) as BlockId)
  assert(entry !== undefined, 'an initialised store has a head')
  return entry
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
    { key: KEYS.meta('keptBack') },
  ]
}
