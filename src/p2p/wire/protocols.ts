/** Limits of a request and its reply. */
export interface ProtocolLimits {
  /** Longest request, bytes. */
  readonly requestMax: number
  /** Longest reply with its first byte, bytes. */
  readonly replyMax: number
  /** Longest wait for the whole reply, ms. */
  readonly deadlineMs: number
  /** Requests of one peer that are answered at the same time. Further ones are refused. */
  readonly concurrentMax: number
}

const KIB = 1_024
const MIB = 1_024 * KIB

/** Bytes that a reply of many parts is filled up to. A single part may be longer. */
export const PAGE_BYTES = MIB
/** Room for a block's transactions with their offsets. */
const BLOCK_REPLY = MIB + 64 * KIB

/**
 * Every request protocol. A request and its reply are one message each, after its length as an unsigned varint. An asker that takes page
 * after page asks for at most one page ahead.
 */
export const PROTOCOLS = {
  /** The first exchange of every connection. */
  status: { requestMax: 4 * KIB, replyMax: 4 * KIB, deadlineMs: 10_000, concurrentMax: 2 },
  headers: { requestMax: 4 * KIB, replyMax: MIB, deadlineMs: 15_000, concurrentMax: 2 },
  bodies: { requestMax: 8 * KIB, replyMax: BLOCK_REPLY, deadlineMs: 20_000, concurrentMax: 4 },
  blockTransactions: { requestMax: 4 * KIB, replyMax: BLOCK_REPLY, deadlineMs: 10_000, concurrentMax: 4 },
  poolIds: { requestMax: KIB, replyMax: MIB, deadlineMs: 10_000, concurrentMax: 1 },
  transactions: { requestMax: 64 * KIB, replyMax: BLOCK_REPLY, deadlineMs: 10_000, concurrentMax: 4 },
  announce: { requestMax: 64 * KIB, replyMax: KIB, deadlineMs: 10_000, concurrentMax: 4 },
  statePages: { requestMax: KIB, replyMax: BLOCK_REPLY, deadlineMs: 30_000, concurrentMax: 4 },
  stateRecords: { requestMax: KIB, replyMax: BLOCK_REPLY, deadlineMs: 30_000, concurrentMax: 4 },
  keys: { requestMax: 16 * KIB, replyMax: BLOCK_REPLY, deadlineMs: 10_000, concurrentMax: 2 },
  keyPages: { requestMax: KIB, replyMax: BLOCK_REPLY, deadlineMs: 30_000, concurrentMax: 2 },
  addresses: { requestMax: KIB, replyMax: 64 * KIB, deadlineMs: 10_000, concurrentMax: 1 },
} as const satisfies Record<string, ProtocolLimits>

/** Name of a request protocol. */
export type ProtocolName = keyof typeof PROTOCOLS

/** Names of all request protocols. */
export const PROTOCOL_NAMES = Object.keys(PROTOCOLS) as readonly ProtocolName[]

/** Kademlia's search for nodes and its pings, in protobuf. */
const TABLE: ProtocolLimits = { requestMax: KIB, replyMax: 16 * KIB, deadlineMs: 10_000, concurrentMax: 2 }

/** Every request protocol that the transport carries. */
export const CHANNELS = { ...PROTOCOLS, kad: TABLE } as const

/** Name of a protocol that the transport carries. */
export type ChannelName = keyof typeof CHANNELS

/** Longest gossiped message by topic: a compact block with every transaction prefilled; one transaction. */
export const TOPIC_BYTES_MAX = { blocks: BLOCK_REPLY, transactions: 128 * KIB } as const

/** Version of the messages. Nodes of another version are disconnected. */
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
