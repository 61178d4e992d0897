import { Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import { coinOf } from '../../queries/assets.ts'
import { nativeMarket } from '../../queries/native-market.ts'
import { atOneHead } from '../../queries/one-head.ts'
import { orNull, SYMBOL, usdPrice } from '../amounts.ts'
import { CHANGE_PCT, changePct, PRICE } from '../figures.ts'

/** Price of the native coin, as part of a result about other assets. */
export const COIN_PRICE = Type.Object({
  symbol: SYMBOL,
  /** Spot price of the coin's deepest dollar pool, as in the price feed. */
  priceUsd: PRICE,
  change24hPct: orNull(CHANGE_PCT),
  /** Name of that pool. */
  source: orNull(Type.String()),
})

/** `pricedAt` is the time of the head's block (ISO 8601). */
export interface CoinPrice {
  readonly symbol: string
  readonly priceUsd: number | null
  readonly change24hPct: number | null
  readonly source: string | null
  readonly pricedAt: string
}

/** Throws if the head keeps changing. */
export async function coinPrice(chain: ChainReader): Promise<CoinPrice> {
  const { symbol } = coinOf(chain)
  const reading = await atOneHead(chain, async ({ header }) => {
    const pricedAt = new Date(header.timeMs).toISOString()
    const native = await nativeMarket(chain)
    if (native === null) return { symbol, priceUsd: null, change24hPct: null, source: null, pricedAt }
    const { row, spot, before } = native
    const priceUsd = usdPrice({ decimals: chain.ruleBook.params.decimals }, { microsPerUnit: spot })
    return { symbol, priceUsd, change24hPct: before && changePct(spot, before), source: row.name, pricedAt }
  })
  if (reading.ok) return reading.value.value
  throw new Error(faultMessage(reading.fault))
}
