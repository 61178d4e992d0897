import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import type { PoolRow } from './pools.ts'
import { type PriceBasis, PriceBook } from './prices.ts'
import { type Ratio, ratio } from './ratio.ts'
import { type PoolDay, poolDay } from './trading.ts'

/** A pool with what it holds and did in dollars, at the prices of the head; null wherever these are unknown. */
export interface PoolValues {
  readonly row: PoolRow
  readonly day: PoolDay
  /**
   * Both reserves. One that pools price counts for at most as much as the side whose price is the more certain, and one without
   * a price for as much, since both are worth the same to the pool: what was minted for nothing adds no fortune.
   */
  readonly tvlUsdMicros: bigint | null
  /** What was traded in the last 24 hours, counted on the side whose price is the more certain. */
  readonly volumeUsdMicros: bigint | null
  /** What stayed with the LPs in these hours. */
  readonly feesUsdMicros: bigint | null
  /** fees of 24 hours x 365 / tvl in millionths, rounded down: an estimate that says nothing of days to come. */
  readonly aprPpm: bigint | null
}

const PPM = 1_000_000n
const DAYS_OF_A_YEAR = 365n

const BPS = 10_000n

/** Whose word is taken first; that of pools never before another. */
const TRUST: readonly PriceBasis[] = ['unit', 'par', 'epoch']

/** Values of a pool. */
export async function poolValues(chain: ChainReader, row: PoolRow): Promise<PoolValues> {
  const book = PriceBook.of(chain)
  const { assetX, assetY, reserveX, reserveY, feeBps } = row.pool
  const day = await poolDay(chain, row.poolId)
  // Each trade of the day could take what the pools hold, and left its fee.
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

/** What is counted on one side of a pool; null where it has no price. */
interface Side {
  readonly basis: PriceBasis | null
  readonly value: bigint | null
}
type Sides = readonly [Side, Side]

function sidesOf(book: PriceBook, x: Counted, y: Counted, depths?: Ratio): Promise<Sides> {
  const side = async ([asset, amount]: Counted): Promise<Side> => ({
    basis: (await book.priceOf(asset))?.basis ?? null,
    // Nothing is worth nothing, whatever its price.
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

/** The side whose price is the more certain; of two that pools price the lesser one, since either may be made up. */
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
