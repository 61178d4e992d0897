import { madeBytes } from './bytes.ts'
import { container, listOfVarying, tagged, u8, u32, u64, vary } from './tx-wire.ts'

/**
 * Envelopes of raw transactions: the fields of docs/spec/transactions.md without checks, so that malformed ones can be
 * written too.
 */

export interface RawBody {
  readonly version: number
  readonly chainId: number
  readonly sender: Uint8Array
  readonly nonce: bigint
  readonly kind: number
  readonly maxFeeRate: bigint
  readonly tip: bigint
  readonly validUntil: number
  readonly memo: Uint8Array
  readonly payload: Uint8Array
}

export interface RawSignature {
  readonly keyIndex: number
  readonly bytes: Uint8Array
}

export interface RawWitness {
  readonly keys: Uint8Array
  readonly signatures: readonly RawSignature[]
}

export function bodyBytes(body: RawBody): Uint8Array {
  return container(
    u8(body.version),
    u32(body.chainId),
    body.sender,
    u64(body.nonce),
    u8(body.kind),
    u64(body.maxFeeRate),
    u64(body.tip),
    u32(body.validUntil),
    vary(body.memo),
    vary(body.payload),
  )
}

export function witnessBytes({ keys, signatures }: RawWitness): Uint8Array {
  const encoded = signatures.map(({ keyIndex, bytes }) => container(u8(keyIndex), vary(bytes)))
  return container(vary(keys), vary(listOfVarying(encoded)))
}

export function wireBytes(body: Uint8Array, witness: Uint8Array): Uint8Array {
  return container(vary(body), vary(witness))
}

/** A made-up key of the scheme's length. It need not be a valid point. */
export function fillerKey(scheme: number, fill: number): { scheme: number; bytes: Uint8Array } {
  return { scheme, bytes: new Uint8Array(scheme === 1 ? 1344 : 1984).fill(fill) }
}

export function accountKeys(
  scheme: number,
  threshold: number,
  keys: readonly { scheme: number; bytes: Uint8Array }[],
): Uint8Array {
  const encoded = keys.map((key) => container(u8(key.scheme), vary(key.bytes)))
  return container(u8(scheme), u8(threshold), vary(listOfVarying(encoded)))
}

export function addressOf(keys: Uint8Array): Uint8Array {
  return tagged('farthing/address/1', keys)
}

/** A made-up signature of the right length. */
export function fillerSignature(keyIndex: number, scheme = 1, fill = 0x5a): RawSignature {
  return { keyIndex, bytes: new Uint8Array(scheme === 1 ? 2484 : 3373).fill(fill) }
}

/** 32 made-up bytes. */
export function made(label: string): Uint8Array {
  return madeBytes(`tx ${label}`, 32)
}
