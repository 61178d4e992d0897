import { shortSha256 } from '../../../consensus/crypto/hash.ts'
import {
  checkExternalAddress,
  type ExternalAddressKind,
  type ExternalFormat,
  externalAddressKind,
} from '../../../consensus/external/address.ts'
import { decodeBase58Check, encodeBase58 } from '../../../consensus/external/base58.ts'
import { eip55 } from '../../../consensus/external/eip55.ts'
import { concat } from '../../../consensus/primitives/bytes.ts'

/** Whether the address contains a checksum. A wrong checksum makes it no address. */
export type AddressChecksum = 'valid' | 'absent'

/** The kind of an address on a network, in the spelling that the bridge takes; or why it is no address there. */
export type AddressJudgement =
  | { readonly type: ExternalAddressKind; readonly normalised: string; readonly checksum: AddressChecksum }
  | { readonly reason: string }

/** Base58check version bytes of script addresses on Litecoin: the old one, shared with Bitcoin, and its own. */
const LITECOIN_SCRIPT = { old: 0x05, own: 0x32 }

/**
 * Consensus takes one spelling of each address. Here unambiguous other spellings are converted: EVM addresses in one
 * case, bech32 in upper case (BIP-173), and Litecoin scripts with Bitcoin's version byte. Never throws.
 */
export function judgeAddress(format: ExternalFormat, text: string): AddressJudgement {
  const normalised = NORMALISE[format](text)
  const type = externalAddressKind(format, normalised)
  if (type === undefined) return { reason: checkExternalAddress(format, normalised) ?? 'not an address' }
  return { type, normalised, checksum: hasChecksum(format, text) ? 'valid' : 'absent' }
}

const NORMALISE: Readonly<Record<ExternalFormat, (text: string) => string>> = {
  evm: (text) => (isPlainHex(text) ? `0x${eip55(text.slice(2).toLowerCase())}` : text),
  solana: (text) => text,
  bitcoin: (text) => lowerBech32('bc', text),
  litecoin: (text) => ownScript(lowerBech32('ltc', text)),
}

/** EVM digits in a single case need no checksum (EIP-55). */
function isPlainHex(text: string): boolean {
  return /^0x(?:[0-9a-f]{40}|[0-9A-F]{40})$/.test(text)
}

function lowerBech32(prefix: string, text: string): string {
  const isUpper = text.startsWith(`${prefix.toUpperCase()}1`) && text === text.toUpperCase()
  // `LTC1...` may also be base58, where case matters.
  return isUpper && decodeBase58Check(text) === undefined ? text.toLowerCase() : text
}

function ownScript(text: string): string {
  const content = decodeBase58Check(text)
  if (content?.[0] !== LITECOIN_SCRIPT.old) return text
  const own = concat(Uint8Array.of(LITECOIN_SCRIPT.own), content.subarray(1))
  return encodeBase58(concat(own, shortSha256(shortSha256(own)).subarray(0, 4)))
}

/** The letters of an EVM address are a checksum if their case is that of EIP-55. Solana addresses have no checksum. */
function hasChecksum(format: ExternalFormat, text: string): boolean {
  if (format === 'solana') return false
  return format !== 'evm' || (/[a-fA-F]/.test(text.slice(2)) && eip55(text.slice(2).toLowerCase()) === text.slice(2))
}
