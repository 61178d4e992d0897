import type { ChainIndex } from '../../consensus/chain/chain-index.ts'
import { collect, keyAfter, prefixRange, type Write } from '../../consensus/chain/key-value.ts'
import { BASE_MARK, encodeUndo, KEYS, prefixKey, UNDO } from '../../consensus/chain/layout.ts'
import { indexesMark } from '../../consensus/chain/writes.ts'
import { decodeOwn, encode } from '../../consensus/primitives/codec.ts'
import { runNow } from '../../consensus/primitives/steps.ts'
import { decodeText } from '../../consensus/primitives/text.ts'
import { changesOf, clearPrefix, stateIndexWrites } from '../p2p/snapshot/derived.ts'
import type { Rebuild } from './reindex.ts'

/** What a rebuild did with each index, for a chain that cannot be executed again. */
export interface LateRebuild {
  readonly derived: readonly string[]
  readonly kept: readonly string[]
  /** New or changed: empty for everything before {@link indexedFrom}. */
  readonly begun: readonly string[]
  readonly indexedFrom: number
}

const RECORDS_PER_BATCH = 8_192
const UNDO_PER_BATCH = 200
const INDEXES_MAX = 256

/**
 * For a store that lacks old blocks. Indexes that follow from the state are rebuilt from it, unchanged ones are kept,
 * and all others begin with the next block. After a crash it must run again: until it has finished, the store can be
 * opened only for a rebuild.
 */
export async function rebuildLate({ database, ruleBook }: Omit<Rebuild, 'store'>): Promise<LateRebuild> {
  const { store } = database
  const { derived, kept, begun } = partsOf(store.get(KEYS.meta('indexes')), ruleBook.indexes)
  const from = database.head.header.height + 1
  const restart =
    begun.length === 0 ? [] : [{ key: KEYS.meta('indexedFrom'), value: encode(BASE_MARK, { height: from }) }]
  const unfinished = { key: KEYS.meta('indexes'), value: indexesMark(kept) }
  await store.batch([unfinished, { key: KEYS.meta('reindex') }, ...restart], () => {})
  const prefixes = new Set(kept.map(({ prefix }) => prefix))
  for (let prefix = 0; prefix < INDEXES_MAX; prefix++)
    if (!prefixes.has(prefix)) await clearPrefix(store, KEYS.index(prefix, new Uint8Array(0)))
  await keepUndo(
    database,
    prefixes,
    ruleBook.indexes.some((index) => 'fold' in index),
  )
  await fromState({ database, ruleBook })
  await store.batch([{ key: KEYS.meta('indexes'), value: indexesMark(ruleBook.indexes) }], () => {})
  const names = (indexes: readonly ChainIndex[]): readonly string[] => indexes.map(({ name }) => name)
  return { derived: names(derived), kept: names(kept), begun: names(begun), indexedFrom: database.indexedFrom }
}

function partsOf(mark: Uint8Array | undefined, indexes: readonly ChainIndex[]) {
  const had = new Set((decodeText(mark ?? new Uint8Array(0)) ?? '').split(' '))
  const derived = indexes.filter((index) => 'changesOf' in index)
  const others = indexes.filter((index) => !('changesOf' in index))
  const isKept = ({ prefix, name }: ChainIndex): boolean => had.has(`${prefix}:${name}`)
  return { derived, kept: others.filter(isKept), begun: others.filter((index) => !isKept(index)) }
}

/** Reduces the undo records of blocks that may still leave the chain to the folded indexes that are kept. */
async function keepUndo(database: Rebuild['database'], kept: ReadonlySet<number>, folded: boolean): Promise<void> {
  const { store } = database
  let writes: Write[] = []
  for (let height = database.head.header.height; height > 0; height--) {
    const id = database.idAt(height)
    if (id === undefined || store.get(KEYS.undo(id)) === undefined) break
    const key = KEYS.indexUndo(id)
    writes.push(folded ? { key, value: undoOf(store.get(key), kept) } : { key })
    if (writes.length < UNDO_PER_BATCH) continue
    await store.batch(writes, () => {})
    writes = []
  }
  await store.batch(writes, () => {})
}

function undoOf(stored: Uint8Array | undefined, kept: ReadonlySet<number>): Uint8Array {
  const replaced = stored === undefined ? [] : decodeOwn(UNDO, stored)
  const ours = replaced.filter(({ key }) => kept.has(key[1] as number))
  return encodeUndo(ours.map(({ key, existed, value }) => ({ key, before: existed ? value : undefined })))
}

async function fromState({ database: { store }, ruleBook }: Omit<Rebuild, 'store'>): Promise<void> {
  for (let gte = prefixKey('state'); ; ) {
    const range = { ...prefixRange(prefixKey('state')), gte, limit: RECORDS_PER_BATCH }
    const records = await collect(store.range(range), ([key, value]) => ({ key, value }))
    const last = records.at(-1)
    if (last === undefined) return
    await store.batch(stateIndexWrites(store, ruleBook, runNow(changesOf(ruleBook, records))), () => {})
    gte = keyAfter(last.key)
  }
}
