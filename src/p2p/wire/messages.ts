import { BLOCK_TRANSACTIONS_MAX } from '../../../consensus/block/block.ts'
import { HEADER_BYTES } from '../../../consensus/block/header.ts'
import { ACCOUNT_KEYS_BYTES_MAX } from '../../../consensus/crypto/account-keys.ts'
import {
  bool,
  byteList,
  byteVector,
  type Codec,
  container,
  hex32,
  list,
  text,
  uint8,
  uint16,
  uint32,
  uint64,
  uint256,
  type ValueOf,
} from '../../../consensus/primitives/codec.ts'
import type { Address, BlockId, Hash, WtxId } from '../../../consensus/primitives/ids.ts'
import { TX_BYTES_MAX } from '../../../consensus/tx/transaction.ts'
import type { ProtocolName } from './protocols.ts'

/** Most ids in a locator. The newest blocks stand in it one by one, then the distance doubles, so 40 ids reach genesis from any height. */
export const LOCATOR_MAX = 40
/** Most headers of a reply. */
export const HEADERS_MAX = 2_000
/** Most blocks whose bodies one request names. */
export const BODIES_MAX = 128
/** Most transactions that a request or an announcement names. */
export const TRANSACTION_IDS_MAX = 1_024
/** Most ids of a page of the mempool. */
export const POOL_IDS_MAX = 16_384
/** Most addresses of keys that a request names. */
export const KEY_ADDRESSES_MAX = 256
/** Most snapshots that a node offers. */
export const SNAPSHOTS_MAX = 8
/** Most node addresses of a reply. */
export const NODE_ADDRESSES_MAX = 256
/** Most pages, records or keys of a reply. The byte limit is reached earlier. */
const ENTRIES_MAX = 65_536
/** Bytes of a short transaction id in a compact block. */
export const SHORT_ID_BYTES = 6
/** 32 bytes of path are 64 nibbles. */
const PAGE_ID_MAX = 64
/** Table prefix and record id. */
const STATE_KEY_MAX = 256
const RECORD_MAX = 65_536

const TRANSACTION_BYTES = byteList(TX_BYTES_MAX)

const SNAPSHOT = container('Snapshot', { height: uint32, id: hex32<BlockId>() })

/** A status names a mode by its index here. */
export const STORAGE_MODES = ['archive', 'full', 'pruned'] as const
/** How much of the past a node keeps. `archive`: everything. `full`: bodies for ever, witnesses for a while. `pruned`: both for a while. */
export type StorageMode = (typeof STORAGE_MODES)[number]

/** What a node says of itself and its chain. */
export const STATUS = container('Status', {
  version: uint16,
  genesis: hex32<BlockId>(),
  /** Fingerprint of the rules in force up to `height`. */
  rules: hex32<Hash>(),
  agent: text(64),
  head: hex32<BlockId>(),
  height: uint32,
  totalWork: uint256,
  mode: uint8,
  /** Lowest height from which on all bodies are held. */
  bodiesFrom: uint32,
  /** Lowest height from which on all witnesses are held too. */
  witnessesFrom: uint32,
  snapshots: list(SNAPSHOT, SNAPSHOTS_MAX),
})
/** A decoded status. */
export type Status = ValueOf<typeof STATUS>
/** Id and height of a block, mostly of one whose state a peer offers. */
export type SnapshotRef = ValueOf<typeof SNAPSHOT>

/** A block with most of its transactions named by short ids: see docs/spec/p2p.md, section 4. */
export const COMPACT_BLOCK = container('CompactBlock', {
  header: byteVector(HEADER_BYTES),
  salt: uint64,
  /** Short ids of the transactions that are not prefilled, in order, joined. */
  shortIds: byteList(SHORT_ID_BYTES * BLOCK_TRANSACTIONS_MAX),
  prefilled: list(container('Prefilled', { index: uint16, transaction: TRANSACTION_BYTES }), BLOCK_TRANSACTIONS_MAX),
})
const EMPTY = container('Empty', { reserved: uint8 })
const WTX_IDS = list(hex32<WtxId>(), TRANSACTION_IDS_MAX)
const TRANSACTIONS = list(TRANSACTION_BYTES, BLOCK_TRANSACTIONS_MAX)

/** Request and reply of every protocol, in SSZ. On the wire a byte comes first: 0 before a reply, 1 before a refusal. */
export const MESSAGES = {
  status: { request: STATUS, reply: STATUS },
  headers: {
    request: container('HeadersRequest', {
      /** Ids of a branch that the asker has, newest first, ever farther apart, genesis last. */
      locator: list(hex32<BlockId>(), LOCATOR_MAX),
      limit: uint16,
    }),
    reply: list(byteVector(HEADER_BYTES), HEADERS_MAX),
  },
  bodies: {
    request: list(hex32<BlockId>(), BODIES_MAX),
    /** Bodies of these blocks from the beginning of the list, as many as fit. */
    reply: list(TRANSACTIONS, BODIES_MAX),
  },
  blockTransactions: {
    request: container('BlockTransactionsRequest', {
      block: hex32<BlockId>(),
      indexes: list(uint16, BLOCK_TRANSACTIONS_MAX),
    }),
    /** All transactions that were asked for, in the order of the request. */
    reply: TRANSACTIONS,
  },
  poolIds: {
    request: container('PoolIdsRequest', { cursor: uint32 }),
    /** `next` is the cursor of the next page, 0 at the end. */
    reply: container('PoolIds', { ids: list(hex32<WtxId>(), POOL_IDS_MAX), next: uint32 }),
  },
  transactions: { request: WTX_IDS, reply: TRANSACTIONS },
  announce: { request: WTX_IDS, reply: EMPTY },
  statePages: {
    /**
     * The reply has the pages whose ids come after `after`, in order. With `first`, `after` is empty and the reply begins with the root.
     */
    request: container('StatePagesRequest', { snapshot: hex32<BlockId>(), after: byteList(PAGE_ID_MAX), first: bool }),
    reply: container('StatePages', {
      pages: list(container('StatePage', { id: byteList(PAGE_ID_MAX), form: byteList(2_048) }), ENTRIES_MAX),
      done: bool,
    }),
  },
  stateRecords: {
    /** The reply has the records whose keys come after `after`, in order. An empty `after` asks from the beginning. */
    request: container('StateRecordsRequest', { snapshot: hex32<BlockId>(), after: byteList(STATE_KEY_MAX) }),
    reply: container('StateRecords', {
      records: list(
        container('StateRecord', { key: byteList(STATE_KEY_MAX), value: byteList(RECORD_MAX) }),
        ENTRIES_MAX,
      ),
      done: bool,
    }),
  },
  keys: {
    request: list(hex32<Address>(), KEY_ADDRESSES_MAX),
    /** Keys in the order of the request. An entry is empty if the keys are unknown or the reply is full. */
    reply: list(byteList(ACCOUNT_KEYS_BYTES_MAX), KEY_ADDRESSES_MAX),
  },
  keyPages: {
    /** The reply has the keys whose addresses come after `after`, in order. With `first` it begins with the lowest address. */
    request: container('KeyPagesRequest', { after: hex32<Address>(), first: bool }),
    reply: container('KeyPages', { keys: list(byteList(ACCOUNT_KEYS_BYTES_MAX), ENTRIES_MAX), done: bool }),
  },
  addresses: { request: EMPTY, reply: list(text(256), NODE_ADDRESSES_MAX) },
} as const satisfies Record<ProtocolName, object>

/** Request of a protocol. */
export type RequestOf<P extends ProtocolName> = ValueOf<(typeof MESSAGES)[P]['request']>
/** Reply of a protocol. */
export type ReplyOf<P extends ProtocolName> = ValueOf<(typeof MESSAGES)[P]['reply']>

/** Codec of a protocol's requests. */
export function requestCodec<P extends ProtocolName>(protocol: P): Codec<RequestOf<P>> {
  return MESSAGES[protocol].request as unknown as Codec<RequestOf<P>>
}

/** Codec of a protocol's replies. */
export function replyCodec<P extends ProtocolName>(protocol: P): Codec<ReplyOf<P>> {
  return MESSAGES[protocol].reply as unknown as Codec<ReplyOf<P>>
}

/** Protocols whose request is a list of names, each of which may stand in it only once. */
const NAMES_ONCE: ReadonlySet<ProtocolName> = new Set<ProtocolName>(['bodies', 'transactions', 'keys'])

/** The rule that a decoded request breaks; null if none. */
export function breachOf<P extends ProtocolName>(protocol: P, request: RequestOf<P>): string | null {
  if (!NAMES_ONCE.has(protocol) || !Array.isArray(request)) return null
  return new Set(request).size < request.length ? 'it names something twice' : null
}

/** The empty message. */
export const NOTHING = { reserved: 0 }
