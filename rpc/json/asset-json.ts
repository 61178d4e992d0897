import { PRICE_ONE } from '../../amm/math.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import type { Hash, PoolId } from '../../consensus/primitives/ids.ts'
import { type AssetFacts, recordedAsset } from '../../marketplace/queries/assets.ts'
import { poolNamed } from '../../marketplace/queries/pools.ts'
import { confidenceIn, type PriceFacts } from '../../marketplace/queries/prices.ts'
import { type Ratio, ratio, significantText } from '../../marketplace/queries/ratio.ts'
import type { AssetRow } from '../../marketplace/queries/tokens.ts'
import type { ASSET_AMOUNT, PRICE } from '../contract/amounts.ts'
import type { Static } from '../contract/schema.ts'
import type { STABLE, TOKEN } from '../contract/tokens.ts'
import { addressText } from './chain-json.ts'

/** JSON forms of assets, amounts and prices. Units are decimal text of base units; `text` has the decimals applied. */

const USD_DECIMALS = 6
const PPM_DECIMALS = 4
const PRICE_DIGITS = 12

/** An amount of an asset. */
export function amountJson(
  { symbol, decimals }: Pick<AssetFacts, 'symbol' | 'decimals'>,
  units: bigint,
): Static<typeof ASSET_AMOUNT> {
  return { symbol, decimals, units: units.toString(), text: formatAmount(units, decimals) }
}

/** An amount of an asset that a record names. */
export function assetAmountJson(chain: ChainReader, asset: Hash, units: bigint): Static<typeof ASSET_AMOUNT> {
  return amountJson(recordedAsset(chain, asset), units)
}

/** Millionths of a dollar as text of dollars; null stays null. */
export function usdText<T extends bigint | null>(micros: T): T extends bigint ? string : null {
  return (micros === null ? null : formatAmount(micros, USD_DECIMALS)) as T extends bigint ? string : null
}

/** Parts per million as text of per cent. */
export function percentText(ppm: bigint): string {
  return formatAmount(ppm, PPM_DECIMALS)
}

/** A part's share of a whole in per cent, cut after four decimals; 0 if the whole is 0. */
export function sharePct(part: bigint, whole: bigint): string {
  return percentText(whole === 0n ? 0n : (part * 1_000_000n) / whole)
}

/** Price of one whole unit of an asset in dollars; null stays null. */
export function priceJson(
  chain: ChainReader,
  { decimals }: AssetFacts,
  price: PriceFacts | null,
): Static<typeof PRICE> | null {
  if (price === null) return null
  const { numerator, denominator } = price.microsPerUnit
  const perWhole = ratio(numerator * 10n ** BigInt(decimals), denominator * 10n ** BigInt(USD_DECIMALS))
  return {
    usd: significantText(perWhole, PRICE_DIGITS),
    microsPerUnit: { numerator: numerator.toString(), denominator: denominator.toString() },
    basis: price.basis,
    route: price.route.map((poolId) => poolNameOf(chain, poolId)),
    depthUsd: usdText(price.depthUsdMicros),
    confidence: confidenceIn(price),
  }
}

function poolNameOf(chain: ChainReader, poolId: PoolId): string {
  return poolNamed(chain, poolId)?.name ?? poolId
}

/** Price of a whole unit of `of` in whole units of `into`; `perUnit` is in base units of both. */
export function crossPrice(perUnit: Ratio, of: AssetFacts, into: AssetFacts): string {
  const up = 10n ** BigInt(of.decimals)
  const down = 10n ** BigInt(into.decimals)
  return significantText(ratio(perUnit.numerator * up, perUnit.denominator * down), PRICE_DIGITS)
}

/** {@link crossPrice} of a Q112.112 number. */
export function fixedPrice(price: bigint, of: AssetFacts, into: AssetFacts): string {
  return crossPrice({ numerator: price, denominator: PRICE_ONE }, of, into)
}

/** JSON of one asset. */
export function tokenJson(chain: ChainReader, row: AssetRow, price: PriceFacts | null): Static<typeof TOKEN> {
  const { addressPrefix } = chain.ruleBook.params
  const { symbol, name, decimals, kind, asset, frozen, freezable, hidden, createdAt, holders } = row
  return {
    ...{ symbol, name, decimals, kind, asset },
    issuer: row.issuer === null ? null : formatAddress(addressPrefix, row.issuer),
    ...{ frozen, freezable, hidden, createdAt },
    minted: row.minted.toString(),
    burned: row.burned.toString(),
    supply: row.supply.toString(),
    supplyText: formatAmount(row.supply, decimals),
    maxSupply: row.maxSupply?.toString() ?? null,
    headroom: row.maxSupply === null ? null : row.headroom.toString(),
    holders,
    price: priceJson(chain, row, price),
  }
}

/** State of a stable token; null for any other asset. */
export function stableJson(chain: ChainReader, row: AssetRow): Static<typeof STABLE> | null {
  if (row.backing === null) return null
  const { reserveAsset, reserve, supply, redeemable, surplus, backingBps } = row.backing
  return {
    symbol: row.symbol,
    supply: amountJson(row, supply),
    reserve: assetAmountJson(chain, reserveAsset, reserve),
    redeemable: assetAmountJson(chain, reserveAsset, redeemable),
    surplus: assetAmountJson(chain, reserveAsset, surplus),
    backingBps: backingBps?.toString() ?? null,
    issuer: row.issuer === null ? null : addressText(chain.ruleBook.params.addressPrefix, row.issuer),
    frozen: row.frozen,
  }
}
