import { keccak_256 } from '@noble/hashes/sha3.js'
import { encodeText } from '../primitives/text.ts'

/**
 * EIP-55 spelling of 40 lower-case hex digits. A letter becomes upper case if the hex digit at its place in Keccak-256
 * (of the digits as ASCII) is 8 or more. So each address has exactly one spelling.
 */
export function eip55(digits: string): string {
  const hash = keccak_256(encodeText(digits))
  return Array.from(digits, (digit, i) => {
    const byte = hash[i >> 1] as number
    const nibble = i % 2 === 0 ? byte >> 4 : byte & 15
    return nibble >= 8 ? digit.toUpperCase() : digit
  }).join('')
}
