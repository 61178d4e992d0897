import type { ChainReader } from '../../consensus/chain/reader.ts'
import { STABLE_RESERVES } from '../../consensus/ledger/stable.ts'
import type { Hash, PoolId } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { type PoolValues, poolValues } from './pool-values.ts'
import { type PoolRow, poolsOf } from './pools.ts'
import { dollarAsset } from './prices.ts'

/** Most pools that figures of the whole market are summed over, assets that are followed, and pools of each. */
export const MARKET_POOLS_MAX = 96
const ASSETS_MAX = 32
const POOLS_PER_ASSET = 24

/** The market's pools with their values, the one that holds most dollars first, unpriced ones last. */
export interface Market {
  readonly pools: readonly PoolValues[]
  /** Whether these are all pools that a way leads to from native coin and dollars. */
  readonly complete: boolean
  /** Sums over the pools whose value is known; null where there are pools and none has one. */
  readonly tvlUsdMicros: bigint | null
  readonly volumeUsdMicros: bigint | null
  /** A swap over several pools is one in each. */
  readonly trades: number
  /** Pools that the sums leave out. */
  readonly unpriced: number
}

const MARKETS = new WeakMap<ChainReader, { readonly headId: string; readonly market: Promise<Market> }>()
/** Chains whose moves throw away what was read of them. */
const FOLLOWED = new WeakSet<ChainReader>()

/**
 * The market at the head, read once for everybody until it moves: pools that are reached from the dollar token, its reserve
 * and the native coin, the deepest of every asset on the way. Whoever wants to crowd out a pool must hold more in
 * {@link POOLS_PER_ASSET} others. Use it within one reading.
 */
export function readMarket(chain: ChainReader): Promise<Market> {
  const headId = chain.head.id
  const known = MARKETS.get(chain)
  if (known?.headId === headId) return known.market
  // What was read while the head moved is of no head: it must not be told to anybody who comes later.
  if (!FOLLOWED.has(chain)) chain.onHeadChange(() => MARKETS.delete(chain))
  FOLLOWED.add(chain)
  const market = sumUp(chain)
  MARKETS.set(chain, { headId, market })
  market.catch(() => MARKETS.delete(chain))
  return market
}

async function sumUp(chain: ChainReader): Promise<Market> {
  const { rows, complete } = await reachedPools(chain)
  const pools = (await Promise.all(rows.map((row) => poolValues(chain, row)))).toSorted(deepestFirst)
  return {
    pools,
    complete,
    tvlUsdMicros: sumOfKnown(pools.map(({ tvlUsdMicros }) => tvlUsdMicros)),
    volumeUsdMicros: sumOfKnown(pools.map(({ volumeUsdMicros }) => volumeUsdMicros)),
    trades: pools.reduce((sum, { day }) => sum + day.trades, 0),
    unpriced: pools.filter(({ tvlUsdMicros }) => tvlUsdMicros === null).length,
  }
}

async function reachedPools(
  chain: ChainReader,
): Promise<{ readonly rows: readonly PoolRow[]; readonly complete: boolean }> {
  const found = new Map<PoolId, PoolRow>()
  const assets = new Set(firstAssets(chain))
  let complete = true
  let followed = 0
  // A set is walked in the order of its growth: assets near the dollar come first.
  for (const asset of assets) {
    if (followed++ === ASSETS_MAX || found.size === MARKET_POOLS_MAX)
      return { rows: [...found.values()], complete: false }
    const page = await poolsOf(chain, asset, POOLS_PER_ASSET)
    if (page.length === POOLS_PER_ASSET) complete = false
    for (const row of page) {
      if (found.size < MARKET_POOLS_MAX) found.set(row.poolId, row)
      else complete = false
      assets.add(row.x.asset).add(row.y.asset)
    }
  }
  return { rows: [...found.values()], complete }
}

function firstAssets(chain: ChainReader): readonly Hash[] {
  const dollar = dollarAsset(chain)
  const reserve = chain.database.get(STABLE_RESERVES, dollar)
  return [dollar, NATIVE_ASSET, ...(reserve === undefined ? [] : [reserve.reserveAsset])]
}

function deepestFirst(a: PoolValues, b: PoolValues): number {
  const [one, other] = [a.tvlUsdMicros ?? -1n, b.tvlUsdMicros ?? -1n]
  if (one !== other) return one < other ? 1 : -1
  return a.row.poolId < b.row.poolId ? -1 : 1
}

function sumOfKnown(values: readonly (bigint | null)[]): bigint | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 && values.length > 0 ? null : known.reduce((sum, value) => sum + value, 0n)
}
