import type { Timers } from '../../../consensus/chain/ports.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import type { WtxId } from '../../../consensus/primitives/ids.ts'
import { encodeTransaction } from '../../../consensus/tx/transaction.ts'
import type { Mempool } from '../../../mempool/mempool.ts'
import type { Answer, Exchange } from '../peers/exchange.ts'
import type { Turn } from '../peers/serving.ts'
import type { BlockRelay } from '../relay/block-relay.ts'
import type { TransactionRelay } from '../relay/transaction-relay.ts'
import { within } from '../relay/within.ts'
import { NOTHING, type ReplyOf, type RequestOf } from '../wire/messages.ts'
import { PAGE_BYTES } from '../wire/protocols.ts'

/** What the answers are made from. */
export interface PoolServing {
  readonly chain: Pick<ChainReader, 'database'>
  readonly mempool: Mempool
  readonly blocks: BlockRelay
  readonly transactions: TransactionRelay
  readonly timers: Timers
}

/**
 * Transactions of the mempool that one page looks through. Askers of every release take four pages, which hold the whole mempool under the
 * default settings.
 */
const POOL_PAGE_IDS = 4_096
/** How long an answer waits for a body. It is shorter than the deadline of the protocol. */
const UNDERWAY_MS = 4_000

/** Answers questions for the mempool and for blocks that are being put together. */
export function servePool(exchange: Exchange, serving: PoolServing): void {
  const { mempool, transactions } = serving
  exchange.answer('blockTransactions', (_, request, turn) => blockTransactions(serving, request, turn))
  exchange.answer('poolIds', async (_, { cursor }, turn) => ({ reply: await poolPage(mempool, cursor, turn) }))
  exchange.answer('transactions', (_, ids) => ({ reply: firstPage(mempool, ids) }))
  exchange.answer('announce', (from, ids) => {
    transactions.heardOf(from, ids)
    return { reply: NOTHING }
  })
}

/** A peer that heard of a block from us may ask before we have its body, so the answer waits for that. */
async function blockTransactions(
  { chain, blocks, timers }: PoolServing,
  { block, indexes }: RequestOf<'blockTransactions'>,
  turn: Turn,
): Promise<Answer<'blockTransactions'>> {
  if (!indexes.every((index, i) => i === 0 || index > (indexes[i - 1] as number))) return { refusal: 'unknown' }
  if (indexes.length === 0) return { reply: [] }
  const chosen =
    chain.database.encodedTransactions(block, indexes) ??
    (await turn.aside(within(timers, UNDERWAY_MS, blocks.bodyUnderway(block))))
      ?.filter((_, index) => indexes.includes(index))
      .map(encodeTransaction)
  if (chosen === undefined) return { refusal: 'not-held' }
  return chosen.length === indexes.length ? { reply: chosen } : { refusal: 'unknown' }
}

/**
 * Ids in order of arrival, without transactions that wait for a missing nonce. Some may leave between two pages, so a page may miss a few.
 */
async function poolPage(mempool: Mempool, cursor: number, turn: Turn): Promise<ReplyOf<'poolIds'>> {
  const ids: WtxId[] = []
  const stretch = mempool.arrivals(cursor, POOL_PAGE_IDS)
  for (const tx of stretch) {
    if (mempool.isReady(tx)) ids.push(tx.wtxId)
    if (turn.due()) await turn.pause()
  }
  const next = cursor + stretch.length
  return { ids, next: next < mempool.count ? next : 0 }
}

function firstPage(mempool: Mempool, ids: RequestOf<'transactions'>): readonly Uint8Array[] {
  const page: Uint8Array[] = []
  let bytes = 0
  for (const id of ids) {
    const tx = mempool.byWitness(id)
    if (tx === undefined) continue
    bytes += tx.size
    if (page.length > 0 && bytes > PAGE_BYTES) break
    page.push(encodeTransaction(tx))
  }
  return page
}
