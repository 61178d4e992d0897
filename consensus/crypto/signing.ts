import { concat, fromHex, uint32LE } from '../primitives/bytes.ts'
import type { BlockId, TxId } from '../primitives/ids.ts'
import { encodeText } from '../primitives/text.ts'
import { taggedHash } from './hash.ts'
import type { HybridPublicKey } from './hybrid.ts'
import type { AccountScheme } from './schemes.ts'

/**
 * The label of a domain begins the message and is the ML-DSA context, so a signed text never passes for a transaction.
 */
export type SigningDomain = 'transaction' | 'text' | 'attestation'

const LABELS: Readonly<Record<SigningDomain, Uint8Array>> = {
  transaction: encodeText('farthing-transaction/1'),
  text: encodeText('farthing-text/1'),
  attestation: encodeText('farthing-attestation/1'),
}

/** Separates networks: all have the same chain id, but not the same genesis block. */
export interface SigningNetwork {
  readonly chainId: number
  readonly genesis: BlockId
}

/** Context string of the ML-DSA half. */
export function signingContext(domain: SigningDomain): Uint8Array {
  return LABELS[domain]
}

/** The bytes that both halves of a hybrid signature cover. */
export function signingMessage(
  domain: SigningDomain,
  network: SigningNetwork,
  scheme: AccountScheme,
  digest: Uint8Array,
): Uint8Array {
  return concat(LABELS[domain], uint32LE(network.chainId), fromHex(network.genesis), Uint8Array.of(scheme), digest)
}

/** Message of a transaction: its digest is the transaction id. */
export function transactionMessage(network: SigningNetwork, scheme: AccountScheme, txId: TxId): Uint8Array {
  return signingMessage('transaction', network, scheme, fromHex(txId))
}

/** Message of a signed text. */
export function textMessage(network: SigningNetwork, scheme: AccountScheme, text: string): Uint8Array {
  return signingMessage('text', network, scheme, taggedHash('textDigest', encodeText(text)))
}

/** A committee signs under the scheme of a policy (3). */
export function attestationMessage(network: SigningNetwork, digest: Uint8Array): Uint8Array {
  return signingMessage('attestation', network, 3, digest)
}

/** One hybrid signature to check. */
export interface SignaturePart {
  readonly key: HybridPublicKey
  readonly signature: Uint8Array
}

/** Signatures over one message. The job is valid if it has parts and each part verifies. */
export interface SignatureJob {
  readonly domain: SigningDomain
  readonly message: Uint8Array
  readonly parts: readonly SignaturePart[]
}
