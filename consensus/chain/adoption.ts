import { appendLeaf, type HistoryNodeAt, historyLeaf } from '../block/history.ts'
import { assert } from '../primitives/assert.ts'
import { fromHex, toHex } from '../primitives/bytes.ts'
import { decodeOwn, encode } from '../primitives/codec.ts'
import type { BlockId } from '../primitives/ids.ts'
import type { KeyValueStore, Write } from './key-value.ts'
import { BASE_MARK, type BlockEntry, decodeEntry, encodeEntry, encodeHistoryNode, HELD_MARK, KEYS } from './layout.ts'
import { otherSpace, spaceOf } from './spaced-store.ts'
import { storedBase, storedEntry, storedPeaks } from './stored-history.ts'

const HEADERS_PER_BATCH = 1_000

/** Lowest height from which on this node executed all blocks. */
export function executedFrom({ base }: { readonly base: number }): number {
  return base === 0 ? 0 : base + 1
}

/**
 * First height from which the indexes over blocks are complete: the first executed block, unless a rebuild of the
 * indexes recorded another height.
 */
export function storedIndexedFrom(store: Pick<KeyValueStore, 'get'>): number {
  const mark = store.get(KEYS.meta('indexedFrom'))
  return mark === undefined ? executedFrom({ base: storedBase(store) }) : decodeOwn(BASE_MARK, mark).height
}

/** Counts that only the body tells are 0. */
export function keptWrite(header: Omit<BlockEntry, 'totalTransactions' | 'bodyBytes' | 'invalid'>): Write {
  const entry = { ...header, totalTransactions: 0, bodyBytes: 0, invalid: false }
  return { key: KEYS.kept(header.header.height), value: encodeEntry(entry) }
}

/**
 * Marks that the other room (see `SpacedStore`) holds the whole state of a snapshot. After a restart the adoption is
 * taken up again.
 */
export function adoptionWrite(height: number): Write {
  return { key: KEYS.meta('adopting'), value: encode(BASE_MARK, { height }) }
}

/** Height of the snapshot that is being adopted, else undefined. */
export function adoptingHeight(store: Pick<KeyValueStore, 'get'>): number | undefined {
  const mark = store.get(KEYS.meta('adopting'))
  return mark && decodeOwn(BASE_MARK, mark).height
}

/** Gives up the state in the other room (see `SpacedStore`). */
export const DISCARD_WRITES: readonly Write[] = [
  { key: KEYS.meta('adopting') },
  { key: KEYS.meta('taking') },
  { key: KEYS.meta('residue'), value: new Uint8Array(0) },
]

/** Removes the headers of an unfinished adoption: they must not pass for stored blocks. After a crash it runs again. */
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
 * Gives up an unfinished snapshot and its kept headers, which were checked under other rules. After a crash it runs
 * again.
 */
export async function abandonTake(store: KeyValueStore): Promise<void> {
  if (adoptingHeight(store) !== undefined) await abandonAdoption(store)
  const isTaking = [KEYS.meta('kept'), KEYS.meta('taking')].some((mark) => store.get(mark) !== undefined)
  if (!isTaking) return
  await store.batch([...DISCARD_WRITES, { key: KEYS.meta('kept') }, { key: KEYS.meta('keptBack') }], () => {})
}

/**
 * Makes the block of a snapshot the head, when the other room holds its state. Only the last batch moves the head, so
 * after a crash it runs again from the start. False if there is no snapshot to adopt.
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
