import { join, sha256 } from './bytes.ts'

const LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Base58 by division of one large number; a leading zero byte is a `1`. */
export function base58Text(bytes: Uint8Array): string {
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  let text = ''
  for (; number > 0n; number /= 58n) text = LETTERS[Number(number % 58n)] + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text
}

/** Base58 of a version byte, content and the first four bytes of their double SHA-256. */
export function base58CheckText(version: number, content: Uint8Array): string {
  const versioned = join(Uint8Array.of(version), content)
  return base58Text(join(versioned, sha256(sha256(versioned)).subarray(0, 4)))
}

/** Number of a text without leading `1`, as bytes of a fixed length. */
export function base58Bytes(text: string, length: number): Uint8Array {
  let number = [...text].reduce((sum, letter) => sum * 58n + BigInt(LETTERS.indexOf(letter)), 0n)
  const bytes = new Uint8Array(length)
  for (let i = length - 1; i >= 0; i--, number >>= 8n) bytes[i] = Number(number & 255n)
  return bytes
}
