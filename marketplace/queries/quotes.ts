import { poolsBetween } from '../../amm/pool-search.ts'
import { quoteExactIn, quoteExactOut, type SwapQuote } from '../../amm/quote.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import { type AssetFacts, coinOf } from './assets.ts'

/** A requested swap: base units to pay, or with `exactOut` base units to receive. */
export interface QuoteRequest {
  readonly from: AssetFacts
  readonly to: AssetFacts
  readonly exactOut: boolean
  readonly amount: Amount
  /** Accepted loss against the quote, 0 to 10,000 basis points. */
  readonly slippageBps: bigint
}

/** In the next block, without other trades, over the best route found. Call it within `atOneHead`. */
export async function quoteSwap(chain: ChainReader, request: QuoteRequest): Promise<Result<SwapQuote>> {
  const { from, to, exactOut, amount, slippageBps } = request
  const { database, ruleBook, head } = chain
  const rules = ruleBook.at(head.header.height + 1)
  const pools = await poolsBetween(database, { assetIn: from.asset, assetOut: to.asset }, rules.tx)
  const basis = { view: database, coin: coinOf(chain), pools }
  const order = { assetIn: from.symbol, assetOut: to.symbol, amount, slippageBps }
  return exactOut ? quoteExactOut(basis, order) : quoteExactIn(basis, order)
}
