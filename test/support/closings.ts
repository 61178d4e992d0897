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
    readonly tabId?: string
    readonly amount?: string
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

/** A step of a tab, as the blocks tell it. The amount of a return by a claim stands in no block. */
export interface TabMove {
  readonly tabId: string
  readonly how: string
  readonly height: number
  readonly byTxId: string | null
  readonly amount: string | null | undefined
}

interface TabPayload {
  readonly tabId: string
  readonly deposit: string
  readonly amount: string
  readonly entries: readonly { readonly tabId: string; readonly claimed: string; readonly close: boolean }[]
}

/** Reads the steps of all tabs from a node's blocks over its API. */
export async function tabHistory(url: string, head: number): Promise<readonly TabMove[]> {
  const moves: TabMove[] = []
  for (let height = 1; height <= head; height++) {
    const { transactions, receipts } = (await ask<BlockView>(url, `/api/v1/blocks/${height}`)).body
    const kinds = new Map(transactions.map(({ txId, kind }) => [txId, kind]))
    for (const { type, txId, tabId = '', amount, success, entries = [] } of receipts) {
      if (type === 'tab_return') moves.push({ tabId, how: 'returned', height, byTxId: null, amount })
      const kind = kinds.get(txId)
      if (success !== true || kind?.startsWith('tab_') !== true) continue
      const { transaction } = (await ask<{ transaction: { payload: TabPayload } }>(url, `/api/v1/tx/${txId}`)).body
      const { payload } = transaction
      const move = { tabId: payload.tabId, height, byTxId: txId }
      if (kind === 'tab_open') moves.push({ ...move, tabId: txId, how: 'opened', amount: payload.deposit })
      if (kind === 'tab_fund') moves.push({ ...move, how: 'funded', amount: payload.amount })
      if (kind === 'tab_close') moves.push({ ...move, how: 'closing', amount: null })
      for (const [i, entry] of (kind === 'tab_claim' ? payload.entries : []).entries()) {
        if (entries[i] !== 0) continue
        moves.push({ ...move, tabId: entry.tabId, how: 'claimed', amount: entry.claimed })
        if (entry.close) moves.push({ ...move, tabId: entry.tabId, how: 'returned', amount: undefined })
      }
    }
  }
  return moves
}

/** Steps of tabs as events tell them, in the form of {@link tabHistory}. */
export function toldMoves(steps: readonly Readonly<Record<string, unknown>>[]): readonly TabMove[] {
  return steps.map(({ tabId, how, height, byTxId, amount }) => {
    const isClosing = how === 'returned' && byTxId !== null
    return { tabId, how, height, byTxId, amount: isClosing ? undefined : amount } as TabMove
  })
}
