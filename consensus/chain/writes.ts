import type { Block } from '../block/block.ts'
import { appendLeaf, type HistoryNodeAt, historyLeaf } from '../block/history.ts'
import { fromHex, toHex } from '../primitives/bytes.ts'
import { decodeOwn, encode } from '../primitives/codec.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { StateKey } from '../state/table.ts'
import type { TreeUpdate } from '../state/tree.ts'
import type { StateChange } from '../state/view.ts'
import type { Genesis } from './genesis.ts'
import type { KeyValueStore, Write } from './key-value.ts'
import {
  type BlockEntry,
  BYTES_LIST,
  decodeSchema,
  encodeEntry,
  encodeHistoryNode,
  encodePage,
  encodeSchema,
  KEYS,
  NETWORK_MARK,
  SCHEMA_VERSION,
  UNDO,
} from './layout.ts'
import type { RuleBook } from './rule-book.ts'

/** Everything an empty store receives. */
export function genesisWrites({ params }: RuleBook, { block, changes, tree }: Genesis): readonly Write[] {
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
    { key: KEYS.meta('head'), value: fromHex(block.id) },
    { key: KEYS.canonical(0), value: fromHex(block.id) },
    { key: KEYS.receipts(block.id), value: encode(BYTES_LIST, []) },
    ...blockWrites(block, entry),
    ...changes.map(({ key, after }) => stateWrite(key, after)),
    ...pageWrites(tree),
    ...nodes.map(historyWrite),
  ]
}

/** A block with its entry, on the best chain or off it. */
export function blockWrites(block: Block, entry: BlockEntry): readonly Write[] {
  return [
    { key: KEYS.entry(block.id), value: encodeEntry(entry) },
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

/** One state record. */
export function stateWrite(key: StateKey, value: Uint8Array | undefined): Write {
  return value === undefined ? { key: KEYS.state(key) } : { key: KEYS.state(key), value }
}

/** Changed pages of the state tree. */
export function pageWrites({ pages }: TreeUpdate): readonly Write[] {
  return [...pages].map(([id, page]) =>
    page === null ? { key: KEYS.page(id) } : { key: KEYS.page(id), value: encodePage(page) },
  )
}

/** One perfect node of the history tree. */
export function historyWrite({ level, index, hash, work }: HistoryNodeAt): Write {
  return { key: KEYS.history(level, index), value: encodeHistoryNode({ hash, work }) }
}

/** What takes the changes back. */
export function encodeUndo(changes: readonly StateChange[]): Uint8Array {
  return encode(
    UNDO,
    changes.map(({ key, before }) => ({
      key: fromHex(key),
      existed: before !== undefined,
      value: before ?? new Uint8Array(0),
    })),
  )
}

/** Whether a store is of this release's schema and of this network. */
export function checkMarks(
  store: KeyValueStore,
  mark: Uint8Array,
  ruleBook: RuleBook,
  genesis: Genesis,
  folder: string,
): Fault | null {
  const found = decodeSchema(store.get(KEYS.meta('schema')) ?? encodeSchema())
  if (found !== SCHEMA_VERSION) return fault('storage/other-schema', { folder, found, expected: SCHEMA_VERSION })
  const { name, genesis: foundGenesis } = decodeOwn(NETWORK_MARK, mark)
  if (toHex(foundGenesis) === genesis.block.id) return null
  return fault('storage/other-genesis', {
    folder,
    found: `${name} (genesis ${toHex(foundGenesis).slice(0, 12)})`,
    expected: `${ruleBook.params.name} (genesis ${genesis.block.id.slice(0, 12)})`,
  })
}
