import { type Amount, add, amount, ZERO } from '../primitives/amount.ts'
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
  holdings: ({ minted, burned }, key) => [{ asset: assetOfKey(key), amount: burned - minted }],
})

const POOL_RECORD = container('StakingPool', { accrued: uint128 })

/** Native coins that accrued for stakers and are not claimed yet. */
export const STAKING_POOL = stateTable<void, ValueOf<typeof POOL_RECORD>>({
  name: 'staking-pool',
  prefix: 0x03,
  codec: POOL_RECORD,
  id: noKey,
  holdings: ({ accrued }) => [{ asset: NATIVE_ASSET, amount: accrued }],
})

/** Supply of the native coin; every network's genesis writes it. */
export function nativeSupply(view: StateView): Supply {
  const supply = view.get(SUPPLY, NATIVE_ASSET)
  assert(supply !== undefined, 'the native supply record is missing')
  return supply
}

/** Books coins as destroyed; the caller has taken them from wherever they were. */
export function burnNative(overlay: Overlay, burned: Amount): void {
  if (burned === 0n) return
  const supply = nativeSupply(overlay)
  overlay.put(SUPPLY, NATIVE_ASSET, { ...supply, burned: add(supply.burned, burned) })
}

/** Books new coins; the caller puts them wherever they go. */
export function mintNative(overlay: Overlay, minted: Amount): void {
  const supply = nativeSupply(overlay)
  assert(supply.minted + minted <= supply.cap, 'minting beyond the cap')
  overlay.put(SUPPLY, NATIVE_ASSET, { ...supply, minted: add(supply.minted, minted) })
}

/** Adds to the stakers' reward pool. */
export function accrueStaking(overlay: Overlay, share: Amount): void {
  const accrued = overlay.get(STAKING_POOL, undefined)?.accrued ?? ZERO
  overlay.put(STAKING_POOL, undefined, { accrued: amount(accrued + share) })
}

function assetOfKey(key: StateKey): Hash {
  return key.slice(2) as Hash
}
