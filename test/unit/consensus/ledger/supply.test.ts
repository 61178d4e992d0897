import { describe, expect, it } from 'vitest'
import {
  accrueStaking,
  burnAsset,
  burnNative,
  headroomOf,
  mintAsset,
  mintNative,
  nativeSupply,
  openSupply,
  STAKING_POOL,
  SUPPLY,
  supplyOf,
} from '../../../../consensus/ledger/supply.ts'
import { SUPPLY_BOUND } from '../../../../consensus/primitives/amount.ts'
import type { Hash } from '../../../../consensus/primitives/ids.ts'
import { Overlay } from '../../../../consensus/state/overlay.ts'
import { NATIVE_ASSET } from '../../../../consensus/state/table.ts'
import { MemoryState } from '../../../../consensus/state/view.ts'
import { filled, units } from '../../../support/unsigned.ts'

function overlayWith(minted: number, burned: number, cap: number): Overlay {
  const overlay = new Overlay(new MemoryState())
  overlay.put(SUPPLY, NATIVE_ASSET, { minted: units(minted), burned: units(burned), cap: units(cap) })
  return overlay
}

describe('the native supply', () => {
  it('counts what is minted and what is burned', () => {
    const overlay = overlayWith(10, 3, 20)
    mintNative(overlay, units(10))
    burnNative(overlay, units(4))
    expect(nativeSupply(overlay)).toEqual({ minted: 20n, burned: 7n, cap: 20n })
  })

  it('is not written when nothing burns', () => {
    const overlay = overlayWith(10, 3, 20)
    const mark = overlay.mark()
    burnNative(overlay, units(0))
    expect(overlay.changesSince(mark)).toEqual([])
  })

  it('never passes its cap: burned coins do not come back', () => {
    const overlay = overlayWith(20, 20, 20)
    expect(() => mintNative(overlay, units(1))).toThrow('minting beyond the cap')
  })

  it('is there from genesis, or something is badly wrong', () => {
    expect(() => nativeSupply(new MemoryState())).toThrow(/supply record of 0{64} is missing/)
  })
})

describe('the stakers’ pool', () => {
  it('begins absent and adds up', () => {
    const overlay = new Overlay(new MemoryState())
    accrueStaking(overlay, units(3))
    accrueStaking(overlay, units(4))
    expect(overlay.get(STAKING_POOL, undefined)).toEqual({ accrued: 7n })
  })
})

describe('the supply of any asset', () => {
  const ASSET = filled<Hash>(7)

  function opened(cap: bigint): Overlay {
    const overlay = new Overlay(new MemoryState())
    openSupply(overlay, ASSET, units(cap))
    return overlay
  }

  it('opens empty, once', () => {
    const overlay = opened(9n)
    expect(overlay.get(SUPPLY, ASSET)).toEqual({ minted: 0n, burned: 0n, cap: 9n })
    expect(() => openSupply(overlay, ASSET, units(9))).toThrow('the asset has a supply record')
  })

  it('is what was minted less what was burned, nothing without a record', () => {
    const overlay = opened(9n)
    mintAsset(overlay, ASSET, units(9))
    burnAsset(overlay, ASSET, units(4))
    expect(supplyOf(overlay, ASSET)).toBe(5n)
    expect(supplyOf(overlay, filled<Hash>(8))).toBe(0n)
    expect(() => mintAsset(overlay, ASSET, units(1))).toThrow('minting beyond the cap')
  })

  it('without a cap has room up to 2^112 - 1 in all', () => {
    const overlay = opened(0n)
    mintAsset(overlay, ASSET, units(SUPPLY_BOUND - 3n))
    burnAsset(overlay, ASSET, units(5))
    expect(headroomOf(overlay.get(SUPPLY, ASSET)!)).toBe(2n)
    expect(() => mintAsset(overlay, ASSET, units(3))).toThrow('minting beyond the cap')
  })
})
