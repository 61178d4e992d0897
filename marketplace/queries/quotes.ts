import { poolsBetween } from '../../amm/pool-search.ts'
import { quoteExactIn, quoteExactOut, type SwapQuote } from '../../amm/quote.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import { type AssetFacts, coinOf } from './assets.ts'

/** What somebody wants to swap: base units that go in, or with `exactOut` that come out. */
export interface QuoteRequest {
  readonly from: AssetFacts
  readonly to: AssetFacts
  readonly exactOut: boolean
  readonly amount: Amount
  /** How much worse than quoted it may come out, 0 to 10,000 basis points. */
  readonly slippageBps: bigint
}

/** What a swap would come to in the next block, alone, over the best way that is found. To be read within one reading. */
export async function quoteSwap(chain: ChainReader, request: QuoteRequest): Promise<Result<SwapQuote>> {
  const { from, to, exactOut, amount, slippageBps } = request
  const { database, ruleBook, head } = chain
  const rules = ruleBook.at(head.header.height + 1)
  const pools = await poolsBetween(database, { assetIn: from.asset, assetOut: to.asset }, rules.tx)
  const basis = { view: database, coin: coinOf(chain), pools }
  const order = { assetIn: from.symbol, assetOut: to.symbol, amount, slippageBps }
  return exactOut ? quoteExactOut(basis, order) : quoteExactIn(basis, order)
}
