import { ask } from './api.ts'

/** How an escrow ended, according to the chain. */
export interface Closing {
  readonly how: 'delivered' | 'failed' | 'expired'
  readonly height: number
}

/** The escrows of a chain by the id of their payment: those that were opened, and every closing of each. */
export interface EscrowHistory {
  readonly opened: ReadonlySet<string>
  readonly closings: ReadonlyMap<string, readonly Closing[]>
  readonly transactions: number
}

interface BlockView {
  readonly transactions: readonly { readonly txId: string; readonly kind: string }[]
  readonly receipts: readonly {
    readonly type: string
    readonly txId: string
    readonly success?: boolean
    readonly entries?: readonly number[]
  }[]
}

interface ReceiptsView {
  readonly transaction: {
    readonly payload: { readonly entries: readonly { readonly txId: string; readonly outcome: number }[] }
  }
}

/** Reads the whole chain of a node over its API. */
export async function escrowHistory(url: string, head: number): Promise<EscrowHistory> {
  const opened = new Set<string>()
  const closings = new Map<string, Closing[]>()
  let count = 0
  const close = (txId: string, closing: Closing): void => {
    closings.set(txId, [...(closings.get(txId) ?? []), closing])
  }
  for (let height = 1; height <= head; height++) {
    const { transactions, receipts } = (await ask<BlockView>(url, `/api/v1/blocks/${height}`)).body
    const kinds = new Map(transactions.map(({ txId, kind }) => [txId, kind]))
    count += transactions.length
    for (const { type, txId, success, entries = [] } of receipts) {
      if (type === 'refund') close(txId, { how: 'expired', height })
      if (kinds.get(txId) === 'agent_invoke' && success === true) opened.add(txId)
      if (kinds.get(txId) !== 'agent_receipt') continue
      const { payload } = (await ask<ReceiptsView>(url, `/api/v1/tx/${txId}`)).body.transaction
      for (const [i, entry] of payload.entries.entries()) {
        if (entries[i] === 0) close(entry.txId, { how: entry.outcome === 0 ? 'delivered' : 'failed', height })
      }
    }
  }
  return { opened, closings, transactions: count }
}
