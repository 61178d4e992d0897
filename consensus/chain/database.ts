import type { Block } from '../block/block.ts'
import { appendLeaf, type HistoryNode, type HistoryPeak, historyLeaf } from '../block/history.ts'
import { decodeReceipt } from '../ledger/receipt.ts'
import { assert } from '../primitives/assert.ts'
import { toHex } from '../primitives/bytes.ts'
import { decodeOwn } from '../primitives/codec.ts'
import type { Fault } from '../primitives/fault.ts'
import type { Address, BlockId, TxId } from '../primitives/ids.ts'
import { LruMap } from '../primitives/lru.ts'
import type { Page } from '../state/page.ts'
import type { StateKey, StateTable } from '../state/table.ts'
import type { PageId, PageReader, TreeUpdate } from '../state/tree.ts'
import { UnwoundState } from '../state/unwound.ts'
import type { StateChange, StateView } from '../state/view.ts'
import type { Transaction, TxBody } from '../tx/transaction.ts'
import { storedIndexedFrom } from './adoption.ts'
import type { ChainIndex, IndexEntry } from './chain-index.ts'
import { SideBranches } from './fork-choice.ts'
import type { Genesis } from './genesis.ts'
import { type IndexRange, indexEntry, indexListing } from './index-reads.ts'
import { collect, type KeyValueStore, mapListing, type Write } from './key-value.ts'
import {
  type BlockEntry,
  BYTES_LIST,
  decodePage,
  encodeEntry,
  type HeldBodies,
  idOfKey,
  KEYS,
  LOCATION,
  type Location,
  prefixKey,
  UNDO,
} from './layout.ts'
import type { RuleBook } from './rule-book.ts'
import { otherSpace, SpacedStore, spaceOf } from './spaced-store.ts'
import { StagedState, takeUpAdoption, takeUpRules } from './staged-state.ts'
import { type StoredRecord, storedRange, storedRecords } from './state-reads.ts'
import {
  storedBodyAt,
  storedEncodings,
  storedTransactionAt,
  storedTransactionIds,
  storedTransactions,
} from './stored-bodies.ts'
import { storedBase, storedEntry, storedHeld, storedHistoryNode, storedPeaks } from './stored-history.ts'
import {
  type AddressKeys,
  blockWrites,
  type Connection,
  checkMarks,
  connectionWrites,
  disconnectIndexes,
  disconnectionWrites,
  genesisWrites,
  keysWrite,
} from './writes.ts'

/** Most blocks that can be unwound. Older undo records are dropped. */
export const UNDO_BLOCKS = 2_400

const CACHED_ENTRIES = 4_096
const CACHED_RECORDS = 50_000
/** Cached pages below {@link KEPT_PAGE_DEPTH}; one takes about a kilobyte. */
const CACHED_PAGES = 24_576
/** Pages down to this depth stay in memory once they are read: at most 4,369. */
const KEPT_PAGE_DEPTH = 3
/** Blocks just connected, for listeners that read them. */
const CACHED_BLOCKS = 2

/** How a store is opened. */
export interface OpenOptions {
  /** Also opens a store whose indexes are unfinished or of another release, to rebuild them. */
  readonly staleIndexes?: boolean
}

class StateCache {
  /** An absent record is kept as undefined. */
  readonly records = new LruMap<StateKey, { readonly value: unknown }>(CACHED_RECORDS)
  readonly #pages = new LruMap<PageId, Page>(CACHED_PAGES)
  /** Every change passes through top pages, so they are kept apart from deep pages, which would push them out. */
  readonly #topPages = new Map<PageId, Page>()

  page(id: PageId): Page | undefined {
    return this.#pagesLike(id).get(id)
  }

  setPage(id: PageId, page: Page): void {
    this.#pagesLike(id).set(id, page)
  }

  /** With `unwind`, the changes of the block were undone. */
  remember(changes: readonly StateChange[], tree: TreeUpdate, unwind: boolean): void {
    for (const { table, key, before, after } of changes) {
      const bytes = unwind ? before : after
      this.records.set(key, { value: bytes === undefined ? undefined : decodeOwn(table.codec, bytes) })
    }
    for (const [id, page] of tree.pages) {
      if (page === null) this.#pagesLike(id).delete(id)
      else this.setPage(id, page)
    }
  }

  clear(): void {
    this.records.clear()
    this.#pages.clear()
    this.#topPages.clear()
  }

  #pagesLike(id: PageId): LruMap<PageId, Page> | Map<PageId, Page> {
    return id.length <= KEPT_PAGE_DEPTH ? this.#topPages : this.#pages
  }
}

/**
 * The stored chain. The head moves with one atomic durable batch, so after a crash at any point the last committed head
 * is found. Reads are consistent with one head.
 */
export class ChainDatabase implements StateView, PageReader {
  readonly #store: SpacedStore
  readonly #ruleBook: RuleBook
  readonly #cache = new StateCache()
  readonly #entries = new LruMap<BlockId, BlockEntry>(CACHED_ENTRIES)
  readonly #peaks = new LruMap<BlockId, readonly HistoryPeak[]>(CACHED_ENTRIES)
  readonly #blocks = new LruMap<BlockId, Block>(CACHED_BLOCKS)
  /** The state of a snapshot, built up in the other room: see {@link SpacedStore}. */
  readonly staged: StagedState
  readonly side = new SideBranches()
  #head: BlockEntry

  private constructor(store: KeyValueStore, ruleBook: RuleBook) {
    this.#store = new SpacedStore(store, spaceOf(store))
    this.#ruleBook = ruleBook
    this.staged = new StagedState(store, ruleBook)
    const headId = store.get(KEYS.meta('head'))
    assert(headId !== undefined, 'an initialised store has a head')
    this.#head = this.#mustEntry(toHex(headId) as BlockId)
  }

  /**
   * Opens a store of this network; writes genesis into an empty one. Another network, schema or rules are a fault, and
   * so are incomplete indexes unless `staleIndexes` is set.
   */
  static async open(
    store: KeyValueStore,
    ruleBook: RuleBook,
    genesis: Genesis,
    folder: string,
    { staleIndexes = false }: OpenOptions = {},
  ): Promise<ChainDatabase | Fault> {
    const mark = store.get(KEYS.meta('network'))
    if (mark === undefined) await store.batch(genesisWrites(ruleBook, genesis), () => {})
    else {
      const misfit = checkMarks({ store, folder, staleIndexes }, mark, ruleBook, genesis)
      if (misfit !== null) return misfit
      await takeUpRules(store, ruleBook)
      await takeUpAdoption(store, ruleBook)
    }
    const database = new ChainDatabase(store, ruleBook)
    for await (const [key] of store.entries(prefixKey('side'))) {
      database.side.add(database.#mustEntry(idOfKey(key) as BlockId))
    }
    return database
  }

  get head(): BlockEntry {
    return this.#head
  }

  /** The store, for maintenance. Keys of the head's state are those of the first room, whichever room holds it. */
  get store(): KeyValueStore {
    return this.#store
  }

  /** Height of the snapshot that was adopted last, else 0. */
  get base(): number {
    return storedBase(this.#store)
  }

  /** Heights from which all bodies, and all witnesses, of the best chain are held. */
  get held(): HeldBodies {
    return storedHeld(this.#store)
  }

  get indexedFrom(): number {
    return storedIndexedFrom(this.#store)
  }

  get<Id, T>(table: StateTable<Id, T>, id: Id): T | undefined {
    const key = table.key(id)
    const cached = this.#cache.records.get(key)
    if (cached !== undefined) return cached.value as T | undefined
    const bytes = this.#store.get(KEYS.state(key))
    const value = bytes === undefined ? undefined : decodeOwn(table.codec, bytes)
    this.#cache.records.set(key, { value })
    return value
  }

  page(id: PageId): Page | undefined {
    const cached = this.#cache.page(id)
    if (cached !== undefined) return cached
    const bytes = this.#store.get(KEYS.page(id))
    if (bytes === undefined) return undefined
    const page = decodePage(bytes)
    this.#cache.setPage(id, page)
    return page
  }

  /** Every record of the head's state, encoded. */
  stateRecords(): AsyncIterable<StoredRecord> {
    return storedRecords(this.#store)
  }

  /**
   * At most `limit` records of a table in key order, as at the moment of the call. `idPrefix` is whole bytes in hex;
   * `after` is the key of the last record read before.
   */
  stateRange<Id, T>(
    table: StateTable<Id, T>,
    idPrefix: string,
    limit: number,
    after?: StateKey,
  ): AsyncIterable<{ readonly key: StateKey; readonly value: T }> {
    return storedRange(this.#store, table, { idPrefix, limit, after })
  }

  /** Also finds blocks off the best chain. */
  entry(id: BlockId): BlockEntry | undefined {
    const cached = this.#entries.get(id)
    if (cached !== undefined) return cached
    const entry = storedEntry(this.#store, id)
    if (entry !== undefined) this.#entries.set(id, entry)
    return entry
  }

  idAt(height: number): BlockId | undefined {
    if (height < 0 || height > this.#head.header.height) return undefined
    const id = this.#store.get(KEYS.canonical(height))
    return id === undefined ? undefined : (toHex(id) as BlockId)
  }

  isCanonical(entry: BlockEntry): boolean {
    return this.idAt(entry.header.height) === entry.id
  }

  transactions(id: BlockId): readonly Transaction[] | undefined {
    return storedTransactions(this.#store, id)
  }

  /** Wire bytes of a stored block's transactions, or of those at `indexes`. */
  encodedTransactions(id: BlockId, indexes?: readonly number[]): readonly Uint8Array[] | undefined {
    return storedEncodings(this.#store, id, indexes)
  }

  transactionAt(id: BlockId, index: number): Transaction | undefined {
    return storedTransactionAt(this.#store, id, index)
  }

  /** Works without the witness of the transaction. */
  bodyAt(id: BlockId, index: number): TxBody | undefined {
    return storedBodyAt(this.#store, id, index)
  }

  transactionIds(id: BlockId): readonly TxId[] | undefined {
    return storedTransactionIds(this.#store, id)
  }

  block(id: BlockId): Block | undefined {
    const cached = this.#blocks.get(id)
    if (cached !== undefined) return cached
    const entry = this.entry(id)
    const transactions = entry && this.transactions(id)
    return entry && transactions && { header: entry.header, bytes: entry.bytes, id, transactions }
  }

  /** Encoded receipts of a block that was executed here; undefined for any other block, and once they are pruned. */
  receipts(id: BlockId): readonly Uint8Array[] | undefined {
    const bytes = this.#store.get(KEYS.receipts(id))
    return bytes === undefined ? undefined : decodeOwn(BYTES_LIST, bytes)
  }

  location(txId: TxId): Location | undefined {
    const bytes = this.#store.get(KEYS.location(txId))
    return bytes === undefined ? undefined : decodeOwn(LOCATION, bytes)
  }

  /** Encoded public keys of an address, if known. */
  keysOf(address: Address): Uint8Array | undefined {
    return this.#store.get(KEYS.keys(address))
  }

  /** Stores keys that came without their block; the addresses commit to them. */
  async storeKeys(keys: readonly AddressKeys[]): Promise<void> {
    await this.#store.batch(keys.map(keysWrite), () => {})
  }

  indexed(index: ChainIndex, key: Uint8Array): Uint8Array | undefined {
    return this.#store.get(KEYS.index(index.prefix, key))
  }

  /** Entries of an index, as at the moment of the call. */
  indexRange(index: ChainIndex, range: IndexRange): AsyncIterable<IndexEntry> {
    return mapListing(indexListing(this.#store, index, range), indexEntry)
  }

  indexPage<T>(index: ChainIndex, range: IndexRange, decode: (entry: IndexEntry) => T): Promise<readonly T[]> {
    return collect(indexListing(this.#store, index, range), (entry) => decode(indexEntry(entry)))
  }

  historyNode(level: number, index: number): HistoryNode {
    return storedHistoryNode(this.#store, level, index)
  }

  /** Peaks of the history tree with this block as the last leaf. */
  peaksThrough(entry: BlockEntry): readonly HistoryPeak[] {
    const cached = this.#peaks.get(entry.id)
    if (cached !== undefined) return cached
    const peaks = this.isCanonical(entry) ? storedPeaks(this.#store, entry.header.height + 1) : this.#sidePeaks(entry)
    this.#peaks.set(entry.id, peaks)
    return peaks
  }

  /** What the head's block changed; undefined if its undo record is gone. `entry` must be the head's. */
  undoOf(entry: BlockEntry): readonly StateChange[] | undefined {
    const bytes = this.#store.get(KEYS.undo(entry.id))
    if (bytes === undefined) return undefined
    return decodeOwn(UNDO, bytes).map(({ key, existed, value }) => {
      const stateKey = toHex(key) as StateKey
      const after = this.#store.get(KEYS.state(stateKey))
      return { table: this.#ruleBook.tableOf(stateKey), key: stateKey, before: existed ? value : undefined, after }
    })
  }

  canUnwindTo(height: number): boolean {
    if (height < this.base) return false
    const above = this.idAt(height + 1)
    return above === undefined || this.#store.get(KEYS.undo(above)) !== undefined
  }

  /** Blocks to unwind for a branch through a known, sound block. */
  forkDepth({ id, header }: BlockEntry): number {
    return this.#head.header.height - (this.side.has(id) ? this.side.forkHeight(id) : header.height)
  }

  async connect(connection: Connection): Promise<void> {
    const { block, entry, executed, tree } = connection
    const { height } = block.header
    const { nodes, peaks } = appendLeaf(this.peaksThrough(this.#head), historyLeaf(block), height)
    const { indexes, at } = this.#ruleBook
    const place = { indexes, parentState: this, rules: at(height), read: this.#read }
    const writes = connectionWrites(connection, nodes, place, this.idAt(height - UNDO_BLOCKS))
    await this.#store.batch(writes, () => {
      this.#cache.remember(executed.changes, tree, false)
      this.#peaks.set(block.id, peaks)
      this.#entries.set(block.id, entry)
      this.side.delete(block.id)
      this.#blocks.set(block.id, block)
      this.#head = entry
    })
  }

  /** The block stays stored off the best chain. */
  async disconnect(changes: readonly StateChange[], tree: TreeUpdate): Promise<void> {
    const unwound = this.#head
    const parent = this.#mustEntry(unwound.header.parent)
    const block = this.block(unwound.id) as Block
    const receipts = (this.receipts(unwound.id) as readonly Uint8Array[]).map(decodeReceipt)
    const rules = this.#ruleBook.at(block.header.height)
    const connected = { block, receipts, changes, parentState: new UnwoundState(this, changes), rules }
    const undo = this.#store.get(KEYS.indexUndo(unwound.id))
    const indexes = disconnectIndexes(this.#ruleBook.indexes, connected, this.#read, undo)
    await this.#store.batch(disconnectionWrites(block, changes, tree, indexes), () => {
      this.#cache.remember(changes, tree, true)
      this.side.addUnwound(unwound)
      this.#head = parent
    })
  }

  /** Makes the block of a snapshot the head. Its state must be proven in {@link staged}, its headers kept. */
  async adopt(height: number): Promise<void> {
    await this.staged.adopt(height, (head) => {
      for (const cache of [this.#cache, this.#peaks, this.#entries]) cache.clear()
      this.#store.space = otherSpace(this.#store.space)
      this.#head = head
    })
  }

  async storeSide(block: Block, entry: BlockEntry): Promise<void> {
    const writes = [...blockWrites(block, entry), { key: KEYS.side(block.id), value: new Uint8Array(0) }]
    await this.#store.batch(writes, () => {
      this.#entries.set(block.id, entry)
      this.side.add(entry)
    })
  }

  markInvalid(entries: readonly BlockEntry[]): Promise<void> {
    return this.restate(entries.map((entry) => ({ ...entry, invalid: true })))
  }

  /** Rewrites entries of stored blocks, together with other writes. */
  async restate(entries: readonly BlockEntry[], writes: readonly Write[] = []): Promise<void> {
    const restated = entries.map((entry) => ({ key: KEYS.entry(entry.id), value: encodeEntry(entry) }))
    await this.#store.batch([...restated, ...writes], () => {
      for (const entry of entries) {
        this.#entries.set(entry.id, entry)
        if (this.side.has(entry.id)) this.side.add(entry)
      }
    })
  }

  /**
   * Drops stored side blocks, together with other writes; without ids it writes nothing. Only whole branches may go,
   * since a block needs its parent.
   */
  async dropSide(ids: readonly BlockId[], others: readonly Write[] = []): Promise<void> {
    if (ids.length === 0) return
    const keysOf = [KEYS.entry, KEYS.bodies, KEYS.witnesses, KEYS.receipts, KEYS.side]
    const writes = ids.flatMap((id) => keysOf.map((keyOf) => ({ key: keyOf(id) })))
    await this.#store.batch([...writes, ...others], () => {
      for (const id of ids) {
        this.side.delete(id)
        this.#entries.delete(id)
      }
    })
  }

  readonly #read = (key: Uint8Array): Uint8Array | undefined => this.#store.get(key)

  #mustEntry(id: BlockId): BlockEntry {
    const entry = this.entry(id)
    assert(entry !== undefined, `block ${id} is missing from the store`)
    return entry
  }

  /** Without recursion, since a branch may be long. */
  #sidePeaks(entry: BlockEntry): readonly HistoryPeak[] {
    const branch: BlockEntry[] = []
    let at = entry
    while (!this.isCanonical(at) && this.#peaks.get(at.id) === undefined) {
      branch.push(at)
      at = this.#mustEntry(at.header.parent)
    }
    const start = this.#peaks.get(at.id) ?? storedPeaks(this.#store, at.header.height + 1)
    return branch.reduceRight((peaks, block) => appendLeaf(peaks, historyLeaf(block), block.header.height).peaks, start)
  }
}
