import type { Chain } from '../../consensus/chain/chain.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import type { PoolRow } from './pools.ts'
import { type PriceBasis, PriceBook } from './prices.ts'
import { type PoolDay, poolDay } from './trading.ts'

/** A pool with what it holds and did in dollars, at the prices of the head; null wherever these are unknown. */
export interface PoolValues {
  readonly row: PoolRow
  readonly day: PoolDay
  /** Both reserves; where only one asset has a price, twice that side, since both sides are worth the same to the pool. */
  readonly tvlUsdMicros: bigint | null
  /** What was traded in the last 24 hours, counted on one side. */
  readonly volumeUsdMicros: bigint | null
  /** What stayed with the LPs in these hours. */
  readonly feesUsdMicros: bigint | null
  /** fees of 24 hours x 365 / tvl in millionths, rounded down: an estimate that says nothing of days to come. */
  readonly aprPpm: bigint | null
}

const PPM = 1_000_000n
const DAYS_OF_A_YEAR = 365n

/** Whose word on what was traded is taken first. */
const TRUST: readonly PriceBasis[] = ['unit', 'par', 'epoch', 'pool']

/** Values of a pool. */
export async function poolValues(chain: Chain, row: PoolRow): Promise<PoolValues> {
  const book = PriceBook.of(chain)
  const { assetX, assetY, reserveX, reserveY } = row.pool
  const [day, x, y] = await Promise.all([
    poolDay(chain, row.poolId),
    book.valueOf(assetX, reserveX),
    book.valueOf(assetY, reserveY),
  ])
  const tvl = x !== null && y !== null ? x + y : x !== null ? 2n * x : y !== null ? 2n * y : null
  const volume = await valueOfEither(book, [assetX, day.volumeX], [assetY, day.volumeY])
  const fees = await feesOf(book, row, day)
  const apr = fees === null || tvl === null || tvl === 0n ? null : (fees * DAYS_OF_A_YEAR * PPM) / tvl
  return { row, day, tvlUsdMicros: tvl, volumeUsdMicros: volume, feesUsdMicros: fees, aprPpm: apr }
}

type Counted = readonly [asset: Hash, amount: bigint]

/** Both sides of what was traded are worth the same: the one whose price is the more certain is taken. */
async function valueOfEither(book: PriceBook, ...sides: readonly Counted[]): Promise<bigint | null> {
  const priced = await Promise.all(
    sides.map(async ([asset, amount]) => ({
      price: await book.priceOf(asset),
      value: await book.valueOf(asset, amount),
    })),
  )
  const known = priced.flatMap(({ price, value }) =>
    price === null || value === null ? [] : [{ trust: TRUST.indexOf(price.basis), value }],
  )
  return known.toSorted((a, b) => a.trust - b.trust)[0]?.value ?? null
}

/** Fees are in both assets; one without a price makes the sum unknown, unless it is 0. */
async function feesOf(book: PriceBook, { pool }: PoolRow, { feesX, feesY }: PoolDay): Promise<bigint | null> {
  const value = (asset: Hash, fees: bigint): Promise<bigint | null> | bigint =>
    fees === 0n ? 0n : book.valueOf(asset, fees)
  const [x, y] = await Promise.all([value(pool.assetX, feesX), value(pool.assetY, feesY)])
  return x === null || y === null ? null : x + y
}
