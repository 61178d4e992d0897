import type { Fields } from '../../../../consensus/primitives/fields.ts'

/** An unsigned integer in plain decimal text. Any other spelling is refused. */
const UINT = /^(0|[1-9][0-9]{0,77})$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const BYTES_32 = /^0x[0-9a-fA-F]{64}$/
/** Signatures of contracts have any length. No known wallet makes one longer than 4,096 bytes. */
const SIGNATURE = /^0x([0-9a-fA-F]{2}){65,4096}$/
/** Longest payment in characters of JSON: as much as a header holds. */
export const PAYMENT_CHARS_MAX = 12_288

/** Whether a member is an address in hex with 0x, in upper or lower case. */
export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && ADDRESS.test(value)
}

/** Whether a member is 32 bytes in hex with 0x, in upper or lower case. */
export function isBytes32(value: unknown): value is string {
  return typeof value === 'string' && BYTES_32.test(value)
}

/** Whether a member is a signature of a key or a contract, in hex with 0x. */
export function isSignature(value: unknown): value is string {
  return typeof value === 'string' && SIGNATURE.test(value)
}

/** Whether a member is the decimal text of an unsigned integer of so many bits. */
export function isUint(value: unknown, bits: number): value is string {
  return typeof value === 'string' && UINT.test(value) && BigInt(value) >> BigInt(bits) === 0n
}

/** Whether a payment has at most {@link PAYMENT_CHARS_MAX} characters of JSON. */
export function isShortPayment(fields: Fields): boolean {
  try {
    return JSON.stringify(fields).length <= PAYMENT_CHARS_MAX
  } catch {
    // Deeply nested JSON can be parsed, but not always be written.
    return false
  }
}
