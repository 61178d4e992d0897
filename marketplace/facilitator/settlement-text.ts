import type { Hash, TxId } from '../../consensus/primitives/ids.ts'

/** The text that a settler signs, in the domain of texts, so that the signature commits to the network. */
export function settlementText(txId: TxId, requestHash: Hash): string {
  return `farthing facilitator settle ${txId} ${requestHash}`
}
