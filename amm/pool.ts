import { taggedHashHex } from '../consensus/crypto/hash.ts'
import type { Amount } from '../consensus/primitives/amount.ts'
import { fromHex, uintLE } from '../consensus/primitives/bytes.ts'
import {
  container,
  hex32,
  uint8,
  uint16,
  uint32,
  uint128,
  uint256,
  type ValueOf,
} from '../consensus/primitives/codec.ts'
import type { Address, Hash, PoolId } from '../consensus/primitives/ids.ts'
import { heightKey, type StateKey, stateTable } from '../consensus/state/table.ts'
import { LOCKED_SHARES, type PoolFunds, spotPrice } from './math.ts'

const POOL_RECORD = container('Pool', {
  version: uint8,
  assetX: hex32<Hash>(),
  assetY: hex32<Hash>(),
  feeBps: uint16,
  reserveX: uint128,
  reserveY: uint128,
  shares: uint128,
  xPerY: uint256,
  yPerX: uint256,
  accumulatedAt: uint32,
  createdAt: uint32,
})

/**
 * `assetX` has the lower id, so the native coin is always X. `shares` includes the locked ones. `xPerY` and `yPerX` sum
 * the price of every block end (Q112.112) up to the start of block `accumulatedAt`; even a sum over all 2^32 heights
 * stays below 2^256.
 */
export type Pool = ValueOf<typeof POOL_RECORD>

/**
 * The reserves belong to no account. Shares count as an asset with the pool's id, so that conservation checks the
 * holders' shares against the pool's.
 */
export const POOLS = stateTable<PoolId, Pool>({
  name: 'pools',
  prefix: 0x20,
  codec: POOL_RECORD,
  id: (poolId) => poolId,
  holdings: ({ assetX, assetY, reserveX, reserveY, shares }, key) => [
    { asset: assetX, amount: reserveX },
    { asset: assetY, amount: reserveY },
    { asset: shareAsset(poolOfKey(key)), amount: LOCKED_SHARES - shares },
  ],
})

/** A holder of shares, and the pool. */
export interface ShareHolder {
  readonly address: Address
  readonly poolId: PoolId
}

const SHARES_RECORD = container('PoolShares', { shares: uint128 })

/** Keyed by holder first, so that one key range lists all pools of an address. Without shares there is no record. */
export const POOL_SHARES = stateTable<ShareHolder, ValueOf<typeof SHARES_RECORD>>({
  name: 'pool-shares',
  prefix: 0x21,
  codec: SHARES_RECORD,
  id: ({ address, poolId }) => address + poolId,
  holdings: ({ shares }, key) => [{ asset: shareAsset(poolOfShareKey(key)), amount: shares }],
})

const PRICE_RECORD = container('PriceEntry', {
  nativePerDollar: uint256,
  reserveNative: uint128,
  reserveDollar: uint128,
})

/** The priced pool at the start of an epoch's first block. `nativePerDollar` is its `xPerY`. */
export type PriceEntry = ValueOf<typeof PRICE_RECORD>

/** By epoch. */
export const PRICE_ENTRIES = stateTable<number, PriceEntry>({
  name: 'price-entries',
  prefix: 0x22,
  codec: PRICE_RECORD,
  id: heightKey,
})

const ADDRESS_HEX_CHARS = 64

/** The pool id in the key of a pool record. */
export function poolOfKey(key: StateKey): PoolId {
  return key.slice(2) as PoolId
}

/** The pool id at the end of the key of a share record. */
export function poolOfShareKey(key: StateKey): PoolId {
  return key.slice(2 + ADDRESS_HEX_CHARS) as PoolId
}

function shareAsset(poolId: PoolId): Hash {
  return poolId as string as Hash
}

/** Two assets in the order of a pool record: X, Y. */
export function orderedAssets(one: Hash, other: Hash): readonly [Hash, Hash] {
  return one < other ? [one, other] : [other, one]
}

const FEE_BYTES = 2

/** H(poolId, x || y || feeBps), for either order of the assets. */
export function poolIdOf(one: Hash, other: Hash, feeBps: number): PoolId {
  const [x, y] = orderedAssets(one, other)
  return taggedHashHex<PoolId>('poolId', fromHex(x), fromHex(y), uintLE(BigInt(feeBps), FEE_BYTES))
}

/** The pool's funds, with `assetA` as A. */
export function fundsFrom({ assetX, reserveX, reserveY, shares }: Pool, assetA: Hash): PoolFunds {
  const [reserveA, reserveB] = assetA === assetX ? [reserveX, reserveY] : [reserveY, reserveX]
  return { reserveA, reserveB, shares }
}

/** Both price sums at the start of block `height`. */
export function accumulatedAt(pool: Pool, height: number): Pick<Pool, 'xPerY' | 'yPerX'> {
  const { reserveX, reserveY, xPerY, yPerX } = pool
  const blocks = BigInt(height - pool.accumulatedAt)
  return {
    xPerY: xPerY + spotPrice(reserveX, reserveY) * blocks,
    yPerX: yPerX + spotPrice(reserveY, reserveX) * blocks,
  }
}

/** The pool with new funds. The old price is accumulated up to this block first. */
export function withFunds(pool: Pool, assetA: Hash, funds: PoolFunds, height: number): Pool {
  const { reserveA, reserveB, shares } = funds
  const [reserveX, reserveY] = assetA === pool.assetX ? [reserveA, reserveB] : [reserveB, reserveA]
  const sums = accumulatedAt(pool, height)
  return { ...pool, ...sums, accumulatedAt: height, reserveX, reserveY, shares: shares as Amount }
}
