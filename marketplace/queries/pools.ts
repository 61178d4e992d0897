import { removeLiquidity } from '../../amm/math.ts'
import { POOL_SHARES, POOLS, type Pool, poolIdOf, poolOfKey, poolOfShareKey } from '../../amm/pool.ts'
import { deepestPools, POOLS_BY_ASSET, poolOfEntry } from '../../amm/pools-by-asset.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import { isHex } from '../../consensus/primitives/bytes.ts'
import type { Address, Hash, PoolId } from '../../consensus/primitives/ids.ts'
import { type AssetFacts, assetNamed, recordedAsset } from './assets.ts'

/** A pool with its assets by name. */
export interface PoolRow {
  readonly poolId: PoolId
  /** `X-Y-fee`, the fee in basis points. */
  readonly name: string
  readonly x: AssetFacts
  readonly y: AssetFacts
  readonly pool: Pool
}

/** A pool by its id or its name, like `FAR-FUSD-30`, with the assets in either order; undefined if there is none. */
export function poolNamed(chain: ChainReader, text: string): PoolRow | undefined {
  const poolId = isHex(text, 32) ? (text as PoolId) : idOfName(chain, text)
  const pool = poolId === undefined ? undefined : chain.database.get(POOLS, poolId)
  return pool === undefined ? undefined : poolRow(chain, poolId as PoolId, pool)
}

/** `X-Y-fee`, the assets in either order. */
export const POOL_NAME = /^([A-Z0-9]{2,10})-([A-Z0-9]{2,10})-(0|[1-9][0-9]{0,3})$/

function idOfName(chain: ChainReader, name: string): PoolId | undefined {
  const [, one = '', other = '', fee] = POOL_NAME.exec(name) ?? []
  const [x, y] = [assetNamed(chain, one), assetNamed(chain, other)]
  return x === undefined || y === undefined || x.asset === y.asset ? undefined : poolIdOf(x.asset, y.asset, Number(fee))
}

/** A pool record with names. */
export function poolRow(chain: ChainReader, poolId: PoolId, pool: Pool): PoolRow {
  const [x, y] = [recordedAsset(chain, pool.assetX), recordedAsset(chain, pool.assetY)]
  return { poolId, name: `${x.symbol}-${y.symbol}-${pool.feeBps}`, x, y, pool }
}

/** Name of the pool of two assets at a fee. */
export function poolName(chain: ChainReader, pool: Pick<Pool, 'assetX' | 'assetY' | 'feeBps'>): string {
  const symbol = (asset: Hash): string => recordedAsset(chain, asset).symbol
  return `${symbol(pool.assetX)}-${symbol(pool.assetY)}-${pool.feeBps}`
}

/**
 * Ordered by id, after the id `after`. `next` is the `after` of the next page, or null if this page is not full. Pools
 * are never deleted, so new blocks do not disturb paging.
 */
export async function listPools(
  chain: ChainReader,
  { after, limit }: { readonly after?: PoolId | undefined; readonly limit: number },
): Promise<{ readonly pools: readonly PoolRow[]; readonly next: PoolId | null }> {
  const pools: PoolRow[] = []
  const behind = after === undefined ? undefined : POOLS.key(after)
  for await (const { key, value } of chain.database.stateRange(POOLS, '', limit, behind)) {
    pools.push(poolRow(chain, poolOfKey(key), value))
  }
  return { pools, next: pools.length === limit ? (pools.at(-1) as PoolRow).poolId : null }
}

/** The pools with the most of an asset, deepest first. */
export async function poolsOf(chain: ChainReader, asset: Hash, limit: number): Promise<readonly PoolRow[]> {
  const { database } = chain
  const ids = await database.indexPage(POOLS_BY_ASSET, deepestPools(asset, limit), poolOfEntry)
  return ids.flatMap((poolId) => {
    const pool = database.get(POOLS, poolId)
    return pool === undefined ? [] : [poolRow(chain, poolId, pool)]
  })
}

/** An address's shares of a pool, with the amounts that they would withdraw. */
export interface PoolPosition {
  readonly row: PoolRow
  readonly shares: Amount
  readonly amountX: Amount
  readonly amountY: Amount
}

/** Ordered by pool id; `after` is the last pool of the page before. */
export async function positionsOf(
  chain: ChainReader,
  address: Address,
  { limit, after }: { readonly limit: number; readonly after?: PoolId | undefined },
): Promise<readonly PoolPosition[]> {
  const behind = after === undefined ? undefined : POOL_SHARES.key({ address, poolId: after })
  const held: { readonly poolId: PoolId; readonly shares: Amount }[] = []
  for await (const { key, value } of chain.database.stateRange(POOL_SHARES, address, limit, behind)) {
    held.push({ poolId: poolOfShareKey(key), shares: value.shares })
  }
  return held.flatMap(({ poolId, shares }) => {
    const pool = chain.database.get(POOLS, poolId)
    // The head has moved, so `atOneHead` will repeat the reading.
    if (pool === undefined || pool.shares < shares) return []
    const { reserveX, reserveY } = pool
    const funds = { reserveA: reserveX, reserveB: reserveY, shares: pool.shares }
    const { amountA, amountB } = removeLiquidity(funds, shares)
    return [{ row: poolRow(chain, poolId, pool), shares, amountX: amountA, amountY: amountB }]
  })
}
