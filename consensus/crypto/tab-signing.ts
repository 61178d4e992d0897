import { concat, fromHex, uint32LE } from '../primitives/bytes.ts'
import { encodeText } from '../primitives/text.ts'
import { passesEd25519Rules } from './ed25519-rules.ts'
import type { SignatureBackend } from './hybrid.ts'
import type { SigningNetwork } from './signing.ts'

/** Scheme of the keys of tabs: Ed25519 alone. 0x12 and 0x13 are reserved; 1 to 3 are those of accounts. */
export const TAB_SCHEME = 0x11

/** What keys of tabs sign: a payer's vouchers and queries, and a seller's receipts. */
export type TabDomain = 'voucher' | 'receipt' | 'query'

const LABELS: Readonly<Record<TabDomain, Uint8Array>> = {
  voucher: encodeText('farthing-voucher/1'),
  receipt: encodeText('farthing-tab-receipt/1'),
  query: encodeText('farthing-tab-query/1'),
}

/** The signed bytes, in the form of all signed messages: label || chain id u32 || genesis || scheme u8 || digest. */
export function tabMessage(domain: TabDomain, { chainId, genesis }: SigningNetwork, digest: Uint8Array): Uint8Array {
  return concat(LABELS[domain], uint32LE(chainId), fromHex(genesis), Uint8Array.of(TAB_SCHEME), digest)
}

/** A signature of a key of a tab to check. */
export interface TabSignature {
  readonly key: Uint8Array
  readonly message: Uint8Array
  readonly signature: Uint8Array
}

/** Whether the signature is good by the strict rules of Ed25519. An error of the backend is thrown. */
export function verifyTabSignature(
  backend: Pick<SignatureBackend, 'verifyEd25519'>,
  { key, message, signature }: TabSignature,
): boolean {
  return passesEd25519Rules(key, signature) && backend.verifyEd25519(message, signature, key) === true
}
