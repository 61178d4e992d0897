import { publicKeyFromRaw } from '@libp2p/crypto/keys'
import { peerIdFromPublicKey, peerIdFromString } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import type { PeerId } from '../network.ts'
import { bytesField, type Field, numberField, readFields } from './protobuf.ts'

/** A question to the table: for nodes near a key, or whether we are there. */
export type TableQuestion = { readonly kind: 'find'; readonly key: Uint8Array } | { readonly kind: 'ping' }

/** A node in an answer. */
export interface TableNode {
  readonly peer: PeerId
  readonly addresses: readonly string[]
}

/** Most nodes in one answer. */
export const NODES_MAX = 20
/** Most addresses of one node in an answer. */
export const ADDRESSES_PER_NODE = 8
/** Most fields of a question. An honest one has kind, key and level once each. */
const QUESTION_FIELDS_MAX = 4
/** Fields of an answer, and of one node in it. Older releases name more addresses of each node. */
const ANSWER_FIELDS_MAX = 64
const NODE_FIELDS_MAX = 256
/** Enough for a peer id or a hash. */
const KEY_BYTES_MAX = 64
const ADDRESS_BYTES_MAX = 128

const KIND = { find: 4, ping: 5 } as const
const FIELDS = { kind: 1, key: 2, closer: 8, level: 10 } as const
const ASKED_WITH: ReadonlySet<number> = new Set([FIELDS.kind, FIELDS.key, FIELDS.level])
const NODE_FIELDS = { id: 1, address: 2 } as const

/** Bytes before an Ed25519 key in a peer id. */
const ID_PREFIX = Uint8Array.of(0x00, 0x24, 0x08, 0x01, 0x12, 0x20)
const ID_BYTES = ID_PREFIX.length + 32

/** Reads a question; undefined for any other message, also for one that wants something stored. */
export function readQuestion(bytes: Uint8Array): TableQuestion | undefined {
  const fields = readFields(bytes, QUESTION_FIELDS_MAX)
  if (fields === undefined || fields.some(({ number }) => !ASKED_WITH.has(number))) return undefined
  const kind = onlyOf(fields, FIELDS.kind)
  const key = onlyOf(fields, FIELDS.key)
  if (kind === KIND.ping) return { kind: 'ping' }
  if (kind !== KIND.find || !(key instanceof Uint8Array) || key.length > KEY_BYTES_MAX) return undefined
  return { kind: 'find', key }
}

/** A question for nodes near a key. */
export function writeQuestion(key: Uint8Array): Uint8Array {
  return Buffer.concat([numberField(FIELDS.kind, KIND.find), bytesField(FIELDS.key, key)])
}

/** The answer to a ping. */
export function writePong(): Uint8Array {
  return numberField(FIELDS.kind, KIND.ping)
}

/** The answer to a question for nodes. */
export function writeNodes(nodes: readonly TableNode[]): Uint8Array {
  const closer = nodes.slice(0, NODES_MAX).map(({ peer, addresses }) => {
    const places = addresses.slice(0, ADDRESSES_PER_NODE).map((text) => multiaddr(text).bytes)
    const id = bytesField(NODE_FIELDS.id, peerIdFromString(peer).toMultihash().bytes)
    const node = Buffer.concat([id, ...places.map((place) => bytesField(NODE_FIELDS.address, place))])
    return bytesField(FIELDS.closer, node)
  })
  return Buffer.concat([numberField(FIELDS.kind, KIND.find), ...closer])
}

/** The nodes in an answer that can be of this network; undefined if the message is no answer. */
export function readNodes(bytes: Uint8Array): readonly TableNode[] | undefined {
  const fields = readFields(bytes, ANSWER_FIELDS_MAX)
  if (fields === undefined || onlyOf(fields, FIELDS.kind) !== KIND.find) return undefined
  return fields
    .filter(({ number }) => number === FIELDS.closer)
    .slice(0, NODES_MAX)
    .flatMap(({ value }) => (value instanceof Uint8Array ? readNode(value) : []))
}

function readNode(bytes: Uint8Array): readonly TableNode[] {
  const fields = readFields(bytes, NODE_FIELDS_MAX) ?? []
  const id = onlyOf(fields, NODE_FIELDS.id)
  if (!(id instanceof Uint8Array) || id.length !== ID_BYTES || ID_PREFIX.some((byte, i) => id[i] !== byte)) return []
  const peer = peerIdFromPublicKey(publicKeyFromRaw(id.slice(ID_PREFIX.length))).toString() as PeerId
  const places = fields.filter(({ number }) => number === NODE_FIELDS.address).slice(0, ADDRESSES_PER_NODE)
  return [{ peer, addresses: places.flatMap(({ value }) => readPlace(value)) }]
}

function readPlace(value: Field['value']): readonly string[] {
  if (!(value instanceof Uint8Array) || value.length > ADDRESS_BYTES_MAX) return []
  try {
    return [multiaddr(value.slice()).toString()]
  } catch {
    // An address of a kind that this release does not know. The node may have others.
    return []
  }
}

/** The value of a field that may stand once. The last one counts. */
function onlyOf(fields: readonly Field[], number: number): Field['value'] | undefined {
  return fields.findLast((field) => field.number === number)?.value
}
