import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { concat, fromHex, toHex, uintBE } from '../primitives/bytes.ts'
import { encodeText } from '../primitives/text.ts'

/** EIP-712 domain of a contract. `contract` is hex with 0x, in upper or lower case. */
export interface TypedDomain {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly contract: string
}

/** The message of EIP-3009. Addresses and nonce are hex with 0x, amounts token units, times seconds since 1970. */
export interface TransferMessage {
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: string
}

/** A value of 32 bytes: hex of at most 32 bytes with 0x, an unsigned number, or the bytes themselves. */
export type Word = string | bigint | Uint8Array

const DOMAIN_TYPE = keccakText('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)')
const AUTHORIZATION =
  'WithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)'
const TRANSFER_TYPE = keccakText(`Transfer${AUTHORIZATION}`)
const RECEIVE_TYPE = keccakText(`Receive${AUTHORIZATION}`)
/** Length of a signature that a key made: r, s and v. */
const SIGNATURE_BYTES = 65
const S_OFFSET = 32
const V_OFFSET = 27
/** A signature can be mirrored: s and order - s both verify. Token contracts accept only the lower s. */
const HALF_ORDER = secp256k1.Point.Fn.ORDER >> 1n

/** Keccak-256, the hash of EVM chains. */
export function keccak(bytes: Uint8Array): Uint8Array {
  return keccak_256(bytes)
}

/** In hex with 0x, as for event topics. */
export function keccakText(text: string): string {
  return `0x${toHex(keccak(encodeText(text)))}`
}

/** Words behind each other, as `abi.encode` writes what has a fixed length. */
export function abiWords(...words: readonly Word[]): Uint8Array {
  return concat(
    ...words.map((word) => {
      if (typeof word === 'string') return fromHex(word.slice(2).toLowerCase().padStart(64, '0'))
      return typeof word === 'bigint' ? uintBE(word, 32) : word
    }),
  )
}

/** Keccak-256 of 32-byte words, as `abi.encode` writes them. With a type's hash in front it is the hash of a struct. */
export function hashWords(...words: readonly Word[]): Uint8Array {
  return keccak(abiWords(...words))
}

/** The hash of a domain, which every digest of its contract contains. */
export function domainSeparator({ name, version, chainId, contract }: TypedDomain): Uint8Array {
  return hashWords(DOMAIN_TYPE, keccakText(name), keccakText(version), BigInt(chainId), contract)
}

/** The 32 bytes that a struct is signed over. */
export function typedDigest(separator: Uint8Array, struct: Uint8Array): Uint8Array {
  return keccak(concat(Uint8Array.of(0x19, 0x01), separator, struct))
}

/** The 32 bytes that a `TransferWithAuthorization` is signed over. */
export function transferDigest(domain: TypedDomain, message: TransferMessage): Uint8Array {
  return authorizationDigest(TRANSFER_TYPE, domain, message)
}

/** The 32 bytes that a `ReceiveWithAuthorization` is signed over. Only the payee can carry it out. */
export function receiveDigest(domain: TypedDomain, message: TransferMessage): Uint8Array {
  return authorizationDigest(RECEIVE_TYPE, domain, message)
}

function authorizationDigest(type: string, domain: TypedDomain, message: TransferMessage): Uint8Array {
  const { from, to, value, validAfter, validBefore, nonce } = message
  return typedDigest(domainSeparator(domain), hashWords(type, from, to, value, validAfter, validBefore, nonce))
}

/**
 * The lower-case address of the key that signed a digest, and whether the signature has the lower s, which token
 * contracts require. Null if no key can be recovered, as from a contract's signature of another form.
 */
export function recoverSigner(
  digest: Uint8Array,
  signature: string,
): { readonly address: string; readonly isLow: boolean } | null {
  const bytes = fromHex(signature.slice(2).toLowerCase())
  const recovery = (bytes[SIGNATURE_BYTES - 1] ?? 0) - V_OFFSET
  if (bytes.length !== SIGNATURE_BYTES || (recovery !== 0 && recovery !== 1)) return null
  try {
    const parsed = secp256k1.Signature.fromBytes(bytes.subarray(0, 64), 'compact').addRecoveryBit(recovery)
    return { address: addressOf(parsed.recoverPublicKey(digest).toBytes(false)), isLow: parsed.s <= HALF_ORDER }
  } catch {
    return null
  }
}

/** Whether a signature of 65 bytes has the higher s, which token contracts refuse. False for other lengths. */
export function isMirrored(signature: string): boolean {
  const [from, to] = [2 + 2 * S_OFFSET, 2 + 2 * (SIGNATURE_BYTES - 1)]
  return signature.length === 2 + 2 * SIGNATURE_BYTES && BigInt(`0x${signature.slice(from, to)}`) > HALF_ORDER
}

/** Deterministic signature of a 32-byte key over a digest, in hex with 0x. */
export function signDigest(key: Uint8Array, digest: Uint8Array): string {
  const signed = secp256k1.sign(digest, key, { prehash: false, lowS: true, format: 'recovered' })
  return `0x${toHex(signed.subarray(1))}${((signed[0] as number) + V_OFFSET).toString(16)}`
}

/** Lower-case address of a 32-byte key; null if the bytes are not a valid key. */
export function evmAddressOf(key: Uint8Array): string | null {
  return secp256k1.utils.isValidSecretKey(key) ? addressOf(secp256k1.getPublicKey(key, false)) : null
}

function addressOf(publicKey: Uint8Array): string {
  return `0x${toHex(keccak(publicKey.subarray(1)).subarray(12))}`
}
