import type { DatabaseReader } from '../consensus/chain/reader.ts'
import type { Hash, PoolId } from '../consensus/primitives/ids.ts'
import type { StateView } from '../consensus/state/view.ts'
import type { TxRules } from '../consensus/tx/rules.ts'
import { POOLS, poolIdOf } from './pool.ts'
import { deepestPools, POOLS_BY_ASSET, poolOfEntry } from './pools-by-asset.ts'

/** Pools examined at each end of a route. */
export const POOLS_PER_END = 16

/** The ends of a route. */
export interface RouteEnds {
  readonly assetIn: Hash
  readonly assetOut: Hash
}

/**
 * Pools for routes of up to three hops: the pools of the pair, the {@link POOLS_PER_END} deepest pools of each end, and
 * all pools that connect them. An attacker who wants to push a pool out must hold more in sixteen other pools.
 */
export function poolsBetween(
  database: DatabaseReader,
  ends: RouteEnds,
  { poolFeesBps }: Pick<TxRules, 'poolFeesBps'>,
): Promise<readonly PoolId[]> {
  const page = (asset: Hash): Promise<readonly PoolId[]> =>
    database.indexPage(POOLS_BY_ASSET, deepestPools(asset, POOLS_PER_END), poolOfEntry)
  return Promise.all([page(ends.assetIn), page(ends.assetOut)]).then(([ofIn, ofOut]) => [
    ...new Set([
      ...joining(database, [ends.assetIn], [ends.assetOut], poolFeesBps),
      ...ofIn,
      ...ofOut,
      ...joining(database, across(database, ofIn, ends.assetIn), across(database, ofOut, ends.assetOut), poolFeesBps),
    ]),
  ])
}

function across(view: StateView, pools: readonly PoolId[], asset: Hash): readonly Hash[] {
  const others = pools.flatMap((poolId) => {
    const pool = view.get(POOLS, poolId)
    if (pool === undefined) return []
    return [pool.assetX === asset ? pool.assetY : pool.assetX]
  })
  return [...new Set(others)]
}

/** Existing pools between an asset of one list and an asset of the other, at any fee. */
function joining(
  view: StateView,
  these: readonly Hash[],
  those: readonly Hash[],
  feesBps: readonly number[],
): readonly PoolId[] {
  return these
    .flatMap((one) => those.flatMap((other) => (one === other ? [] : feesBps.map((fee) => poolIdOf(one, other, fee)))))
    .filter((poolId) => view.get(POOLS, poolId) !== undefined)
}
