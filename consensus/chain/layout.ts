import type { Anchor } from '../block/difficulty.ts'
import { decodeHeader, HEADER_BYTES, type SealedHeader } from '../block/header.ts'
import type { HistoryNode } from '../block/history.ts'
import { assert } from '../primitives/assert.ts'
import { copy, toHex, writeHex } from '../primitives/bytes.ts'
import {
  bool,
  byteList,
  byteVector,
  container,
  decodeOwn,
  encode,
  list,
  safeUint64,
  text,
  uint16,
  uint32,
  uint256,
  type ValueOf,
} from '../primitives/codec.ts'
import type { Address, BlockId, TxId } from '../primitives/ids.ts'
import { encodeText } from '../primitives/text.ts'
import { Page } from '../state/page.ts'
import type { StateKey } from '../state/table.ts'
import type { PageId } from '../state/tree.ts'

/** Version of everything below. A folder of another version is refused. */
export const SCHEMA_VERSION = 3

/** Every key prefix of the chain's store. A prefix that goes out of use must never be used again. */
const PREFIX = {
  /** Names -> small values. */
  meta: 0x00,
  /** Block id -> `BlockEntry`. */
  entry: 0x01,
  /** Height (big-endian) -> id of the best chain's block. */
  canonical: 0x02,
  /** Block id -> transaction bodies. */
  bodies: 0x03,
  /** Block id -> witnesses. */
  witnesses: 0x04,
  /** Block id -> receipts. */
  receipts: 0x05,
  /** Block id -> state records as they were before the block. */
  undo: 0x06,
  /** Transaction id -> where the best chain holds it. */
  location: 0x07,
  /** Address -> its public keys; content-addressed, kept over reorganisations. */
  keys: 0x08,
  /** Level, index (big-endian) -> perfect node of the history tree. */
  history: 0x09,
  /**
   * State key -> record. A state key begins with the number of its table. Tables are numbered apart from these
   * prefixes.
   */
  state: 0x0a,
  /** Nibble path -> page of the state tree. */
  page: 0x0b,
  /** Ids of stored blocks off the best chain. */
  side: 0x0c,
  /** Index prefix, index key -> entry of an index over the best chain. */
  index: 0x0d,
  /** Block id -> entries of folded indexes as they were before the block. */
  indexUndo: 0x0e,
  /** State key -> record, while a rebuild of the indexes executes the chain again. */
  replay: 0x0f,
  /** Height (big-endian) -> entry of a header that was proven for a snapshot. Cleared after its adoption. */
  kept: 0x10,
} as const

/** The parts of a head's state: `state`, `page` and `index`. A store has two rooms for them: see `SpacedStore`. */
const SPACED: readonly number[] = [PREFIX.state, PREFIX.page, PREFIX.index]
/** Added to a prefix in the second room, where the prefixes are therefore 0x1a, 0x1b and 0x1d. */
const SPACE_STEP = 0x10

/** One of the two rooms for a state. */
export type Space = 0 | 1

/** Whether keys with this first byte exist in both rooms. */
export function isSpaced(prefix: number | undefined): boolean {
  return prefix !== undefined && SPACED.includes(prefix)
}

/** Moves a key of the first room into a room. Keys outside the rooms stay as they are. */
export function keyInSpace(key: Uint8Array, space: Space): Uint8Array {
  if (space === 0 || !isSpaced(key[0])) return key
  const moved = copy(key)
  moved[0] = (key[0] as number) + SPACE_STEP
  return moved
}

type Prefix = keyof typeof PREFIX

/** What all keys of a prefix begin with. */
export function prefixKey(prefix: Prefix): Uint8Array {
  return Uint8Array.of(PREFIX[prefix])
}

function keyOf(prefix: Prefix, rest: Uint8Array): Uint8Array {
  const key = new Uint8Array(1 + rest.length)
  key[0] = PREFIX[prefix]
  key.set(rest, 1)
  return key
}

function idKey(prefix: Prefix, id: string): Uint8Array {
  const key = new Uint8Array(1 + id.length / 2)
  key[0] = PREFIX[prefix]
  writeHex(key, 1, id)
  return key
}

/** Length of the store's prefix before an index's own key. */
export const INDEX_KEY_AT = 2

function indexKey(index: number, rest: Uint8Array): Uint8Array {
  return indexKeys(index, [{ key: rest }])[0] as Uint8Array
}

/** Store keys for many keys of one index, in one buffer. */
export function indexKeys(index: number, keys: readonly { readonly key: Uint8Array }[]): readonly Uint8Array[] {
  const bytes = new Uint8Array(keys.reduce((sum, { key }) => sum + INDEX_KEY_AT + key.length, 0))
  let at = 0
  return keys.map(({ key }) => {
    const start = at
    bytes[start] = PREFIX.index
    bytes[start + 1] = index
    bytes.set(key, start + INDEX_KEY_AT)
    at += INDEX_KEY_AT + key.length
    return bytes.subarray(start, at)
  })
}

/** The nibbles are stored as characters. */
function pageKey(id: PageId): Uint8Array {
  const key = new Uint8Array(1 + id.length)
  key[0] = PREFIX.page
  for (let i = 0; i < id.length; i++) key[i + 1] = id.charCodeAt(i)
  return key
}

/** Makes the store's key of each kind of entry. */
export const KEYS = {
  meta: (name: MetaName) => keyOf('meta', encodeText(name)),
  entry: (id: BlockId) => idKey('entry', id),
  canonical: (height: number) => keyOf('canonical', bigEndian32(height)),
  bodies: (id: BlockId) => idKey('bodies', id),
  witnesses: (id: BlockId) => idKey('witnesses', id),
  receipts: (id: BlockId) => idKey('receipts', id),
  undo: (id: BlockId) => idKey('undo', id),
  location: (txId: TxId) => idKey('location', txId),
  keys: (address: Address) => idKey('keys', address),
  history: (level: number, index: number) => keyOf('history', Uint8Array.of(level, ...bigEndian32(index))),
  state: (key: StateKey) => idKey('state', key),
  page: pageKey,
  side: (id: BlockId) => idKey('side', id),
  index: indexKey,
  indexUndo: (id: BlockId) => idKey('indexUndo', id),
  replay: (key: StateKey) => idKey('replay', key),
  kept: (height: number) => keyOf('kept', bigEndian32(height)),
} as const

/**
 * Names of the marks. What some of them hold:
 * - `space`: the room with the head's state.
 * - `base`: the height of the snapshot that was adopted last.
 * - `kept`: the last header kept for a snapshot.
 * - `keptBack`: where the kept headers are cut back to if peers do not know them.
 * - `taking`: how far a snapshot was fetched.
 * - `adopting`: a snapshot is complete and becomes the head's state.
 * - `residue`: the other room is to be emptied.
 * - `held`: which bodies are stored.
 * - `sized`: from which height on, up to a snapshot's, entries are known to hold the size of their blocks.
 * - `indexedFrom`: from which height on the indexes over blocks are complete, if a rebuild changed it.
 */
type MetaName =
  | 'schema'
  | 'network'
  | 'rules'
  | 'head'
  | 'indexes'
  | 'reindex'
  | 'space'
  | 'base'
  | 'kept'
  | 'keptBack'
  | 'taking'
  | 'adopting'
  | 'residue'
  | 'held'
  | 'sized'
  | 'indexedFrom'

/** The id in a key of {@link KEYS}. */
export function idOfKey(key: Uint8Array): string {
  return toHex(key.subarray(1))
}

/** `totalWork` includes this block; `anchor` is for its children. */
export interface BlockEntry extends SealedHeader {
  readonly totalWork: bigint
  /**
   * Transactions up to and including this block. After a snapshot was adopted, the count begins with the block above
   * it.
   */
  readonly totalTransactions: number
  /** Wire bytes of its transactions. */
  readonly bodyBytes: number
  /** Null only for genesis. */
  readonly anchor: Anchor | null
  readonly invalid: boolean
}

const ENTRY = container('BlockEntry', {
  header: byteVector(HEADER_BYTES),
  totalWork: uint256,
  totalTransactions: safeUint64,
  bodyBytes: uint32,
  hasAnchor: bool,
  anchorHeight: uint32,
  anchorTimeMs: safeUint64,
  anchorTarget: uint256,
  invalid: bool,
})

/** Encodes a block entry. */
export function encodeEntry(entry: BlockEntry): Uint8Array {
  const { bytes, totalWork, totalTransactions, bodyBytes, anchor, invalid } = entry
  return encode(ENTRY, {
    header: bytes,
    totalWork,
    totalTransactions,
    bodyBytes,
    hasAnchor: anchor !== null,
    anchorHeight: anchor?.height ?? 0,
    anchorTimeMs: anchor?.timeMs ?? 0,
    anchorTarget: anchor?.target ?? 0n,
    invalid,
  })
}

/** Decodes a block entry. */
export function decodeEntry(bytes: Uint8Array): BlockEntry {
  const raw = decodeOwn(ENTRY, bytes)
  const sealed = decodeHeader(raw.header)
  assert(sealed.ok, 'a stored header does not decode')
  const anchor = raw.hasAnchor ? { height: raw.anchorHeight, timeMs: raw.anchorTimeMs, target: raw.anchorTarget } : null
  const { totalWork, totalTransactions, bodyBytes, invalid } = raw
  return { ...sealed.value, totalWork, totalTransactions, bodyBytes, anchor, invalid }
}

/** The bodies, witnesses or receipts of one block. */
export const BYTES_LIST = list(byteList(2 ** 22), 2 ** 16)

/** State records or index entries as they were before a block. */
export const UNDO = list(container('Undo', { key: byteList(256), existed: bool, value: byteList(2 ** 22) }), 2 ** 20)

/** `before` is undefined if the key was absent. */
export interface Replaced {
  readonly key: Uint8Array
  readonly before: Uint8Array | undefined
}

/** Encodes an undo record. */
export function encodeUndo(replaced: readonly Replaced[]): Uint8Array {
  return encode(
    UNDO,
    replaced.map(({ key, before }) => ({ key, existed: before !== undefined, value: before ?? new Uint8Array(0) })),
  )
}

/** Codec of {@link Location}. */
export const LOCATION = container('Location', { height: uint32, index: uint32 })
/** Where the best chain holds a transaction. */
export type Location = ValueOf<typeof LOCATION>

/** Progress of a rebuild of the indexes: the next height, and the indexes that are rebuilt. */
export const REINDEX_MARK = container('ReindexMark', { next: uint32, indexes: byteList(4_096) })

/** Codec of the marks that hold one height: `base`, `adopting`, `sized` and `indexedFrom`. */
export const BASE_MARK = container('BaseMark', { height: uint32 })

/** Codec of {@link HeldBodies}. */
export const HELD_MARK = container('HeldMark', { bodiesFrom: uint32, witnessesFrom: uint32 })
/** Heights from which, up to the head, the bodies and the witnesses of all blocks are held. */
export type HeldBodies = ValueOf<typeof HELD_MARK>

/** The network of a store. */
export const NETWORK_MARK = container('NetworkMark', { name: text(64), genesis: byteVector(32) })

const HISTORY_NODE = container('HistoryNode', { hash: byteVector(32), work: uint256 })

/** Encodes a history node. */
export function encodeHistoryNode(node: HistoryNode): Uint8Array {
  return encode(HISTORY_NODE, node)
}

/** Decodes a history node. */
export function decodeHistoryNode(bytes: Uint8Array): HistoryNode {
  return decodeOwn(HISTORY_NODE, bytes)
}

/** Encodes a page of the state tree. */
export function encodePage(page: Page): Uint8Array {
  return page.form()
}

/** The bytes must not change afterwards. */
export function decodePage(bytes: Uint8Array): Page {
  return Page.ofForm(bytes)
}

const SCHEMA = container('Schema', { version: uint16 })

/** Encodes the schema version. */
export function encodeSchema(): Uint8Array {
  return encode(SCHEMA, { version: SCHEMA_VERSION })
}

/** Decodes a schema version. */
export function decodeSchema(bytes: Uint8Array): number {
  return decodeOwn(SCHEMA, bytes).version
}

function bigEndian32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value, false)
  return bytes
}
