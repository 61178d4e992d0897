import { type TSchema, Type } from 'typebox'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import type { AssetFacts } from '../queries/assets.ts'
import { confidenceIn, type PriceFacts, type PriceGround } from '../queries/prices.ts'
import { ratio, significantText, times } from '../queries/ratio.ts'

/** Schema of a value that is null if it is unknown. */
export function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** An exact amount in whole units of an asset, as decimal text. */
export const DECIMAL_AMOUNT = Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]{1,18})?$' })
/** Symbol of an asset. */
export const SYMBOL = Type.String({ pattern: '^[A-Z][A-Z0-9]{1,9}$' })
/** An exact amount with its asset. */
export const ASSET_AMOUNT = Type.Object({
  symbol: SYMBOL,
  decimals: Type.Integer({ minimum: 0, maximum: 18 }),
  amount: DECIMAL_AMOUNT,
})
/** Dollars as a number, truncated to 6 decimals; null if no price is known. */
export const USD = orNull(Type.Number({ minimum: 0 }))
/** `depthUsd` is null if no pool is part of the price. Without a price, both fields are null. */
export const PRICE_DEPTH = {
  depthUsd: USD,
  confidence: orNull(Type.Union([Type.Literal('normal'), Type.Literal('low')])),
}
/** Percent as a number, truncated to 4 decimals. */
export const PERCENT = Type.Number({ minimum: 0 })
/** What could not be determined: names of result fields, or short phrases for what is missing from lists. */
export const UNKNOWN = Type.Array(Type.String())

const USD_DECIMALS = 6
const PRICE_DIGITS = 10

/** Converts base units to whole units of the asset, as decimal text. */
export function amountText({ decimals }: Pick<AssetFacts, 'decimals'>, units: bigint): string {
  return formatAmount(units, decimals)
}

/** An amount in base units as whole units with the asset's symbol. */
export function assetAmount(
  { symbol, decimals }: Pick<AssetFacts, 'symbol' | 'decimals'>,
  units: bigint,
): { readonly symbol: string; readonly decimals: number; readonly amount: string } {
  return { symbol, decimals, amount: formatAmount(units, decimals) }
}

/** Converts millionths of a dollar to dollars; null if unknown. */
export function usd<T extends bigint | null>(micros: T): T extends null ? null : number {
  return (micros === null ? null : Number(formatAmount(micros, USD_DECIMALS))) as never
}

/** The liquidity behind a price and the confidence in it, in the form of {@link PRICE_DEPTH}. */
export function priceDepth(price: PriceGround | null) {
  return {
    depthUsd: usd(price?.depthUsdMicros ?? null),
    confidence: price === null ? null : confidenceIn(price),
  }
}

/** Dollars per whole unit, rounded to 10 significant digits; null if no price is known. */
export function usdPrice(
  { decimals }: Pick<AssetFacts, 'decimals'>,
  price: Pick<PriceFacts, 'microsPerUnit'> | null,
): number | null {
  if (price === null) return null
  const perWhole = times(price.microsPerUnit, ratio(10n ** BigInt(decimals), 10n ** BigInt(USD_DECIMALS)))
  return Number(significantText(perWhole, PRICE_DIGITS))
}

/** 100 x part / whole, truncated to 4 decimals; `whole` must not be 0. */
export function percent(part: bigint, whole: bigint): number {
  return Number((part * 1_000_000n) / whole) / 10_000
}
