import { tokenAsset } from '../consensus/ledger/asset.ts'
import type { BlockContext } from '../consensus/ledger/module.ts'
import type { MarketRules } from '../consensus/ledger/rules.ts'
import type { PoolId } from '../consensus/primitives/ids.ts'
import type { Overlay } from '../consensus/state/overlay.ts'
import { NATIVE_ASSET } from '../consensus/state/table.ts'
import { accumulatedAt, POOLS, PRICE_ENTRIES, poolIdOf } from './pool.ts'

/** The pool that prices the native coin; it may not exist. */
export function pricedPoolId({ pricedPool: { dollar, feeBps } }: Pick<MarketRules, 'pricedPool'>): PoolId {
  return poolIdOf(NATIVE_ASSET, tokenAsset(dollar), feeBps)
}

/** Writes an epoch's price entry from the priced pool at the start of block `height`. */
export function writePriceEntry(overlay: Overlay, market: MarketRules, epoch: number, height: number): void {
  const pool = overlay.get(POOLS, pricedPoolId(market))
  if (pool === undefined) return
  const { xPerY } = accumulatedAt(pool, height)
  overlay.put(PRICE_ENTRIES, epoch, {
    nativePerDollar: xPerY,
    reserveNative: pool.reserveX,
    reserveDollar: pool.reserveY,
  })
}

/** At the first block of an epoch, writes its price entry and deletes the one that is no longer kept. */
export function* recordPrice({ rules: { market }, height, overlay }: BlockContext): Iterable<void> {
  const { epochBlocks, priceEpochsKept } = market
  if (height % epochBlocks !== 0) return
  const epoch = Math.floor(height / epochBlocks)
  writePriceEntry(overlay, market, epoch, height)
  const expired = epoch - priceEpochsKept
  if (expired >= 0 && overlay.get(PRICE_ENTRIES, expired) !== undefined) overlay.delete(PRICE_ENTRIES, expired)
  yield
}
