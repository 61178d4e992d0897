import { type Amount, add, amount, SUPPLY_BOUND, subtractProven, ZERO } from '../primitives/amount.ts'
import { assert } from '../primitives/assert.ts'
import { container, uint128, type ValueOf } from '../primitives/codec.ts'
import type { Hash } from '../primitives/ids.ts'
import type { Overlay } from '../state/overlay.ts'
import { NATIVE_ASSET, noKey, type StateKey, stateTable } from '../state/table.ts'
import type { StateView } from '../state/view.ts'

const SUPPLY_RECORD = container('Supply', { minted: uint128, burned: uint128, cap: uint128 })

/** What was ever minted and burned of an asset, and the most that may be minted. Headroom is cap - minted. */
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

/** Native coins that accrued for stakers and that no stake has earned yet. */
export const STAKING_POOL = stateTable<void, ValueOf<typeof POOL_RECORD>>({
  name: 'staking-pool',
  prefix: 0x03,
  codec: POOL_RECORD,
  id: noKey,
  holdings: ({ accrued }) => [{ asset: NATIVE_ASSET, amount: accrued }],
})

/** Supply record of an asset that exists. */
export function supplyRecord(view: StateView, asset: Hash): Supply {
  const supply = view.get(SUPPLY, asset)
  assert(supply !== undefined, `the supply record of ${asset} is missing`)
  return supply
}

/** Supply of the native coin; every network's genesis writes it. */
export function nativeSupply(view: StateView): Supply {
  return supplyRecord(view, NATIVE_ASSET)
}

/** What exists of an asset: minted - burned, 0 for an asset without a record. */
export function supplyOf(view: StateView, asset: Hash): Amount {
  const supply = view.get(SUPPLY, asset)
  return supply === undefined ? ZERO : subtractProven(supply.minted, supply.burned)
}

/** What may still be minted of an asset: up to its cap, or to 2^112 - 1 in all without one. Burning frees nothing. */
export function headroomOf({ minted, cap }: Supply): Amount {
  return subtractProven(cap === 0n ? amount(SUPPLY_BOUND - 1n) : cap, minted)
}

/** Opens the books of an asset that did not exist before; `cap` 0 for none. */
export function openSupply(overlay: Overlay, asset: Hash, cap: Amount): void {
  assert(overlay.get(SUPPLY, asset) === undefined, 'the asset has a supply record')
  overlay.put(SUPPLY, asset, { minted: ZERO, burned: ZERO, cap })
}

/** Books new units of an asset; the caller has checked the headroom and puts them wherever they go. */
export function mintAsset(overlay: Overlay, asset: Hash, minted: Amount): void {
  const supply = supplyRecord(overlay, asset)
  assert(minted <= headroomOf(supply), 'minting beyond the cap')
  overlay.put(SUPPLY, asset, { ...supply, minted: add(supply.minted, minted) })
}

/** Books units of an asset as destroyed; the caller has taken them from wherever they were. */
export function burnAsset(overlay: Overlay, asset: Hash, burned: Amount): void {
  if (burned === 0n) return
  const supply = supplyRecord(overlay, asset)
  overlay.put(SUPPLY, asset, { ...supply, burned: add(supply.burned, burned) })
}

/** Books native coins as destroyed; the caller has taken them from wherever they were. */
export function burnNative(overlay: Overlay, burned: Amount): void {
  burnAsset(overlay, NATIVE_ASSET, burned)
}

/** Books new native coins; the caller puts them wherever they go. */
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
