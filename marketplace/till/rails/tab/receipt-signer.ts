import type { Hash } from '../../../../consensus/primitives/ids.ts'

/** Signs the receipts of an operator's tabs. */
export interface ReceiptSigner {
  /** The public key, as the agent's terms and its tabs have it. */
  readonly key: Hash
  /** Ed25519 signature of a message that `tabReceiptMessage` made. */
  sign(message: Uint8Array): Uint8Array
}
