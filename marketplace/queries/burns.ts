import type { ChainReader } from '../../consensus/chain/reader.ts'
import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import { mulDivUp } from '../../consensus/primitives/amount.ts'
import { closuresIn } from '../ledger/closures.ts'
import { type BlockFacts, outcomesOf } from './blocks.ts'
import { paymentsOf } from './chain-events.ts'

/** Base units of the native coin. Null if this node pruned a payment that the block delivered. */
export function burnedIn({ database, ruleBook }: ChainReader, block: BlockFacts): bigint | null {
  const { entry, transactions, close } = block
  const { token, market } = ruleBook.at(entry.header.height)
  const outcomes = outcomesOf(block)
  const created = transactions.filter(
    ({ txId, body }) => body.kind === 'token_create' && outcomes.get(txId)?.code === OUTCOME_OK,
  )
  const delivered = closuresIn(database, entry.id).flatMap(({ how, txId }) => (how === 'delivered' ? [txId] : []))
  const payments = paymentsOf(database, delivered)
  let burned = (close?.burned ?? 0n) + BigInt(created.length) * token.createBurn + burnedByClaims(block)
  for (const txId of delivered) {
    const body = payments.get(txId)?.body
    if (body?.kind !== 'agent_invoke') return null
    burned += mulDivUp(body.payload.amount, 1n, market.deliveredBurnDivisor)
  }
  return burned
}

/** The second amount in the receipt of a `tab_claim` is what it burned. */
function burnedByClaims(block: BlockFacts): bigint {
  const outcomes = outcomesOf(block)
  return block.transactions.reduce(
    (sum, { txId, body }) => sum + (body.kind === 'tab_claim' ? (outcomes.get(txId)?.amounts[1] ?? 0n) : 0n),
    0n,
  )
}
