import { type Amount, add, amount, SUPPLY_BOUND, subtractProven, ZERO } from '../primitives/amount.ts'
import { assert } from '../primitives/assert.ts'
import { container, uint128, type ValueOf } from '../primitives/codec.ts'
import type { Hash } from '../primitives/ids.ts'
import type { Overlay } from '../state/overlay.ts'
import { NATIVE_ASSET, noKey, type StateKey, stateTable } from '../state/table.ts'
import type { StateView } from '../state/view.ts'

const SUPPLY_RECORD = container('Supply', { minted: uint128, burned: uint128, cap: uint128 })

/**
 * What was ever minted and burned of an asset, and the most that may ever be minted; a `cap` of 0 is none. See
 * {@link headroomOf}.
 */
export type Supply = ValueOf<typeof SUPPLY_RECORD>

/** Supply per asset. */
export const SUPPLY = stateTable<Hash, Supply>({
  name: 'supply',
  prefix: 0x02,
  codec: SUPPLY_RECORD,
  id: (asset) => asset,
  holdings: ({ minted, burned }, key) => [{ asset: assetOfSupplyKey(key), amount: burned - minted }],
})

const POOL_RECORD = container('StakingPool', { accrued: uint128 })

/** Native coins for future staking rewards. */
export const STAKING_POOL = stateTable<void, ValueOf<typeof POOL_RECORD>>({
  name: 'staking-pool',
  prefix: 0x03,
  codec: POOL_RECORD,
  id: noKey,
  holdings: ({ accrued }) => [{ asset: NATIVE_ASSET, amount: accrued }],
})

/** Supply record of an existing asset. */
export function supplyRecord(view: StateView, asset: Hash): Supply {
  const supply = view.get(SUPPLY, asset)
  assert(supply !== undefined, `the supply record of ${asset} is missing`)
  return supply
}

/** Every genesis writes this record. */
export function nativeSupply(view: StateView): Supply {
  return supplyRecord(view, NATIVE_ASSET)
}

/** Units that exist; 0 without a record. */
export function supplyOf(view: StateView, asset: Hash): Amount {
  const supply = view.get(SUPPLY, asset)
  return supply === undefined ? ZERO : subtractProven(supply.minted, supply.burned)
}

/** Units that may still be minted, up to the cap or, without one, to 2^112 - 1 in all. Burning makes no room. */
export function headroomOf({ minted, cap }: Supply): Amount {
  return subtractProven(cap === 0n ? amount(SUPPLY_BOUND - 1n) : cap, minted)
}

/** `cap` 0 means none. */
export function openSupply(overlay: Overlay, asset: Hash, cap: Amount): void {
  assert(overlay.get(SUPPLY, asset) === undefined, 'the asset has a supply record')
  overlay.put(SUPPLY, asset, { minted: ZERO, burned: ZERO, cap })
}

/** The caller has checked the headroom and credits the units. */
export function mintAsset(overlay: Overlay, asset: Hash, minted: Amount): void {
  const supply = supplyRecord(overlay, asset)
  assert(minted <= headroomOf(supply), 'minting beyond the cap')
  overlay.put(SUPPLY, asset, { ...supply, minted: add(supply.minted, minted) })
}

/** The caller has already debited the units. */
export function burnAsset(overlay: Overlay, asset: Hash, burned: Amount): void {
  if (burned === 0n) return
  const supply = supplyRecord(overlay, asset)
  overlay.put(SUPPLY, asset, { ...supply, burned: add(supply.burned, burned) })
}

/** The caller has already debited the coins. */
export function burnNative(overlay: Overlay, burned: Amount): void {
  burnAsset(overlay, NATIVE_ASSET, burned)
}

/** The caller credits the coins. */
export function mintNative(overlay: Overlay, minted: Amount): void {
  mintAsset(overlay, NATIVE_ASSET, minted)
}

/** Adds to the stakers' reward pool. */
export function accrueStaking(overlay: Overlay, share: Amount): void {
  const accrued = overlay.get(STAKING_POOL, undefined)?.accrued ?? ZERO
  overlay.put(STAKING_POOL, undefined, { accrued: amount(accrued + share) })
}

/** Asset in the key of a supply record. */
export function assetOfSupplyKey(key: StateKey): Hash {
  return key.slice(2) as Hash
}
