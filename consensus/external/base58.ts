import { shortSha256 } from '../crypto/hash.ts'
import { assert } from '../primitives/assert.ts'
import { equal } from '../primitives/bytes.ts'

/**
 * Base58 with Bitcoin's alphabet. This program has its own code for it, since consensus decides which texts are
 * addresses.
 */

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

const VALUES = Int8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)))

/** Longest text that is decoded, in characters: the work grows with the square of the length. */
export const BASE58_CHARS_MAX = 90

/** Most bytes that are encoded: here too the work grows with the square. Their text has at most 88 characters. */
export const BASE58_BYTES_MAX = 64

/**
 * Bytes of a base58 text: a zero byte for each leading `1`, then the other characters as one big-endian number.
 * Undefined if a character is outside the alphabet, and for texts above {@link BASE58_CHARS_MAX}. No two texts give the
 * same bytes.
 */
export function decodeBase58(text: string): Uint8Array | undefined {
  if (text.length > BASE58_CHARS_MAX) return undefined
  const littleEndian: number[] = []
  for (let i = 0; i < text.length; i++) {
    const value = VALUES[text.charCodeAt(i)] ?? -1
    if (value < 0) return undefined
    multiplyAdd(littleEndian, 58, 256, value)
  }
  const bytes = new Uint8Array(countLeading(text, '1') + littleEndian.length)
  for (const [i, byte] of littleEndian.entries()) bytes[bytes.length - 1 - i] = byte
  return bytes
}

/** The one text that {@link decodeBase58} reads as these bytes. More than {@link BASE58_BYTES_MAX} bytes are a bug. */
export function encodeBase58(bytes: Uint8Array): string {
  assert(bytes.length <= BASE58_BYTES_MAX, `${bytes.length} bytes are too many for base58`)
  const littleEndian: number[] = []
  for (const byte of bytes) multiplyAdd(littleEndian, 256, 58, byte)
  const firstSet = bytes.findIndex((byte) => byte !== 0)
  const digits = littleEndian.reverse().map((digit) => ALPHABET[digit])
  return '1'.repeat(firstSet < 0 ? bytes.length : firstSet) + digits.join('')
}

const CHECKSUM_BYTES = 4

/** The bytes before the checksum, which must be the first four bytes of SHA-256(SHA-256(content)); else undefined. */
export function decodeBase58Check(text: string): Uint8Array | undefined {
  const bytes = decodeBase58(text)
  if (bytes === undefined) return undefined
  const content = bytes.subarray(0, -CHECKSUM_BYTES)
  const hash = shortSha256(shortSha256(content))
  // With fewer than four bytes in all, the lengths differ, so the comparison fails.
  return equal(hash.subarray(0, CHECKSUM_BYTES), bytes.subarray(-CHECKSUM_BYTES)) ? content : undefined
}

/** number = number x factor + summand. The digits are little-endian in `base`, without leading zeros. */
function multiplyAdd(digits: number[], factor: number, base: number, summand: number): void {
  let carry = summand
  for (let i = 0; i < digits.length; i++) {
    carry += (digits[i] as number) * factor
    digits[i] = carry % base
    carry = Math.floor(carry / base)
  }
  for (; carry > 0; carry = Math.floor(carry / base)) digits.push(carry % base)
}

function countLeading(text: string, character: string): number {
  let count = 0
  while (text[count] === character) count++
  return count
}
