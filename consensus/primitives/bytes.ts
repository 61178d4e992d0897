import { bytesToHex } from '@noble/hashes/utils.js'
import { assert } from './assert.ts'

/** 32 zero bytes. In a fixed 32-byte field they mean "absent". */
export const ZERO_32 = new Uint8Array(32)
/** {@link ZERO_32} in hex. */
export const ZERO_HEX_32 = '0'.repeat(64)

/** Lower-case hex without a prefix. */
export function toHex(bytes: Uint8Array): string {
  return bytesToHex(bytes)
}

const DIGITS = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)))

/** Throws on anything but lower-case hex, so check untrusted text with {@link isHex} first. */
export function fromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length >> 1)
  writeHex(bytes, 0, hex)
  return bytes
}

/** Writes the bytes of lower-case hex at an offset; throws like {@link fromHex}. */
export function writeHex(target: Uint8Array, offset: number, hex: string): void {
  if (hex.length % 2 !== 0) throw new RangeError('hex has an odd number of digits')
  for (let i = 0; i < hex.length; i += 2) {
    const byte = ((DIGITS[hex.charCodeAt(i)] ?? -1) << 4) | (DIGITS[hex.charCodeAt(i + 1)] ?? -1)
    if (byte < 0) throw new RangeError('not lower-case hex')
    target[offset + (i >> 1)] = byte
  }
}

/** Whether the text is lower-case hex of exactly `byteLength` bytes. */
export function isHex(text: string, byteLength: number): boolean {
  return text.length === byteLength * 2 && /^[0-9a-f]*$/.test(text)
}

/** Whether the text is lower-case hex of whole bytes. */
export function isHexBytes(text: string): boolean {
  return text.length % 2 === 0 && /^[0-9a-f]*$/.test(text)
}

/** Joins byte strings. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const joined = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}

/** Not constant-time, so only for public data. */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Compares byte strings of equal length as unsigned big-endian numbers. */
export function compare(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** A copy with its own memory: a view would keep the whole network buffer alive. */
export function copy(bytes: Uint8Array): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes)
}

/** Little-endian bytes of a uint32; out of range is a bug. */
export function uint32LE(value: number): Uint8Array {
  assert(Number.isInteger(value) && value >= 0 && value <= 0xffffffff, `${value} is not a uint32`)
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24)
}

/** With this scratch memory {@link uintLE} converts eight bytes at once. Byte by byte, it takes longer than hashing. */
const WORD = new DataView(new ArrayBuffer(8))
const WORD_BYTES = new Uint8Array(WORD.buffer)

/** Little-endian bytes of an unsigned integer below 2^(8 x length); out of range is a bug. */
export function uintLE(value: bigint, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let rest = value
  for (let at = 0; at < length && rest !== 0n; at += 8) {
    WORD.setBigUint64(0, rest, true)
    const end = Math.min(8, length - at)
    for (let i = 0; i < end; i++) bytes[at + i] = WORD_BYTES[i] as number
    rest >>= BigInt(8 * end)
  }
  // The text is made only on failure: printing a large number takes longer than the rest of the function.
  if (rest !== 0n) assert(false, `${value} does not fit ${length} bytes`)
  return bytes
}

/** Big-endian bytes of an unsigned integer below 2^(8 x length). */
export function uintBE(value: bigint, length: number): Uint8Array {
  return uintLE(value, length).reverse()
}

/** Reads an unsigned big-endian integer. */
export function readUintBE(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${toHex(bytes)}`)
}
