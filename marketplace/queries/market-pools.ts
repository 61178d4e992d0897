import type { ChainReader } from '../../consensus/chain/reader.ts'
import { STABLE_RESERVES } from '../../consensus/ledger/stable.ts'
import type { Hash, PoolId } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { type PoolValues, poolValues } from './pool-values.ts'
import { type PoolRow, poolsOf } from './pools.ts'
import { dollarAsset } from './prices.ts'

/** Maximum pools of a market, maximum assets whose pools are read, and maximum pools that are read per asset. */
export const MARKET_POOLS_MAX = 96
const ASSETS_MAX = 32
const POOLS_PER_ASSET = 24

/** The market's pools with their values, largest dollar value first, unpriced ones last. */
export interface Market {
  readonly pools: readonly PoolValues[]
  /** False if a limit was reached, so that there may be more pools. */
  readonly complete: boolean
  /** Totals of the pools with a known value; null if there are pools but none has a known value. */
  readonly tvlUsdMicros: bigint | null
  readonly volumeUsdMicros: bigint | null
  /** Number of trades; a swap over several pools counts once per pool. */
  readonly trades: number
  readonly unpriced: number
}

const MARKETS = new WeakMap<ChainReader, { readonly headId: string; readonly market: Promise<Market> }>()
/** Chains with a listener that drops the cache when the head moves. */
const FOLLOWED = new WeakSet<ChainReader>()

/**
 * Computed once per head and shared. The search begins at the dollar token, the native coin and the reserve asset, and
 * reads the deepest pools of every asset that it reaches. To push a pool out of the deepest ones of an asset, an
 * attacker must put more of the asset into each of {@link POOLS_PER_ASSET} other pools. Use it within `atOneHead`.
 */
export function readMarket(chain: ChainReader): Promise<Market> {
  const headId = chain.head.id
  const known = MARKETS.get(chain)
  if (known?.headId === headId) return known.market
  // Data read while the head moved belongs to no head, so later callers must not see it.
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
  // A Set iterates in insertion order, so assets near the dollar come first.
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
