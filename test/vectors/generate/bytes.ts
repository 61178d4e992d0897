import { createHash } from 'node:crypto'

/**
 * Byte helpers of the generators. Nothing here imports the code under test: a vector that shares a bug with what it
 * proves, proves nothing.
 */

/** Deterministic bytes for a label, so that every run writes the same files. */
export function madeBytes(label: string, length: number): Uint8Array {
  return shake256(length, utf8(`farthing vectors: ${label}`))
}

export function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(Buffer.concat(parts)).digest())
}

export function sha512(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(createHash('sha512').update(Buffer.concat(parts)).digest())
}

export function shake128(outputLength: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(createHash('shake128', { outputLength }).update(Buffer.concat(parts)).digest())
}

export function shake256(outputLength: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(createHash('shake256', { outputLength }).update(Buffer.concat(parts)).digest())
}

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts))
}

export function utf8(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'utf8'))
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

export function unhex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'hex'))
}

/** H(tag, data) of encoding.md, section 3. */
export function taggedSha256(tag: string, ...data: readonly Uint8Array[]): Uint8Array {
  return sha256(Uint8Array.of(tag.length), utf8(tag), ...data)
}

/** The number that little-endian bytes spell. */
export function fromLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => value * 256n + BigInt(byte), 0n)
}

export function toLittleEndian(value: bigint, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => Number((value >> BigInt(8 * i)) & 255n))
}

/** A copy with bit `bit` (0 is the lowest of the first byte) turned over. */
export function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
}

/** A copy with `put` written at `offset`. */
export function patched(bytes: Uint8Array, offset: number, put: Uint8Array | readonly number[]): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy.set(put, offset)
  return copy
}
