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
 * What a dollar price rests on. `unit`: the dollar token that all prices here are counted in, 1 by definition and not
 * because somebody pays it. `epoch`: the market's own price of the native coin, the mean of the priced pool over the epoch
 * before. `pool`: what pools say at the head, which one trade can move. `par`: the bridged dollars behind the dollar token,
 * which redeems for them one to one, where no pool says otherwise.
 */
export type PriceBasis = 'unit' | 'epoch' | 'pool' | 'par'

/** Dollar price of an asset at the head. */
export interface PriceFacts {
  readonly basis: PriceBasis
  /** Millionths of a dollar for one base unit, exact. */
  readonly microsPerUnit: Ratio
  /** Pools that it was read from, from the asset to what has a price by itself. */
  readonly route: readonly PoolId[]
  /** Dollars on the far side of the shallowest pool of the route, in millionths; null where no pool takes part. */
  readonly depthUsdMicros: bigint | null
  /** True where it rests on a price of the coin by which nothing is sold: the mean of its epoch lies far outside both ends. */
  readonly isUnsettled?: true
}

/** Pools that a route may go through, and how many of each asset's deepest ones are looked at on the way. */
export const ROUTE_POOLS_MAX = 3
const POOLS_LOOKED_AT = 4

/** Dollars, in millionths, that a pool must hold to say something else of the bridged dollar than what it redeems for. */
export const OVER_PAR_DEPTH = 1_000_000_000n

/**
 * Dollars, in millionths, below which what a price rests on is easily moved, and a price said to be of low confidence: what one
 * trader can move by a tenth for less than a thousand dollars.
 */
export const LOW_DEPTH = 10_000_000_000n

/** How far a price can be relied on: `low` where it rests on less than {@link LOW_DEPTH}, or is unsettled. */
type Confidence = 'normal' | 'low'

/** Confidence in a price. One that no pool takes part in is as good as what is redeemed for it. */
export function confidenceIn({ depthUsdMicros, isUnsettled }: PriceGround): Confidence {
  return isUnsettled === true || (depthUsdMicros !== null && depthUsdMicros < LOW_DEPTH) ? 'low' : 'normal'
}

/** What the confidence in a price rests on. */
export type PriceGround = Pick<PriceFacts, 'depthUsdMicros' | 'isUnsettled'>

/** Price of the native coin: the market's, which counts, and that of the priced pool at the head beside it. */
export interface NativePrice {
  readonly epoch: number
  /** Undefined while the pool has not had a full epoch. */
  readonly market: PriceFacts | undefined
  /** Millionths of a dollar for one base unit in the priced pool now; undefined where there is no such pool. */
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

/**
 * Mean price of the native coin over the epochs that are over, at most so many: millionths of a dollar for one base unit.
 * Null where not a single one of them is known.
 */
export function nativeMean(
  { database, ruleBook, head }: ChainReader,
  epochs: number,
): { mean: Ratio; epochs: number } | null {
  const { market } = ruleBook.at(head.header.height)
  const last = epochOf(head.header.height, market)
  const prices: EpochPrice[] = []
  // Epoch 0 has a price of its own kind; that of any other is the mean of the epoch before.
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

/** Id of the dollar token, whose base unit is a millionth. */
export function dollarAsset({ ruleBook, head }: ChainReader): Hash {
  return tokenAsset(ruleBook.at(head.header.height).market.pricedPool.dollar)
}

/** One base unit is a millionth of a dollar. */
const PAR: PriceFacts = { basis: 'par', microsPerUnit: ONE, route: [], depthUsdMicros: null }

const BOOKS = new WeakMap<ChainReader, PriceBook>()
/** Chains whose moves throw their book away. */
const FOLLOWED = new WeakSet<ChainReader>()

/**
 * Dollar prices of any asset at one head, each worked out once. An asset has the price of the route through the deepest
 * pools; where no route of at most {@link ROUTE_POOLS_MAX} pools is found the price is unknown, never 0.
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

  /** The prices at the head: the same book for everybody until it moves. Use it within one reading. */
  static of(chain: ChainReader): PriceBook {
    const known = BOOKS.get(chain)
    if (known !== undefined && known.#headId === chain.head.id) return known
    // What was read while the head moved is of no head: it must not be told to anybody who comes later.
    if (!FOLLOWED.has(chain)) chain.onHeadChange(() => BOOKS.delete(chain))
    FOLLOWED.add(chain)
    const book = new PriceBook(chain)
    BOOKS.set(chain, book)
    return book
  }

  /** Price of an asset, null where it is unknown. */
  priceOf(asset: Hash): Promise<PriceFacts | null> {
    return this.#priceWithin(asset, ROUTE_POOLS_MAX)
  }

  /**
   * Value of base units in millionths of a dollar, rounded down; null where the price is unknown. What pools price is worth at
   * most what they hold against it, since nothing more can be got for it: else a dollar in a pool would make a fortune of whatever
   * can be minted. `depths` is how often they could have paid, for amounts that were moved one after the other.
   */
  async valueOf(asset: Hash, amount: bigint, depths: Ratio = ONE): Promise<bigint | null> {
    const price = await this.priceOf(asset)
    if (price === null) return null
    const value = scaledDown(amount, price.microsPerUnit)
    // The reserve of the dollar is paid out elsewhere too.
    if (price.basis !== 'pool' || this.#par(asset) !== null) return value
    const most = scaledDown(depthOf(price), depths)
    return value < most ? value : most
  }

  /** What has a price by itself. */
  #anchor(asset: Hash): PriceFacts | undefined {
    if (asset === dollarAsset(this.#chain)) return { ...PAR, basis: 'unit' }
    return asset === NATIVE_ASSET ? nativePrice(this.#chain).market : undefined
  }

  /** Price over at most so many pools. A way that comes back to where it was is never deeper than the one without. */
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

  /** Price over one pool, whatever leads on from what it holds beside the asset; null where nothing does. */
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

  /** Pools with what has a price by itself at every fee, which nobody can crowd out, and the asset's deepest ones. */
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

  /** The reserve of the dollar token is worth what it redeems for. */
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

/** Whether a price is over a deeper route than another, or over an equally deep one of fewer pools. */
function better(price: PriceFacts | null, than: PriceFacts | null): boolean {
  if (price === null || than === null) return price !== null
  const [depth, other] = [depthOf(price), depthOf(than)]
  return depth > other || (depth === other && price.route.length < than.route.length)
}

function depthOf({ depthUsdMicros }: PriceFacts): bigint {
  return depthUsdMicros ?? 0n
}
