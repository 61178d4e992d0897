import { describe, expect, it } from 'vitest'
import {
  accrueStaking,
  burnNative,
  mintNative,
  nativeSupply,
  STAKING_POOL,
  SUPPLY,
} from '../../../../consensus/ledger/supply.ts'
import { Overlay } from '../../../../consensus/state/overlay.ts'
import { NATIVE_ASSET } from '../../../../consensus/state/table.ts'
import { MemoryState } from '../../../../consensus/state/view.ts'
import { units } from '../../../support/unsigned.ts'

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
    expect(() => nativeSupply(new MemoryState())).toThrow('the native supply record is missing')
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
