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
} from '../primitives/codec.ts'
import type { Address, BlockId, TxId } from '../primitives/ids.ts'
import { encodeText } from '../primitives/text.ts'
import { INNER, makeLeaf, PAGE_SLOTS, Page, SINGLE } from '../state/page.ts'
import type { StateKey } from '../state/table.ts'
import type { PageId } from '../state/tree.ts'

/** Version of everything below; a folder of another version is refused, never guessed at. */
export const SCHEMA_VERSION = 2

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
} as const

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

/** Keys by what they name. */
export const KEYS = {
  meta: (name: 'schema' | 'network' | 'head') => keyOf('meta', encodeText(name)),
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
  page: (id: PageId) => keyOf('page', encodeText(id)),
  side: (id: BlockId) => idKey('side', id),
  index: (index: number, key: Uint8Array) => keyOf('index', Uint8Array.of(index, ...key)),
} as const

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

/** Records as they were before a block. */
export const UNDO = list(container('Undo', { key: byteList(256), existed: bool, value: byteList(2 ** 22) }), 2 ** 20)

/** Place of a transaction on the best chain. */
export const LOCATION = container('Location', { height: uint32, index: uint32 })

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

const PAGE_MASK_BYTES = 2
const PAGE_LEAF_BYTES = 64
const PAGE_INNER_BYTES = 32

/**
 * Encodes a page of the state tree: which slots hold leaves and which pages below (two masks of 16 bits), then each slot's
 * path and value hash, or hash. Hashes of leaves and of nodes between follow and are left out.
 */
export function encodePage(page: Page): Uint8Array {
  let [leaves, inner, size] = [0, 0, 2 * PAGE_MASK_BYTES]
  for (let slot = 0; slot < PAGE_SLOTS; slot++) {
    const kind = page.slotKind(slot)
    if (kind === SINGLE) leaves |= 1 << slot
    else if (kind === INNER) inner |= 1 << slot
    size += kind === SINGLE ? PAGE_LEAF_BYTES : kind === INNER ? PAGE_INNER_BYTES : 0
  }
  const bytes = new Uint8Array(size)
  bytes.set([leaves & 0xff, leaves >> 8, inner & 0xff, inner >> 8])
  let offset = 2 * PAGE_MASK_BYTES
  for (let slot = 0; slot < PAGE_SLOTS; slot++) {
    const leaf = page.leafAt(slot)
    if (leaf !== undefined) {
      bytes.set(leaf.path, offset)
      bytes.set(leaf.value, offset + PAGE_INNER_BYTES)
      offset += PAGE_LEAF_BYTES
    } else if ((inner >> slot) & 1) {
      page.writeHash(PAGE_SLOTS + slot, bytes, offset)
      offset += PAGE_INNER_BYTES
    }
  }
  return bytes
}

/** Decodes a page of the state tree and hashes what was left out. */
export function decodePage(bytes: Uint8Array): Page {
  const [a = 0, b = 0, c = 0, d = 0] = bytes
  const [leaves, inner] = [a | (b << 8), c | (d << 8)]
  const page = Page.empty()
  let offset = 2 * PAGE_MASK_BYTES
  for (let slot = 0; slot < PAGE_SLOTS; slot++) {
    if ((inner >> slot) & 1) {
      page.setInner(slot, bytes.subarray(offset, offset + PAGE_INNER_BYTES))
      offset += PAGE_INNER_BYTES
    } else if ((leaves >> slot) & 1) {
      const path = copy(bytes.subarray(offset, offset + 32))
      const value = copy(bytes.subarray(offset + 32, offset + PAGE_LEAF_BYTES))
      page.setLeaf(slot, makeLeaf({ path, value }))
      offset += PAGE_LEAF_BYTES
    }
  }
  assert(offset === bytes.length, 'a stored page does not decode')
  Page.rehash([page])
  return page
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
