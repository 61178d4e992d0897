import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { DatabaseReader } from '../../consensus/chain/reader.ts'
import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import { decodeReceipt, type ReceiptOf } from '../../consensus/ledger/receipt.ts'
import type { Address, AgentId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { type Closure, closuresIn } from '../ledger/closures.ts'
import { tabClaimAt } from '../ledger/tab-lives.ts'

/**
 * A closed call. Agent and service are null if this node cannot look up its payment: it was pruned, or mined before the
 * snapshot that the node began from.
 */
interface ClosedCall {
  readonly txId: TxId
  readonly agentId: AgentId | null
  readonly serviceId: ServiceId | null
}

/**
 * What happened to a tab. `txId` is its id, as the payment's id is that of a call; `byTxId` is the transaction that did
 * it, null if consensus ended the tab. `amount`: the deposit, what was added, all that was claimed since the opening, or
 * what came back. Agent and payer are null if this node cannot look up the opening.
 */
interface TabEvent {
  readonly kind: 'tab'
  readonly how: 'opened' | 'funded' | 'closing' | 'claimed' | 'returned'
  readonly txId: TxId
  readonly byTxId: TxId | null
  readonly agentId: AgentId | null
  readonly payer: Address | null
  readonly amount: bigint | null
}

/**
 * The block itself, a paid call that it closed, or a step of a tab. `amount` and `caller` of a call are null where agent and
 * service are.
 */
export type ChainEvent =
  | { readonly kind: 'block'; readonly transactions: number }
  | (ClosedCall & { readonly kind: 'receipt'; readonly resultHash: Hash; readonly receiptTxId: TxId })
  | (ClosedCall & {
      readonly kind: 'refund'
      readonly how: 'failed' | 'expired'
      readonly amount: bigint | null
      readonly caller: Address | null
      /** Null if consensus refunded the call. */
      readonly receiptTxId: TxId | null
    })
  | TabEvent

/** From this many payments in a block on, decoding the whole block is cheaper. */
const WHOLE_BLOCK_FROM = 8

/**
 * The block's body and receipts must be stored. The block's own event comes first, then its closed calls and then the
 * steps of tabs, each in the order of their receipts.
 */
export function eventsOf(database: DatabaseReader, entry: BlockEntry): readonly ChainEvent[] {
  const parent = entry.header.height === 0 ? undefined : database.entry(entry.header.parent)
  const transactions = entry.totalTransactions - (parent?.totalTransactions ?? 0)
  const closures = closuresIn(database, entry.id)
  const payments = paymentsOf(
    database,
    closures.map(({ txId }) => txId),
  )
  return [
    { kind: 'block', transactions },
    ...closures.map((closure) => closedEvent(closure, payments.get(closure.txId))),
    ...tabEventsOf(database, entry),
  ]
}

function closedEvent(closure: Closure & { readonly txId: TxId }, payment: Transaction | undefined): ChainEvent {
  const { txId, how, receiptTxId, resultHash } = closure
  const body = payment?.body.kind === 'agent_invoke' ? payment.body : undefined
  const call = { txId, agentId: body?.payload.agentId ?? null, serviceId: body?.payload.serviceId ?? null }
  if (how === 'delivered')
    return { kind: 'receipt', ...call, resultHash: resultHash as Hash, receiptTxId: receiptTxId as TxId }
  return {
    kind: 'refund',
    ...call,
    how,
    amount: body?.payload.amount ?? null,
    caller: body?.sender ?? null,
    receiptTxId,
  }
}

/** Transactions of the best chain, by id; pruned ones are left out. */
export function paymentsOf(database: DatabaseReader, ids: readonly TxId[]): ReadonlyMap<TxId, Transaction> {
  const places = ids.flatMap((txId) => {
    const location = database.location(txId)
    return location === undefined ? [] : [{ txId, ...location }]
  })
  const found = new Map<TxId, Transaction>()
  for (const [height, inBlock] of Map.groupBy(places, (place) => place.height)) {
    const id = database.idAt(height)
    if (id === undefined) continue
    const whole = inBlock.length >= WHOLE_BLOCK_FROM ? database.transactions(id) : undefined
    for (const { txId, index } of inBlock) {
      const tx = whole?.[index] ?? database.transactionAt(id, index)
      if (tx !== undefined) found.set(txId, tx)
    }
  }
  return found
}

type TabMove = Pick<TabEvent, 'how' | 'txId' | 'byTxId' | 'amount'>

function tabEventsOf(database: DatabaseReader, entry: BlockEntry): readonly TabEvent[] {
  const moves = tabMovesOf(database, entry)
  const openings = paymentsOf(database, [...new Set(moves.map(({ txId }) => txId))])
  return moves.map((move) => {
    const opening = openings.get(move.txId)?.body
    const body = opening?.kind === 'tab_open' ? opening : undefined
    return { kind: 'tab', ...move, agentId: body?.payload.agentId ?? null, payer: body?.sender ?? null }
  })
}

function tabMovesOf(database: DatabaseReader, { id }: BlockEntry): readonly TabMove[] {
  const receipts = (database.receipts(id) ?? []).map(decodeReceipt)
  const transactions = new Map((database.transactions(id) ?? []).map((tx) => [tx.txId, tx]))
  return receipts.flatMap((receipt): readonly TabMove[] => {
    if (receipt.type === 'tab_return')
      return [{ how: 'returned', txId: receipt.tabId, byTxId: null, amount: receipt.amount }]
    const tx =
      receipt.type === 'transaction' && receipt.code === OUTCOME_OK ? transactions.get(receipt.txId) : undefined
    return tx === undefined || receipt.type !== 'transaction' ? [] : movesBy(database, tx, receipt)
  })
}

function movesBy(
  database: DatabaseReader,
  { txId, body }: Transaction,
  { entries }: ReceiptOf<'transaction'>,
): readonly TabMove[] {
  const { kind, payload } = body
  const place = database.location(txId)
  switch (kind) {
    case 'tab_open':
      return [{ how: 'opened', txId, byTxId: txId, amount: payload.deposit }]
    case 'tab_fund':
      return [{ how: 'funded', txId: payload.tabId, byTxId: txId, amount: payload.amount }]
    case 'tab_close':
      return [{ how: 'closing', txId: payload.tabId, byTxId: txId, amount: null }]
    case 'tab_claim':
      return payload.entries.flatMap(({ tabId, claimed, close }, entry): readonly TabMove[] => {
        if (entries[entry] !== OUTCOME_OK) return []
        const move = { txId: tabId, byTxId: txId }
        const claim = place && tabClaimAt(database, tabId, { ...place, entry })
        const end = close ? [{ how: 'returned' as const, ...move, amount: claim?.returned ?? null }] : []
        return [{ how: 'claimed', ...move, amount: claimed }, ...end]
      })
    default:
      return []
  }
}
