import { type EpochPrice, epochDepth, epochPrice, epochStrays } from '../../amm/oracle.ts'
import { fundsFrom, POOLS, type Pool, poolIdOf } from '../../amm/pool.ts'
import { deepestPools, POOLS_BY_ASSET, poolOfEntry } from '../../amm/pools-by-asset.ts'
import { pricedPoolId } from '../../amm/price-entries.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { tokenAsset } from '../../consensus/ledger/asset.ts'
import { epochOf } from '../../consensus/ledger/epoch.ts'
import { STABLE_RESERVES } from '../../consensus/ledger/stable.ts'
import type { Hash, PoolId } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { ONE, type Ratio, ratio, scaledDown, times } from './ratio.ts'

/**
 * Where a dollar price comes from. `unit`: the dollar token, in which all prices are counted; 1 by definition. `epoch`:
 * the market's price of the native coin, the mean of the priced pool over the previous epoch. `pool`: pools at the
 * head, which one trade can move. `par`: the reserve asset of the dollar token. It counts as 1, since the token redeems
 * for it, unless deep enough pools say otherwise.
 */
export type PriceBasis = 'unit' | 'epoch' | 'pool' | 'par'

/** Dollar price of an asset at the head. */
export interface PriceFacts {
  readonly basis: PriceBasis
  /** Millionths of a dollar per base unit, exact. */
  readonly microsPerUnit: Ratio
  /** The pools of the route, from the asset to an asset with a price of its own. */
  readonly route: readonly PoolId[]
  /** Dollars, in millionths, on the other side of the shallowest pool of the route; null without pools. */
  readonly depthUsdMicros: bigint | null
  /**
   * True if the price depends on an epoch price of the native coin that may have been manipulated: the mean is far
   * below or far above the pool's ratios at both entries of the epoch.
   */
  readonly isUnsettled?: true
}

/** Maximum pools of a route, and of an asset's deepest pools that are examined. */
export const ROUTE_POOLS_MAX = 3
const POOLS_LOOKED_AT = 4

/** Depth of a route, in millionths of a dollar, from which it overrides the redemption value of the reserve asset. */
export const OVER_PAR_DEPTH = 1_000_000_000n

/**
 * A price with less depth than this (dollars, in millionths) has low confidence: a trader can move it by a tenth for
 * less than a thousand dollars.
 */
export const LOW_DEPTH = 10_000_000_000n

type Confidence = 'normal' | 'low'

/** `normal` without pools: such a price is the 1 of the dollar token or its reserve asset. */
export function confidenceIn({ depthUsdMicros, isUnsettled }: PriceGround): Confidence {
  return isUnsettled === true || (depthUsdMicros !== null && depthUsdMicros < LOW_DEPTH) ? 'low' : 'normal'
}

/** The fields of a price that decide the confidence in it. */
export type PriceGround = Pick<PriceFacts, 'depthUsdMicros' | 'isUnsettled'>

/** Price of the native coin: the market's own, by which values are counted, and the spot price of the priced pool. */
export interface NativePrice {
  readonly epoch: number
  /** Undefined if an entry of the epoch is missing, as before the pool's first full epoch. */
  readonly market: PriceFacts | undefined
  /** Millionths of a dollar per base unit in the priced pool now; undefined if the pool does not exist. */
  readonly spot: Ratio | undefined
}

/** Price of the native coin in the epoch of the head. */
export function nativePrice({ database, ruleBook, head }: ChainReader): NativePrice {
  const { height } = head.header
  const { market } = ruleBook.at(height)
  const epoch = epochOf(height, market)
  const poolId = pricedPoolId(market)
  const [price, depth] = [epochPrice(database, epoch, market), epochDepth(database, epoch)]
  const pool = database.get(POOLS, poolId)
  return {
    epoch,
    market:
      price === undefined || depth === undefined
        ? undefined
        : {
            basis: 'epoch',
            microsPerUnit: ratio(price.denominator, price.numerator),
            route: [poolId],
            depthUsdMicros: depth,
            ...(epochStrays(database, epoch, market) && { isUnsettled: true as const }),
          },
    spot: pool === undefined ? undefined : ratio(pool.reserveY, pool.reserveX),
  }
}

/** Over at most `epochs` finished epochs, in millionths of a dollar per base unit; null if none of them is known. */
export function nativeMean(
  { database, ruleBook, head }: ChainReader,
  epochs: number,
): { mean: Ratio; epochs: number } | null {
  const { market } = ruleBook.at(head.header.height)
  const last = epochOf(head.header.height, market)
  const prices: EpochPrice[] = []
  // Epoch 0 has a price of its own; any other epoch's price is the mean of the epoch before.
  for (let epoch = last; epoch > Math.max(0, last - epochs); epoch--) {
    const price = epochPrice(database, epoch, market)
    if (price === undefined) break
    prices.push(price)
  }
  const [first] = prices
  if (first === undefined) return null
  const cost = prices.reduce((sum, { numerator }) => sum + numerator, 0n)
  return { mean: ratio(first.denominator * BigInt(prices.length), cost), epochs: prices.length }
}

/** Id of the dollar token, whose base unit is a millionth of a dollar. */
export function dollarAsset({ ruleBook, head }: ChainReader): Hash {
  return tokenAsset(ruleBook.at(head.header.height).market.pricedPool.dollar)
}

/** One base unit is a millionth of a dollar. */
const PAR: PriceFacts = { basis: 'par', microsPerUnit: ONE, route: [], depthUsdMicros: null }

const BOOKS = new WeakMap<ChainReader, PriceBook>()
/** Chains with a listener that drops the book when the head moves. */
const FOLLOWED = new WeakSet<ChainReader>()

/**
 * Dollar prices of all assets at one head, each computed once. Except for the dollar token and the native coin, a price
 * comes from the deepest examined route of at most {@link ROUTE_POOLS_MAX} pools. An unknown price is null, never 0.
 */
export class PriceBook {
  readonly #chain: ChainReader
  readonly #headId: string
  readonly #known = new Map<string, Promise<PriceFacts | null>>()
  readonly #pools = new Map<Hash, Promise<ReadonlyMap<PoolId, Pool>>>()

  private constructor(chain: ChainReader) {
    this.#chain = chain
    this.#headId = chain.head.id
  }

  /** The shared price book of the current head. Use it within `atOneHead`. */
  static of(chain: ChainReader): PriceBook {
    const known = BOOKS.get(chain)
    if (known !== undefined && known.#headId === chain.head.id) return known
    // Data read while the head moved belongs to no head, so later callers must not see it.
    if (!FOLLOWED.has(chain)) chain.onHeadChange(() => BOOKS.delete(chain))
    FOLLOWED.add(chain)
    const book = new PriceBook(chain)
    BOOKS.set(chain, book)
    return book
  }

  priceOf(asset: Hash): Promise<PriceFacts | null> {
    return this.#priceWithin(asset, ROUTE_POOLS_MAX)
  }

  /**
   * Value of base units in millionths of a dollar, rounded down; null if the price is unknown. If pools determine the
   * price, the value is at most the depth of the route, since a sale cannot yield more. Otherwise one dollar in a pool
   * would make any freely minted token a fortune. `depths` multiplies this limit, for amounts that were moved one after
   * the other.
   */
  async valueOf(asset: Hash, amount: bigint, depths: Ratio = ONE): Promise<bigint | null> {
    const price = await this.priceOf(asset)
    if (price === null) return null
    const value = scaledDown(amount, price.microsPerUnit)
    // The reserve asset of the dollar token is exempt: it has a worth outside pools, since the token redeems for it.
    if (price.basis !== 'pool' || this.#par(asset) !== null) return value
    const most = scaledDown(depthOf(price), depths)
    return value < most ? value : most
  }

  /** Price of an asset that needs no route; undefined for any other asset, or if unknown. */
  #anchor(asset: Hash): PriceFacts | undefined {
    if (asset === dollarAsset(this.#chain)) return { ...PAR, basis: 'unit' }
    return asset === NATIVE_ASSET ? nativePrice(this.#chain).market : undefined
  }

  /** A route with a loop is never deeper than the same route without it, so loops need no check. */
  #priceWithin(asset: Hash, pools: number): Promise<PriceFacts | null> {
    const key = `${pools} ${asset}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const price = Promise.resolve(this.#anchor(asset) ?? (asset === NATIVE_ASSET ? null : this.#search(asset, pools)))
    this.#known.set(key, price)
    return price
  }

  async #search(asset: Hash, pools: number): Promise<PriceFacts | null> {
    const candidates = await this.#candidatesOf(asset)
    const prices = await Promise.all([...candidates].map(([poolId, pool]) => this.#over(poolId, pool, asset, pools)))
    const best = prices.reduce((found, price) => (better(price, found) ? price : found), null)
    const par = this.#par(asset)
    return par !== null && (best === null || depthOf(best) < OVER_PAR_DEPTH) ? par : best
  }

  /** Null if the other asset of the pool has no price. */
  async #over(poolId: PoolId, pool: Pool, asset: Hash, pools: number): Promise<PriceFacts | null> {
    const other = pool.assetX === asset ? pool.assetY : pool.assetX
    const base = this.#anchor(other) ?? (pools > 1 ? await this.#priceWithin(other, pools - 1) : this.#par(other))
    return base === null ? null : through(poolId, pool, asset, base)
  }

  #candidatesOf(asset: Hash): Promise<ReadonlyMap<PoolId, Pool>> {
    const known = this.#pools.get(asset) ?? this.#candidates(asset)
    this.#pools.set(asset, known)
    return known
  }

  /** Fake pools can displace the deepest pools, but not those with the native coin or the dollar token. */
  async #candidates(asset: Hash): Promise<ReadonlyMap<PoolId, Pool>> {
    const { database, ruleBook, head } = this.#chain
    const { poolFeesBps } = ruleBook.at(head.header.height).tx
    const anchors = [NATIVE_ASSET, dollarAsset(this.#chain)].filter((other) => other !== asset)
    const direct = anchors.flatMap((other) => poolFeesBps.map((feeBps) => poolIdOf(asset, other, feeBps)))
    const range = deepestPools(asset, POOLS_LOOKED_AT)
    const deepest = await database.indexPage(POOLS_BY_ASSET, range, poolOfEntry)
    return new Map(
      [...direct, ...deepest].flatMap((poolId) => {
        const pool = database.get(POOLS, poolId)
        return pool === undefined ? [] : [[poolId, pool] as const]
      }),
    )
  }

  /** Par for the reserve asset of the dollar token, for which the token redeems; null for any other asset. */
  #par(asset: Hash): PriceFacts | null {
    const reserves = this.#chain.database.get(STABLE_RESERVES, dollarAsset(this.#chain))
    return reserves?.reserveAsset === asset ? PAR : null
  }
}

function through(poolId: PoolId, pool: Pool, asset: Hash, base: PriceFacts): PriceFacts {
  const { reserveA, reserveB } = fundsFrom(pool, asset)
  const depth = scaledDown(reserveB, base.microsPerUnit)
  const shallower = base.depthUsdMicros !== null && base.depthUsdMicros < depth ? base.depthUsdMicros : depth
  return {
    basis: 'pool',
    microsPerUnit: times(ratio(reserveB, reserveA), base.microsPerUnit),
    route: [poolId, ...base.route],
    depthUsdMicros: shallower,
    ...(base.isUnsettled && { isUnsettled: true as const }),
  }
}

function better(price: PriceFacts | null, than: PriceFacts | null): boolean {
  if (price === null || than === null) return price !== null
  const [depth, other] = [depthOf(price), depthOf(than)]
  return depth > other || (depth === other && price.route.length < than.route.length)
}

function depthOf({ depthUsdMicros }: PriceFacts): bigint {
  return depthUsdMicros ?? 0n
}
