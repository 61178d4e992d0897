import type { Block } from '../block/block.ts'
import { appendLeaf, type HistoryNodeAt, historyLeaf } from '../block/history.ts'
import { addressOfKeys, decodeAccountKeys } from '../crypto/account-keys.ts'
import { assert } from '../primitives/assert.ts'
import { equal, fromHex, toHex } from '../primitives/bytes.ts'
import { byteVector, container, decodeOwn, encode, list, safeUint64 } from '../primitives/codec.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, BlockId, Hash } from '../primitives/ids.ts'
import { encodeText } from '../primitives/text.ts'
import type { StateKey } from '../state/table.ts'
import type { TreeUpdate } from '../state/tree.ts'
import { MemoryState, type StateChange } from '../state/view.ts'
import type { ChainIndex, IndexRead, IndexWrite } from './chain-index.ts'
import type { ConnectedBlock } from './events.ts'
import type { ExecutedBlock } from './execution.ts'
import type { Genesis } from './genesis.ts'
import type { KeyValueStore, Write } from './key-value.ts'
import {
  type BlockEntry,
  BYTES_LIST,
  decodeEntry,
  decodeSchema,
  encodeEntry,
  encodeHistoryNode,
  encodePage,
  encodeSchema,
  encodeUndo,
  indexKeys,
  KEYS,
  LOCATION,
  NETWORK_MARK,
  type Replaced,
  SCHEMA_VERSION,
  UNDO,
} from './layout.ts'
import type { RuleBook } from './rule-book.ts'

/** All writes that make genesis the head of an empty store. */
export function genesisWrites(ruleBook: RuleBook, genesis: Genesis): readonly Write[] {
  const { params, indexes, at } = ruleBook
  const { block, changes, tree } = genesis
  const { nodes } = appendLeaf([], historyLeaf(block), 0)
  const work = nodes[0]?.work as bigint
  const entry: BlockEntry = {
    ...block,
    totalWork: work,
    totalTransactions: 0,
    bodyBytes: 0,
    anchor: null,
    invalid: false,
  }
  const mark = encode(NETWORK_MARK, { name: params.name, genesis: fromHex(block.id) })
  return [
    { key: KEYS.meta('schema'), value: encodeSchema() },
    { key: KEYS.meta('network'), value: mark },
    rulesWrite(ruleBook),
    { key: KEYS.meta('head'), value: fromHex(block.id) },
    { key: KEYS.meta('indexes'), value: indexesMark(indexes) },
    { key: KEYS.canonical(0), value: fromHex(block.id) },
    { key: KEYS.receipts(block.id), value: encode(BYTES_LIST, []) },
    ...blockWrites(block, entry),
    ...changes.map(({ key, after }) => stateWrite(key, after)),
    ...pageWrites(tree),
    ...nodes.map(historyWrite),
    ...connectIndexes(indexes, genesisConnected({ at, genesis }), () => undefined).writes,
  ]
}

/** Genesis as indexes see it. It is never unwound. */
export function genesisConnected({
  genesis: { block, changes },
  at,
}: Pick<RuleBook, 'genesis' | 'at'>): ConnectedBlock {
  return { block, receipts: [], changes, parentState: new MemoryState(), rules: at(0) }
}

/** A block that was executed and is ready to become the head. */
export interface Connection {
  readonly block: Block
  readonly entry: BlockEntry
  readonly executed: ExecutedBlock
  readonly tree: TreeUpdate
}

interface IndexedPlace extends Pick<ConnectedBlock, 'parentState' | 'rules'> {
  readonly indexes: readonly ChainIndex[]
  readonly read: StoreRead
}

/** `expired` is the block that can no longer be unwound, if any. */
export function connectionWrites(
  { block, entry, executed, tree }: Connection,
  nodes: readonly HistoryNodeAt[],
  { indexes, read, ...place }: IndexedPlace,
  expired: BlockId | undefined,
): readonly Write[] {
  const { height } = block.header
  const { receipts, changes } = executed
  const indexed = connectIndexes(indexes, { block, receipts, changes, ...place }, read)
  return [
    ...blockWrites(block, entry),
    ...executed.changes.map(({ key, after }) => stateWrite(key, after)),
    ...pageWrites(tree),
    ...nodes.map(historyWrite),
    ...block.transactions.map(({ txId }, index) => ({
      key: KEYS.location(txId),
      value: encode(LOCATION, { height, index }),
    })),
    ...[...executed.keys].map(([address, keys]) => ({ key: KEYS.keys(address), value: keys })),
    ...indexed.writes,
    ...(indexed.undo === null ? [] : [{ key: KEYS.indexUndo(block.id), value: indexed.undo }]),
    { key: KEYS.receipts(block.id), value: encode(BYTES_LIST, executed.encodedReceipts) },
    { key: KEYS.undo(block.id), value: encodeStateUndo(executed.changes) },
    { key: KEYS.canonical(height), value: fromHex(block.id) },
    { key: KEYS.side(block.id) },
    { key: KEYS.meta('head'), value: fromHex(block.id) },
    ...(expired === undefined ? [] : [{ key: KEYS.undo(expired) }, { key: KEYS.indexUndo(expired) }]),
  ]
}

/** The block stays stored off the best chain. */
export function disconnectionWrites(
  { header, id, transactions }: Block,
  changes: readonly StateChange[],
  tree: TreeUpdate,
  indexes: readonly Write[],
): readonly Write[] {
  return [
    ...changes.map(({ key, before }) => stateWrite(key, before)),
    ...indexes,
    ...pageWrites(tree),
    ...transactions.map(({ txId }) => ({ key: KEYS.location(txId) })),
    { key: KEYS.undo(id) },
    { key: KEYS.indexUndo(id) },
    { key: KEYS.canonical(header.height) },
    { key: KEYS.side(id), value: new Uint8Array(0) },
    { key: KEYS.meta('head'), value: fromHex(header.parent) },
  ]
}

/** Writes of a block and its entry. */
export function blockWrites(block: Block, entry: BlockEntry): readonly Write[] {
  return [{ key: KEYS.entry(block.id), value: encodeEntry(entry) }, ...bodyWrites(block)]
}

/** Writes of the bodies and witnesses of a block's transactions. */
export function bodyWrites(block: Block): readonly Write[] {
  return [
    {
      key: KEYS.bodies(block.id),
      value: encode(
        BYTES_LIST,
        block.transactions.map(({ bodyBytes }) => bodyBytes),
      ),
    },
    {
      key: KEYS.witnesses(block.id),
      value: encode(
        BYTES_LIST,
        block.transactions.map(({ witnessBytes }) => witnessBytes),
      ),
    },
  ]
}

/** Encoded keys with the address that commits to them. */
export interface AddressKeys {
  readonly address: Address
  readonly encoded: Uint8Array
}

/** The write of keys that came without their block. Keys that are not those of the address are a bug. */
export function keysWrite({ address, encoded }: AddressKeys): Write {
  assert(addressOfKeys(encoded) === address && decodeAccountKeys(encoded).ok, 'keys that are not those of the address')
  return { key: KEYS.keys(address), value: encoded }
}

function stateWrite(key: StateKey, value: Uint8Array | undefined): Write {
  return value === undefined ? { key: KEYS.state(key) } : { key: KEYS.state(key), value }
}

function pageWrites({ pages }: TreeUpdate): readonly Write[] {
  return [...pages].map(([id, page]) =>
    page === null ? { key: KEYS.page(id) } : { key: KEYS.page(id), value: encodePage(page) },
  )
}

function historyWrite({ level, index, hash, work }: HistoryNodeAt): Write {
  return { key: KEYS.history(level, index), value: encodeHistoryNode({ hash, work }) }
}

function encodeStateUndo(changes: readonly StateChange[]): Uint8Array {
  return encodeUndo(changes.map(({ key, before }) => ({ key: fromHex(key), before })))
}

/** The write that records the rules, unless the store has them already. */
export function rulesWrites(store: Pick<KeyValueStore, 'get'>, ruleBook: RuleBook): readonly Write[] {
  const mark = store.get(KEYS.meta('rules'))
  const write = rulesWrite(ruleBook)
  return mark !== undefined && equal(mark, write.value) ? [] : [write]
}

/** A store before its checks. */
export interface FoundStore {
  readonly store: KeyValueStore
  readonly folder: string
  /** Accepts unfinished indexes and those of another release: they are about to be rebuilt. */
  readonly staleIndexes: boolean
}

/** Checks a store's schema, network, rules and indexes against this release. */
export function checkMarks(
  { store, folder, staleIndexes }: FoundStore,
  mark: Uint8Array,
  ruleBook: RuleBook,
  genesis: Genesis,
): Fault | null {
  const found = decodeSchema(store.get(KEYS.meta('schema')) ?? encodeSchema())
  if (found !== SCHEMA_VERSION) return fault('storage/other-schema', { folder, found, expected: SCHEMA_VERSION })
  const { name, genesis: foundGenesis } = decodeOwn(NETWORK_MARK, mark)
  if (toHex(foundGenesis) !== genesis.block.id) {
    return fault('storage/other-genesis', {
      folder,
      found: `${name} (genesis ${toHex(foundGenesis).slice(0, 12)})`,
      expected: `${ruleBook.params.name} (genesis ${genesis.block.id.slice(0, 12)})`,
    })
  }
  const indexes = store.get(KEYS.meta('indexes'))
  const complete = indexes !== undefined && equal(indexes, indexesMark(ruleBook.indexes))
  if (!complete && !staleIndexes) return fault('storage/stale-indexes', { folder, flags: '' })
  return checkRules({ store, folder }, ruleBook)
}

/** Most rule steps of a network: enough for one a day for eleven years. */
const STEPS_MAX = 4_096

const RULES_MARK = list(container('KnownStep', { fromHeight: safeUint64, fingerprint: byteVector(32) }), STEPS_MAX)

function rulesWrite(ruleBook: RuleBook): Write & { readonly value: Uint8Array } {
  return { key: KEYS.meta('rules'), value: encode(RULES_MARK, stepsOf(ruleBook)) }
}

/**
 * A fault unless the store's chain followed the rules of this release up to its head. If a release brings a rule step and is
 * first started after the step's height, the stored blocks followed the old rules. To build on them would be to leave
 * the network.
 */
function checkRules(
  { store, folder }: { readonly store: Pick<KeyValueStore, 'get'>; readonly folder: string },
  ruleBook: RuleBook,
): Fault | null {
  const head = toHex(store.get(KEYS.meta('head')) as Uint8Array) as BlockId
  const { height } = decodeEntry(store.get(KEYS.entry(head)) as Uint8Array).header
  const mark = store.get(KEYS.meta('rules'))
  // Releases before this mark knew only the first step.
  const known = mark === undefined ? stepsOf(ruleBook).slice(0, 1) : decodeOwn(RULES_MARK, mark)
  const wentBy = known.findLast(({ fromHeight }) => fromHeight <= height)
  const isKept = wentBy !== undefined && ruleBook.continues(toHex(wentBy.fingerprint) as Hash, height)
  return isKept ? null : fault('storage/other-rules', { folder, height })
}

function stepsOf({ params, fingerprintAt }: RuleBook) {
  return params.steps.map(({ fromHeight }) => ({ fromHeight, fingerprint: fromHex(fingerprintAt(fromHeight)) }))
}

/** Reads a key of the store as it was before the writes being computed. */
type StoreRead = (key: Uint8Array) => Uint8Array | undefined

interface IndexConnection {
  readonly writes: readonly Write[]
  /** The undo record of the folded indexes; null if there are none. */
  readonly undo: Uint8Array | null
}

/** All index writes for a block that joins the best chain. */
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

/** The writes that undo {@link connectIndexes}; `undo` is its record. */
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

/** If a store names other indexes than the program, they must be rebuilt. */
export function indexesMark(indexes: readonly ChainIndex[]): Uint8Array {
  const prefixes = new Set(indexes.map(({ prefix }) => prefix))
  assert(prefixes.size === indexes.length, 'two indexes have the same prefix')
  return encodeText(indexes.map(({ name, prefix }) => `${prefix}:${name}`).join(' '))
}
