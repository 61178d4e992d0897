import type { Hash, TxId } from '../../consensus/primitives/ids.ts'

/** The text that a settler signs, in the domain of texts: the network is part of what is signed. */
export function settlementText(txId: TxId, requestHash: Hash): string {
  return `farthing facilitator settle ${txId} ${requestHash}`
}
