import type { ChainDatabase } from '../../consensus/chain/database.ts'
import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import { executeBlock } from '../../consensus/chain/execution.ts'
import { collect, type KeyValueStore, keyAfter, prefixRange, type Write } from '../../consensus/chain/key-value.ts'
import { BASE_MARK, KEYS, prefixKey, REINDEX_MARK } from '../../consensus/chain/layout.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { connectIndexes, genesisConnected, indexesMark } from '../../consensus/chain/writes.ts'
import { assert } from '../../consensus/primitives/assert.ts'
import { equal } from '../../consensus/primitives/bytes.ts'
import { decodeOwn, encode } from '../../consensus/primitives/codec.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { runNow } from '../../consensus/primitives/steps.ts'
import { ReplayStore } from './replay-store.ts'

/** What a rebuild works on. It must be the only writer to the store. */
export interface Rebuild {
  readonly store: KeyValueStore
  readonly database: ChainDatabase
  readonly ruleBook: RuleBook
  /** Number of writes after which a batch is flushed; the writes of one block are never split. */
  readonly batchWrites?: number
  /** Called with the finished height whenever a batch is durable. */
  readonly onProgress?: (height: number) => void
}

const CLEAR_KEYS = 20_000
const BATCH_WRITES = 50_000

/**
 * Executes the best chain from genesis, since state changes are stored for the last blocks only. The result equals that
 * of a node that followed the chain, undo records included. After a crash the next rebuild continues at a mark in the
 * store; until it has finished, the store can be opened only for a rebuild.
 */
export async function rebuildIndexes(rebuild: Rebuild): Promise<void> {
  const { store, ruleBook } = rebuild
  const indexes = indexesMark(ruleBook.indexes)
  const next = nextHeight(store, indexes)
  if (next === 0) {
    await store.batch([{ key: KEYS.meta('indexes') }, markWrite(0, indexes)], () => {})
    for (const prefix of ['index', 'indexUndo', 'replay'] as const) await clear(store, prefixKey(prefix))
  }
  await replay(rebuild, next, indexes)
  await clear(store, prefixKey('replay'))
  const complete = { key: KEYS.meta('indexedFrom'), value: encode(BASE_MARK, { height: 0 }) }
  const began = store.get(complete.key) !== undefined || rebuild.database.base > 0 ? [complete] : []
  await store.batch([{ key: KEYS.meta('indexes'), value: indexes }, { key: KEYS.meta('reindex') }, ...began], () => {})
}

/** The height at which an unfinished rebuild of the same indexes continues; 0 if there is none. */
function nextHeight(store: KeyValueStore, indexes: Uint8Array): number {
  const bytes = store.get(KEYS.meta('reindex'))
  const mark = bytes && decodeOwn(REINDEX_MARK, bytes)
  return mark !== undefined && equal(mark.indexes, indexes) ? mark.next : 0
}

function markWrite(next: number, indexes: Uint8Array): Write {
  return { key: KEYS.meta('reindex'), value: encode(REINDEX_MARK, { next, indexes }) }
}

async function clear(store: KeyValueStore, prefix: Uint8Array): Promise<void> {
  for (let gte = prefix; ; ) {
    const keys = await collect(store.range({ ...prefixRange(prefix), gte, limit: CLEAR_KEYS }), ([key]) => key)
    const last = keys.at(-1)
    if (last === undefined) return
    await store.batch(
      keys.map((key) => ({ key })),
      () => {},
    )
    gte = keyAfter(last)
  }
}

async function replay(rebuild: Rebuild, from: number, indexes: Uint8Array): Promise<void> {
  const { store, database, batchWrites = BATCH_WRITES, onProgress = () => {} } = rebuild
  const head = database.head.header.height
  const replayed = new ReplayStore(store)
  for (let height = from; height <= head; height++) {
    replayBlock(rebuild, replayed, height)
    if (replayed.size < batchWrites && height < head) continue
    await replayed.flush(markWrite(height + 1, indexes))
    onProgress(height)
  }
}

function replayBlock({ store, database, ruleBook }: Rebuild, replayed: ReplayStore, height: number): void {
  const id = database.idAt(height) as BlockId
  const connected = height === 0 ? genesisConnected(ruleBook) : executed(ruleBook, database, replayed, id)
  const { writes, undo } = connectIndexes(ruleBook.indexes, connected, replayed.read)
  replayed.add(writes)
  replayed.apply(connected.changes)
  // A block that can no longer leave the chain has no undo record, neither for its state nor for the indexes.
  const canLeave = store.get(KEYS.undo(id)) !== undefined
  if (undo !== null && canLeave) replayed.add([{ key: KEYS.indexUndo(id), value: undo }])
}

function executed(ruleBook: RuleBook, database: ChainDatabase, parentState: ReplayStore, id: BlockId): ConnectedBlock {
  const block = database.block(id)
  assert(block !== undefined, `block ${id} is missing from the store`)
  const outcome = runNow(executeBlock(ruleBook, parentState, block))
  assert(outcome.ok, `block ${id} of the best chain does not execute`)
  const { receipts, changes } = outcome.value
  return { block, receipts, changes, parentState, rules: ruleBook.at(block.header.height) }
}
