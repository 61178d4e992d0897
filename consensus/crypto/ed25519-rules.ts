import { compare, toHex } from '../primitives/bytes.ts'

/**
 * Checks of an Ed25519 signature before any curve arithmetic. Libraries disagree on exactly these cases, and a library
 * upgrade must never split the chain. Behind these checks every backend evaluates the same cofactorless equation [S]B =
 * R + [k]A (RFC 8032, 5.1.7, without the cofactor).
 */

/** Length of a public key. */
export const ED25519_PUBLIC_KEY_BYTES = 32
/** Length of a signature. */
export const ED25519_SIGNATURE_BYTES = 64

const FIELD_PRIME = bigEndian(2n ** 255n - 19n)
/** Order L of the prime-order subgroup, big-endian. */
const GROUP_ORDER = bigEndian(2n ** 252n + 27742317777372353535851937790883648493n)

/** y of every point of order 1, 2, 4 or 8: little-endian, sign bit cleared, non-canonical encodings included. */
const SMALL_ORDER_Y: ReadonlySet<string> = new Set([
  `00${'00'.repeat(31)}`,
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
])

/** Whether lengths, S, key and R pass the rules. The equation is not checked. */
export function passesEd25519Rules(publicKey: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== ED25519_PUBLIC_KEY_BYTES || signature.length !== ED25519_SIGNATURE_BYTES) return false
  return (
    compare(reversed(signature, 32), GROUP_ORDER) < 0 &&
    isAcceptablePoint(publicKey) &&
    isAcceptablePoint(signature.subarray(0, 32))
  )
}

/** Whether 32 bytes encode a y below the field prime, not of small order. The point may still be off the curve. */
export function isAcceptablePoint(encoded: Uint8Array): boolean {
  const y = Uint8Array.prototype.slice.call(encoded, 0, 32)
  y[31] = (y[31] as number) & 0x7f
  return compare(reversed(y, 0), FIELD_PRIME) < 0 && !SMALL_ORDER_Y.has(toHex(y))
}

function reversed(bytes: Uint8Array, start: number): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes, start, start + 32).reverse()
}

function bigEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * (31 - i))) & 0xffn))
}
