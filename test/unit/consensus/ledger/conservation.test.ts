import { describe, expect, it } from 'vitest'
import { ACCOUNTS, openedAccount } from '../../../../consensus/ledger/account.ts'
import { Balance, conserves } from '../../../../consensus/ledger/conservation.ts'
import { REWARDS } from '../../../../consensus/ledger/rewards.ts'
import { STAKING_POOL, SUPPLY } from '../../../../consensus/ledger/supply.ts'
import type { Address, Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import { Overlay } from '../../../../consensus/state/overlay.ts'
import { NATIVE_ASSET } from '../../../../consensus/state/table.ts'
import { MemoryState } from '../../../../consensus/state/view.ts'
import { ESCROW_TOTALS, ESCROWS } from '../../../../marketplace/ledger/escrow.ts'
import { agentId, filled, serviceId, units } from '../../../support/unsigned.ts'

const ALICE = filled<Address>(1)
const TOKEN = filled<Hash>(0x70)

/** Whether changes to an empty state keep all totals balanced. */
function conserved(change: (overlay: Overlay) => void): boolean {
  const overlay = new Overlay(new MemoryState())
  change(overlay)
  return conserves(overlay.changesSince(0))
}

const supply = (minted: number, burned: number) => ({ minted: units(minted), burned: units(burned), cap: units(9_999) })

const ESCROW = {
  ...{ agentId: agentId('acme'), serviceId: serviceId('work'), caller: ALICE, payout: ALICE, amount: units(40) },
  ...{
    insider: false,
    minedAt: 1,
    index: 0,
    deadline: 101,
    requestCommitment: filled<Hash>(0),
    redeemLock: filled<Hash>(0),
  },
}

describe('conservation', () => {
  it('holds when nothing changes, and when minted coins lie somewhere', () => {
    expect(conserved(() => {})).toBe(true)
    expect(
      conserved((overlay) => {
        overlay.put(SUPPLY, NATIVE_ASSET, supply(120, 20))
        overlay.put(ACCOUNTS, ALICE, openedAccount(units(10)))
        overlay.put(REWARDS, 5, { miner: ALICE, amount: units(20) })
        overlay.put(STAKING_POOL, undefined, { accrued: units(30) })
        overlay.put(ESCROWS, filled<TxId>(9), ESCROW)
      }),
    ).toBe(true)
  })

  it.each([
    ['an account', (overlay: Overlay) => overlay.put(ACCOUNTS, ALICE, openedAccount(units(1)))],
    ['a reward', (overlay: Overlay) => overlay.put(REWARDS, 5, { miner: ALICE, amount: units(1) })],
    ['the staking pool', (overlay: Overlay) => overlay.put(STAKING_POOL, undefined, { accrued: units(1) })],
    ['an escrow', (overlay: Overlay) => overlay.put(ESCROWS, filled<TxId>(9), ESCROW)],
    ['coins minted to no account', (overlay: Overlay) => overlay.put(SUPPLY, NATIVE_ASSET, supply(1, 0))],
    ['coins burned that no account gave', (overlay: Overlay) => overlay.put(SUPPLY, NATIVE_ASSET, supply(0, 1))],
  ])('breaks with %s out of nothing', (_, change) => {
    expect(conserved(change)).toBe(false)
  })

  it('does not count the totals of escrows, which repeat what escrows hold', () => {
    expect(conserved((overlay) => overlay.put(ESCROW_TOTALS, undefined, { amount: units(5), count: 1 }))).toBe(true)
  })

  it('is kept for each asset by itself', () => {
    expect(
      conserved((overlay) => {
        overlay.put(SUPPLY, NATIVE_ASSET, supply(0, 5))
        overlay.put(SUPPLY, TOKEN, supply(5, 0))
      }),
    ).toBe(false)
    const balance = new Balance()
    balance.add(NATIVE_ASSET, 3n)
    balance.add(TOKEN, -3n)
    balance.add(NATIVE_ASSET, -3n)
    expect(balance.broken()).toEqual([{ asset: TOKEN, sum: -3n }])
  })

  it('looks at changes alone: what was there before does not count', () => {
    const overlay = new Overlay(new MemoryState())
    overlay.put(ACCOUNTS, ALICE, openedAccount(units(7)))
    const mark = overlay.mark()
    overlay.put(ACCOUNTS, ALICE, { ...openedAccount(units(7)), nonce: 1n })
    expect(conserves(overlay.changesSince(mark))).toBe(true)
    overlay.put(ACCOUNTS, ALICE, openedAccount(units(8)))
    expect(conserves(overlay.changesSince(mark))).toBe(false)
  })
})
