import { taggedHashHex } from '../crypto/hash.ts'
import { copy } from '../primitives/bytes.ts'
import {
  byteVector,
  container,
  decode,
  encode,
  hex32,
  safeUint64,
  uint32,
  uint64,
  uint256,
  type ValueOf,
} from '../primitives/codec.ts'
import type { Address, BlockId, Hash } from '../primitives/ids.ts'
import { ok, type Result } from '../primitives/result.ts'

/** The only header version, in the low 16 bits of the field. The high 16 bits are free, for miners to signal readiness. */
export const HEADER_VERSION = 1

const HEADER = container('Header', {
  version: uint32,
  height: uint32,
  parent: hex32<BlockId>(),
  timeMs: safeUint64,
  target: uint256,
  transactionsRoot: hex32<Hash>(),
  witnessRoot: hex32<Hash>(),
  receiptsRoot: hex32<Hash>(),
  stateRoot: hex32<Hash>(),
  historyRoot: hex32<Hash>(),
  miner: hex32<Address>(),
  baseFee: uint64,
  weightUsed: uint32,
  extra: byteVector(32),
  nonce: uint64,
})

/** Length of a header. */
export const HEADER_BYTES = HEADER.fixedSize as number
/** The nonce is the end of a header. */
export const NONCE_BYTES = 8

/** `stateRoot` is the state after the whole block. */
export type Header = ValueOf<typeof HEADER>

/** A header with its encoded bytes and its id. */
export interface SealedHeader {
  readonly header: Header
  readonly bytes: Uint8Array
  readonly id: BlockId
}

/** Encodes a header and computes its id. */
export function sealHeader(header: Header): SealedHeader {
  return sealed(header, encode(HEADER, header))
}

/** Decodes a copy of header bytes. */
export function decodeHeader(bytes: Uint8Array): Result<SealedHeader> {
  const own = copy(bytes)
  const decoded = decode(HEADER, own)
  return decoded.ok ? ok(sealed(decoded.value, own)) : decoded
}

/** Without the signal bits. */
export function headerVersion(header: Pick<Header, 'version'>): number {
  return header.version & 0xffff
}

function sealed(header: Header, bytes: Uint8Array): SealedHeader {
  return { header, bytes, id: taggedHashHex<BlockId>('blockId', bytes) }
}
