import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { DatabaseReader } from '../../consensus/chain/reader.ts'
import type { Address, AgentId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { type Closure, closuresIn } from '../ledger/closures.ts'

/**
 * A closed call. Agent and service are null if this node cannot look up its payment: it was pruned, or mined before the
 * snapshot that the node began from.
 */
interface ClosedCall {
  readonly txId: TxId
  readonly agentId: AgentId | null
  readonly serviceId: ServiceId | null
}

/** The block itself, or a paid call that it closed. `amount` and `caller` are null where agent and service are. */
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

/** From this many payments in a block on, decoding the whole block is cheaper. */
const WHOLE_BLOCK_FROM = 8

/**
 * The block's body and receipts must be stored. The block's own event comes first, then its closed calls in the order
 * of their receipts.
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
