import type { IndexEntry, IndexWrite, StateIndex } from '../consensus/chain/chain-index.ts'
import type { IndexRange } from '../consensus/chain/index-reads.ts'
import { fromHex, toHex, writeHex } from '../consensus/primitives/bytes.ts'
import { decodeOwn } from '../consensus/primitives/codec.ts'
import type { Hash, PoolId } from '../consensus/primitives/ids.ts'
import type { StateChange } from '../consensus/state/view.ts'
import { POOLS, poolOfKey } from './pool.ts'

const ASSET_BYTES = 32
const AMOUNT_BYTES = 16
const POOL_AT = ASSET_BYTES + AMOUNT_BYTES
const KEY_BYTES = POOL_AT + 32
const WORD = 0xffff_ffff_ffff_ffffn
const NOTHING = new Uint8Array(0)

/** Pools of each asset, deepest first: asset || 2^128 - 1 - its reserve (16 bytes, big-endian) || pool id -> empty. */
export const POOLS_BY_ASSET: StateIndex = { name: 'pools-by-asset', prefix: 0x06, changesOf }

/** Index range of the pools with the most of an asset. */
export function deepestPools(asset: Hash, limit: number): IndexRange {
  return { prefix: fromHex(asset), limit }
}

/** The pool id in an index entry. */
export function poolOfEntry({ key }: IndexEntry): PoolId {
  return toHex(key.subarray(POOL_AT)) as PoolId
}

function changesOf(changes: readonly StateChange[]): readonly IndexWrite[] {
  return changes.flatMap(({ table, key, before, after }) => {
    if (table.prefix !== POOLS.prefix) return []
    const poolId = poolOfKey(key)
    const [had, has] = [placesOf(poolId, before), placesOf(poolId, after)]
    // An asset with an unchanged reserve keeps its key.
    const left = had.filter((place) => !has.includes(place)).map((place) => ({ key: fromHex(place) }))
    const joined = has.filter((place) => !had.includes(place)).map((place) => ({ key: fromHex(place), value: NOTHING }))
    return [...left, ...joined]
  })
}

/** Index keys of a pool under both its assets, in hex. */
function placesOf(poolId: PoolId, record: Uint8Array | undefined): readonly string[] {
  if (record === undefined) return []
  const { assetX, assetY, reserveX, reserveY } = decodeOwn(POOLS.codec, record)
  return [placeKey(assetX, reserveX, poolId), placeKey(assetY, reserveY, poolId)]
}

function placeKey(asset: Hash, reserve: bigint, poolId: PoolId): string {
  const key = new Uint8Array(KEY_BYTES)
  writeHex(key, 0, asset)
  const view = new DataView(key.buffer)
  view.setBigUint64(ASSET_BYTES, WORD - (reserve >> 64n))
  view.setBigUint64(ASSET_BYTES + 8, WORD - (reserve & WORD))
  writeHex(key, POOL_AT, poolId)
  return toHex(key)
}
