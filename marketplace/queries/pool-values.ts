import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import type { PoolRow } from './pools.ts'
import { type PriceBasis, PriceBook } from './prices.ts'
import { type Ratio, ratio } from './ratio.ts'
import { type PoolDay, poolDay } from './trading.ts'

/** A pool's values in millionths of a dollar, at the prices of the head; null where unknown. */
export interface PoolValues {
  readonly row: PoolRow
  readonly day: PoolDay
  /**
   * Value of both reserves. A side that pools price counts at most as much as the side with the more certain price, and
   * a side without a price counts exactly as much: freely minted tokens cannot inflate the value.
   */
  readonly tvlUsdMicros: bigint | null
  /** Volume of the last 24 hours, counted on the side with the more certain price. */
  readonly volumeUsdMicros: bigint | null
  /** Fees that the LPs earned in the last 24 hours. */
  readonly feesUsdMicros: bigint | null
  /** Fees of 24 hours x 365 / TVL in millionths, rounded down: an estimate from the past day only. */
  readonly aprPpm: bigint | null
}

const PPM = 1_000_000n
const DAYS_OF_A_YEAR = 365n

const BPS = 10_000n

/** Price bases, most trusted first. A price by pools (not listed) is never preferred. */
const TRUST: readonly PriceBasis[] = ['unit', 'par', 'epoch']

/** Computes the values of a pool. */
export async function poolValues(chain: ChainReader, row: PoolRow): Promise<PoolValues> {
  const book = PriceBook.of(chain)
  const { assetX, assetY, reserveX, reserveY, feeBps } = row.pool
  const day = await poolDay(chain, row.poolId)
  // For a price by pools, each trade of the day counts at most the depth behind the price, and its fee at most the fee
  // on that depth.
  const trades = BigInt(day.trades)
  const [held, traded, kept] = await Promise.all([
    sidesOf(book, [assetX, reserveX], [assetY, reserveY]),
    sidesOf(book, [assetX, day.volumeX], [assetY, day.volumeY], ratio(trades, 1n)),
    sidesOf(book, [assetX, day.feesX], [assetY, day.feesY], ratio(trades * BigInt(feeBps), BPS)),
  ])
  const tvl = heldValue(held)
  const fees = sumOfBoth(kept)
  const apr = fees === null || tvl === null || tvl === 0n ? null : (fees * DAYS_OF_A_YEAR * PPM) / tvl
  return { row, day, tvlUsdMicros: tvl, volumeUsdMicros: certainSide(traded), feesUsdMicros: fees, aprPpm: apr }
}

type Counted = readonly [asset: Hash, amount: bigint]

/** An amount on one side of a pool; `value` is null if the asset has no price and the amount is not 0. */
interface Side {
  readonly basis: PriceBasis | null
  readonly value: bigint | null
}
type Sides = readonly [Side, Side]

function sidesOf(book: PriceBook, x: Counted, y: Counted, depths?: Ratio): Promise<Sides> {
  const side = async ([asset, amount]: Counted): Promise<Side> => ({
    basis: (await book.priceOf(asset))?.basis ?? null,
    // Zero units are worth 0, even without a price.
    value: amount === 0n ? 0n : await book.valueOf(asset, amount, depths),
  })
  return Promise.all([side(x), side(y)])
}

function heldValue(sides: Sides): bigint | null {
  if (sides.every(({ basis }) => basis !== null && basis !== 'pool')) return sumOfBoth(sides)
  const most = certainSide(sides)
  if (most === null) return null
  return sides.reduce((sum, { value }) => sum + (value === null || value > most ? most : value), 0n)
}

/** If pools price both sides, the lower value counts, since either price may be manipulated. */
function certainSide(sides: Sides): bigint | null {
  for (const trusted of TRUST) {
    const side = sides.find(({ basis }) => basis === trusted)
    if (side !== undefined) return side.value
  }
  const known = sides.flatMap(({ basis, value }) => (basis === null || value === null ? [] : [value]))
  return known.toSorted((a, b) => (a < b ? -1 : 1))[0] ?? null
}

function sumOfBoth([x, y]: Sides): bigint | null {
  return x.value === null || y.value === null ? null : x.value + y.value
}
