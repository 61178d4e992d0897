import { assetOf, heightId, type Ledger, NATIVE } from './ledger.ts'
import type { ReferenceRules } from './params.ts'
import { accumulatedTo, poolId } from './pool-kinds.ts'

/** Notes the price entry of the priced pool at the start of an epoch: ledgers.md, section 7. */
export function priceEntry(ledger: Ledger, height: number, { coin, market }: ReferenceRules): void {
  const { epochBlocks, pricedPool, priceEpochsKept } = market
  if (height % epochBlocks !== 0) return
  const pool = ledger.pools.get(poolId(NATIVE, assetOf(pricedPool.dollar, coin.symbol), pricedPool.feeBps))
  if (pool === undefined) return
  const epoch = height / epochBlocks
  // The native coin has the lowest asset id, so it is asset X.
  const { xPerY, reserveX, reserveY } = accumulatedTo(pool, height)
  ledger.prices.set(heightId(epoch), { nativePerDollar: xPerY, reserveNative: reserveX, reserveDollar: reserveY })
  if (epoch >= priceEpochsKept) ledger.prices.delete(heightId(epoch - priceEpochsKept))
}
