import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Timers } from '../../../consensus/chain/ports.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { encodeTransaction, type Transaction } from '../../../consensus/tx/transaction.ts'
import type { Mempool } from '../../../mempool/mempool.ts'
import type { Answer, Exchange } from '../peers/exchange.ts'
import type { BlockRelay } from '../relay/block-relay.ts'
import type { TransactionRelay } from '../relay/transaction-relay.ts'
import { within } from '../relay/within.ts'
import { NOTHING, POOL_IDS_MAX, type RequestOf } from '../wire/messages.ts'
import { PAGE_BYTES } from '../wire/protocols.ts'

/** What the answers are made from. */
export interface PoolServing {
  readonly chain: Pick<Chain, 'database'>
  readonly mempool: Mempool
  readonly blocks: BlockRelay
  readonly transactions: TransactionRelay
  readonly timers: Timers
}

/** How long an answer waits for a body; less than whoever asks waits for the answer. */
const UNDERWAY_MS = 4_000

/** Answers what other nodes ask of the mempool and of blocks that are on their way. */
export function servePool(exchange: Exchange, serving: PoolServing): void {
  const { mempool, transactions } = serving
  exchange.answer('blockTransactions', (_, request) => blockTransactions(serving, request))
  exchange.answer('poolIds', (_, { cursor }) => ({ reply: poolPage(mempool, cursor) }))
  exchange.answer('transactions', (_, ids) => {
    const held = ids.map((id) => mempool.byWitness(id)).filter((tx) => tx !== undefined)
    return { reply: firstPage(held) }
  })
  exchange.answer('announce', (from, ids) => {
    transactions.heardOf(from, ids)
    return { reply: NOTHING }
  })
}

/** Whoever heard of the block from us may ask before we have it: the answer waits until it is put together. */
async function blockTransactions(
  { chain, blocks, timers }: PoolServing,
  { block, indexes }: RequestOf<'blockTransactions'>,
): Promise<Answer<'blockTransactions'>> {
  const body = bodyOf(chain, block) ?? (await within(timers, UNDERWAY_MS, blocks.bodyUnderway(block)))
  if (body === undefined) return { refusal: 'not-held' }
  const chosen = indexes.map((index) => body[index])
  const ascending = indexes.every((index, i) => i === 0 || index > (indexes[i - 1] as number))
  if (!ascending || chosen.includes(undefined)) return { refusal: 'unknown' }
  return { reply: chosen.filter((tx) => tx !== undefined).map(encodeTransaction) }
}

function bodyOf({ database }: PoolServing['chain'], id: BlockId): readonly Transaction[] | undefined {
  return database.block(id)?.transactions
}

/** Ids in order of arrival. Between two pages some may have left, so a page may miss a few: they are told of otherwise. */
function poolPage(mempool: Mempool, cursor: number): { ids: Transaction['wtxId'][]; next: number } {
  const waiting = mempool.transactions()
  const ids = waiting.slice(cursor, cursor + POOL_IDS_MAX).map(({ wtxId }) => wtxId)
  const next = cursor + ids.length
  return { ids, next: next < waiting.length ? next : 0 }
}

/** The first so many as fill a page, and one at least. */
function firstPage(transactions: readonly Transaction[]): readonly Uint8Array[] {
  let bytes = 0
  const page = transactions.filter(({ size }, i) => {
    bytes += size
    return i === 0 || bytes <= PAGE_BYTES
  })
  return page.map(encodeTransaction)
}
