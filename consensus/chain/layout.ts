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

/** Version of everything below; a folder of another version is refused, never guessed at. */
export const SCHEMA_VERSION = 3

/**
 * Every key prefix of the chain's store, with what lies under it. Retired prefixes would be listed here as never to
 * be reused.
 */
const PREFIX = {
  /** Names -> small values. */
  meta: 0x00,
  /** Block id -> header, total work, anchor, validity. */
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
  /** State key -> record. */
  state: 0x0a,
  /** Nibble path -> page of the state tree. */
  page: 0x0b,
  /** Ids of stored blocks off the best chain. */
  side: 0x0c,
  /** Index prefix, index key -> entry of an index over the best chain. */
  index: 0x0d,
  /** Block id -> entries of folded indexes as they were before the block. */
  indexUndo: 0x0e,
  /** State key -> record of the state that a rebuild of the indexes has come to; empty otherwise. */
  replay: 0x0f,
  /** Height (big-endian) -> entry of a header that was proven for a snapshot; empty otherwise. */
  kept: 0x10,
} as const

/** What a head's state is made of: `state`, `page` and `index`. A store has room for it twice: see `SpacedStore`. */
const SPACED: readonly number[] = [PREFIX.state, PREFIX.page, PREFIX.index]
/** How far the second room's prefixes lie above the first one's: 0x1a, 0x1b and 0x1d are taken by it. */
const SPACE_STEP = 0x10

/** One of the two rooms for a state. */
export type Space = 0 | 1

/** Whether keys with this first byte exist in both rooms. */
export function isSpaced(prefix: number | undefined): boolean {
  return prefix !== undefined && SPACED.includes(prefix)
}

/** A key of the first room as it stands in a room; other keys are the same in both. */
export function keyInSpace(key: Uint8Array, space: Space): Uint8Array {
  if (space === 0 || !isSpaced(key[0])) return key
  const moved = copy(key)
  moved[0] = (key[0] as number) + SPACE_STEP
  return moved
}

type Prefix = keyof typeof PREFIX

/** All keys of a prefix. */
export function prefixKey(prefix: Prefix): Uint8Array {
  return Uint8Array.of(PREFIX[prefix])
}

/** Key under a prefix. */
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

/** Bytes of a key of an index before the index's own. */
export const INDEX_KEY_AT = 2

function indexKey(index: number, rest: Uint8Array): Uint8Array {
  return indexKeys(index, [{ key: rest }])[0] as Uint8Array
}

/** Keys in the store of many keys of one index, in one piece of memory. */
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

/** The nibbles as characters. */
function pageKey(id: PageId): Uint8Array {
  const key = new Uint8Array(1 + id.length)
  key[0] = PREFIX.page
  for (let i = 0; i < id.length; i++) key[i + 1] = id.charCodeAt(i)
  return key
}

/** Keys by what they name. */
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
 * Names of the marks: `space` the room that the head's state is in, `base` where a store began from a snapshot, `kept` the end
 * of the headers kept for one, `keptBack` where that is taken back to if peers do not know it, `taking` how far one was taken,
 * `adopting` that one is complete and becomes the head's, `residue` that the other room is to be emptied, `held` which bodies
 * are there, `sized` from which height on, up to a snapshot's, entries are known to say how large their blocks are,
 * `indexedFrom` the height from which on indexes over blocks are complete if a rebuild has changed it.
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

/** Id at the end of a key made by {@link KEYS}. */
export function idOfKey(key: Uint8Array): string {
  return toHex(key.subarray(1))
}

/** What the node knows of a block: its header, the work up to and with it, the anchor for its children. */
export interface BlockEntry extends SealedHeader {
  readonly totalWork: bigint
  /** Transactions up to and with this block. */
  readonly totalTransactions: number
  /** Bytes of its transactions on the wire. */
  readonly bodyBytes: number
  /** Null for genesis alone. */
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

/** Lists of byte strings: bodies, witnesses, receipts of one block. */
export const BYTES_LIST = list(byteList(2 ** 22), 2 ** 16)

/** State records or entries of indexes as they were before a block. */
export const UNDO = list(container('Undo', { key: byteList(256), existed: bool, value: byteList(2 ** 22) }), 2 ** 20)

/** What a block replaced: a key, and its value before; undefined is absence. */
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

/** Place of a transaction on the best chain. */
export const LOCATION = container('Location', { height: uint32, index: uint32 })
/** Where the best chain holds a transaction. */
export type Location = ValueOf<typeof LOCATION>

/** How far a rebuild of the indexes has come: the next height, and which indexes are rebuilt. */
export const REINDEX_MARK = container('ReindexMark', { next: uint32, indexes: byteList(4_096) })

/** Height of the snapshot that a store began from: nothing up to it was executed here. */
export const BASE_MARK = container('BaseMark', { height: uint32 })

/** From which heights on bodies and witnesses are held. */
export const HELD_MARK = container('HeldMark', { bodiesFrom: uint32, witnessesFrom: uint32 })
/** From which heights on, up to the head, bodies and witnesses of all blocks are held. */
export type HeldBodies = ValueOf<typeof HELD_MARK>

/** Which network a store belongs to. */
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

/** Decodes a page of the state tree; the bytes are the page's from then on. */
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
