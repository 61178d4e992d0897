/** What a request and its reply may be at most. */
export interface ProtocolLimits {
  /** Longest request, bytes. */
  readonly requestMax: number
  /** Longest reply, bytes, its first byte included. */
  readonly replyMax: number
  /** Longest wait for the whole reply, ms. */
  readonly deadlineMs: number
  /** Requests of one peer answered at once; more are refused. */
  readonly concurrentMax: number
}

const KIB = 1_024
const MIB = 1_024 * KIB

/** Bytes that a reply of many parts is filled up to; one part alone may be longer. */
export const PAGE_BYTES = MIB
/** A block's transactions with their offsets fit. */
const BLOCK_REPLY = MIB + 64 * KIB

/**
 * Every request protocol. The id on the wire is `/farthing/<first 16 hex digits of the genesis id>/<name>/1`. A request is one
 * message and so is its reply, each behind its length as an unsigned varint; the next page is asked for when the last one
 * has been worked through, so nobody ever holds more than a page for a peer.
 */
export const PROTOCOLS = {
  /** Who we are and where we stand; both sides say it. The first exchange of every connection. */
  status: { requestMax: 4 * KIB, replyMax: 4 * KIB, deadlineMs: 10_000, concurrentMax: 2 },
  /** Headers after the newest block that both know. */
  headers: { requestMax: 4 * KIB, replyMax: MIB, deadlineMs: 15_000, concurrentMax: 2 },
  /** Transactions of blocks. */
  bodies: { requestMax: 8 * KIB, replyMax: BLOCK_REPLY, deadlineMs: 20_000, concurrentMax: 4 },
  /** Some transactions of one block. */
  blockTransactions: { requestMax: 4 * KIB, replyMax: BLOCK_REPLY, deadlineMs: 10_000, concurrentMax: 4 },
  /** Ids of what waits in the mempool. */
  poolIds: { requestMax: KIB, replyMax: MIB, deadlineMs: 10_000, concurrentMax: 1 },
  /** Transactions of the mempool by id. */
  transactions: { requestMax: 64 * KIB, replyMax: BLOCK_REPLY, deadlineMs: 10_000, concurrentMax: 4 },
  /** Says that transactions are here to be asked for. */
  announce: { requestMax: 64 * KIB, replyMax: KIB, deadlineMs: 10_000, concurrentMax: 4 },
  /** Pages of the state tree at a snapshot. */
  statePages: { requestMax: KIB, replyMax: BLOCK_REPLY, deadlineMs: 30_000, concurrentMax: 4 },
  /** Records of the state at a snapshot. */
  stateRecords: { requestMax: KIB, replyMax: BLOCK_REPLY, deadlineMs: 30_000, concurrentMax: 4 },
  /** Public keys behind addresses. */
  keys: { requestMax: 16 * KIB, replyMax: BLOCK_REPLY, deadlineMs: 10_000, concurrentMax: 2 },
  /** All public keys of the registry, page by page. */
  keyPages: { requestMax: KIB, replyMax: BLOCK_REPLY, deadlineMs: 30_000, concurrentMax: 2 },
  /** Addresses of other nodes. */
  addresses: { requestMax: KIB, replyMax: 64 * KIB, deadlineMs: 10_000, concurrentMax: 1 },
} as const satisfies Record<string, ProtocolLimits>

/** Name of a request protocol. */
export type ProtocolName = keyof typeof PROTOCOLS

/** Names of all request protocols. */
export const PROTOCOL_NAMES = Object.keys(PROTOCOLS) as readonly ProtocolName[]

/**
 * Questions to the table of nodes: of Kademlia as libp2p speaks it, which is protobuf, the finding of nodes alone. It is asked
 * and answered below the other protocols, by `src/p2p/host/node-table.ts`.
 */
const TABLE: ProtocolLimits = { requestMax: KIB, replyMax: 16 * KIB, deadlineMs: 10_000, concurrentMax: 2 }

/** Every protocol of requests and replies that the transport carries. */
export const CHANNELS = { ...PROTOCOLS, kad: TABLE } as const

/** Name of such a protocol. */
export type ChannelName = keyof typeof CHANNELS

/** Longest gossiped message by topic: a compact block with every transaction prefilled; one transaction. */
export const TOPIC_BYTES_MAX = { blocks: BLOCK_REPLY, transactions: 128 * KIB } as const

/** Revision of the messages; nodes of another one are not talked to. */
export const WIRE_VERSION = 1

const GENESIS_DIGITS = 16

/** Name of a protocol on the wire. */
export function protocolId(genesis: string, name: ChannelName): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return `/farthing/${genesis.slice(0, GENESIS_DIGITS)}/${words}/${WIRE_VERSION}`
}

/** Name of a gossip topic on the wire. */
export function topicId(genesis: string, name: string): string {
  return `/farthing/${genesis.slice(0, GENESIS_DIGITS)}/${name}/${WIRE_VERSION}`
}
