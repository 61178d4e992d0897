/** Bech32 (BIP-173) and bech32m (BIP-350), in lower case only: upper case would be a second text of the same value. */

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'

const VALUES = Int8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)))

/** Longest text, in characters (BIP-173): up to this length the checksum detects any four wrong characters or fewer. */
export const BECH32_CHARS_MAX = 90

const CHECKSUM_GROUPS = 6

/** Remainders of sound texts (BIP-350). */
const BECH32_REST = 1
const BECH32M_REST = 0x2bc830a3

/** Generator of the BCH code (BIP-173): one term for each of the five bits that are shifted out. */
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const

/** `groups` are the five-bit groups between prefix and checksum. */
export interface Bech32Text {
  readonly checksum: 'bech32' | 'bech32m'
  readonly groups: readonly number[]
}

/** Reads a text with a lower-case prefix, given without the separator `1`. Undefined unless it is sound. */
export function decodeBech32(prefix: string, text: string): Bech32Text | undefined {
  const start = prefix.length + 1
  if (text.length > BECH32_CHARS_MAX || text.length < start + CHECKSUM_GROUPS) return undefined
  if (!text.startsWith(`${prefix}1`)) return undefined
  const groups: number[] = []
  for (let i = start; i < text.length; i++) {
    const value = VALUES[text.charCodeAt(i)] ?? -1
    if (value < 0) return undefined
    groups.push(value)
  }
  const rest = remainder([...expandedPrefix(prefix), ...groups])
  if (rest !== BECH32_REST && rest !== BECH32M_REST) return undefined
  return { checksum: rest === BECH32_REST ? 'bech32' : 'bech32m', groups: groups.slice(0, -CHECKSUM_GROUPS) }
}

/** Bytes of five-bit groups. Undefined if the padding has more than four bits or is not zero. */
export function bytesOfGroups(groups: readonly number[]): Uint8Array | undefined {
  const bytes = new Uint8Array((groups.length * 5) >> 3)
  let [held, bits, length] = [0, 0, 0]
  for (const group of groups) {
    held = (held << 5) | group
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[length++] = held >> bits
      held &= (1 << bits) - 1
    }
  }
  return bits <= 4 && held === 0 ? bytes : undefined
}

/** High bits of the prefix, a zero, then its low bits (BIP-173). */
function expandedPrefix(prefix: string): readonly number[] {
  const codes = Array.from(prefix, (character) => character.charCodeAt(0))
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
}

/** Remainder of the values, as a polynomial, by the generator. It starts at one, so that leading zeros count. */
function remainder(values: readonly number[]): number {
  let rest = 1
  for (const value of values) {
    const out = rest >> 25
    rest = ((rest & 0x1ffffff) << 5) ^ value
    for (const [bit, term] of GENERATOR.entries()) if ((out >> bit) & 1) rest ^= term
  }
  return rest
}
