import { type Amount, add, subtractProven, ZERO } from '../primitives/amount.ts'
import { assert } from '../primitives/assert.ts'
import { container, list, uint8, uint32, uint128, uint256, type ValueOf } from '../primitives/codec.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, TxId } from '../primitives/ids.ts'
import type { Overlay, ValueChange } from '../state/overlay.ts'
import { anyTable, NATIVE_ASSET, noKey, stateTable } from '../state/table.ts'
import type { StateView } from '../state/view.ts'
import { credit, debit } from './account.ts'
import type { BlockContext, KindHandler, LedgerModule, LedgerRules } from './module.ts'
import type { StakingRules } from './rules.ts'
import {
  accrueRewards,
  earned,
  emptyBooks,
  owing,
  rewardUnits,
  type StakingBooks,
  type StakingFunds,
  type TierBooks,
} from './staking-accrual.ts'
import { STAKING_POOL } from './supply.ts'

/** Bounds the encoding. */
const TIERS_MAX = 16

const TIER_RECORD = container('StakingTier', { staked: uint128, index: uint256 })

/** The books of staking; absent until the first stake. The reserve belongs to stakes that have not claimed it. */
export const STAKING = stateTable<void, StakingBooks>({
  name: 'staking',
  prefix: 0x30,
  codec: container('Staking', {
    updatedAt: uint32,
    reserved: uint128,
    owed: uint256,
    tiers: list(TIER_RECORD, TIERS_MAX),
  }),
  id: noKey,
  holdings: ({ reserved }) => [{ asset: NATIVE_ASSET, amount: reserved }],
})

const STAKE_RECORD = container('Stake', {
  tier: uint8,
  amount: uint128,
  startIndex: uint256,
  claimed: uint128,
  owed: uint128,
  stakedAt: uint32,
  unlocksAt: uint32,
})

/** A stake. Once unstaked, `amount` is 0 and `owed` is what can still be claimed. */
export type Stake = ValueOf<typeof STAKE_RECORD>

/** `stakeId` is the transaction that made the stake; `address` is its owner. */
export interface StakeName {
  readonly address: Address
  readonly stakeId: TxId
}

/** Stakes by owner, so that one key range lists an address's stakes. */
export const STAKES = stateTable<StakeName, Stake>({
  name: 'stakes',
  prefix: 0x31,
  codec: STAKE_RECORD,
  id: ({ address, stakeId }) => address + stakeId,
  holdings: (stake) => [{ asset: NATIVE_ASSET, amount: stake.amount }],
})

/** Books and pool at the start of block `height`. `rules` must be those in force since the last accrual. */
export function accruedFunds(view: StateView, rules: StakingRules, height: number): StakingFunds {
  const books = view.get(STAKING, undefined) ?? emptyBooks(height)
  const pool = view.get(STAKING_POOL, undefined)?.accrued ?? ZERO
  return accrueRewards({ books, pool }, rules, height)
}

/** Rounded down, so that the reserve covers all claims together. */
export function dueOf(stake: Stake, books: StakingBooks, rules: StakingRules): Amount {
  if (stake.amount === 0n) return stake.owed
  return subtractProven(earned(stake, tierOf(books, stake.tier).index, rules).whole, stake.claimed)
}

const stake: KindHandler<'stake'> = {
  spends: ({ payload }) => payload.amount,
  apply: ({ overlay, rules, height }, { txId, body: { sender, payload } }) => {
    const short = debit(overlay, sender, payload.amount)
    if (short !== null) return short
    const funds = accruedFunds(overlay, rules.staking, height)
    const { staked, index } = tierOf(funds.books, payload.tier)
    save(overlay, withTier(funds, payload.tier, { staked: add(staked, payload.amount), index }))
    overlay.put(
      STAKES,
      { address: sender, stakeId: txId },
      {
        tier: payload.tier,
        amount: payload.amount,
        startIndex: index,
        claimed: ZERO,
        owed: ZERO,
        stakedAt: height,
        unlocksAt: height + lockOf(rules, payload.tier),
      },
    )
    return null
  },
}

/** Gives the coins back. Whole base units of unclaimed reward stay owed; the fraction returns to the pool. */
const unstake: KindHandler<'unstake'> = {
  spends: () => ZERO,
  apply: ({ overlay, rules, height, reportAmounts }, { body: { sender, payload } }) => {
    const name = { address: sender, stakeId: payload.stakeId }
    const held = overlay.get(STAKES, name)
    if (held === undefined || held.amount === 0n) return unknownStake(name)
    if (height < held.unlocksAt) return fault('stake/locked', { unlocksAt: held.unlocksAt })
    const funds = accruedFunds(overlay, rules.staking, height)
    const { staked, index } = tierOf(funds.books, held.tier)
    const { rest } = earned(held, index, rules.staking)
    const left = withTier(funds, held.tier, { staked: subtractProven(staked, held.amount), index })
    save(overlay, owing(left, left.books.owed - rest, rules.staking))
    const owed = dueOf(held, funds.books, rules.staking)
    if (owed === 0n) overlay.delete(STAKES, name)
    else overlay.put(STAKES, name, { ...held, amount: ZERO, owed })
    pay(overlay, sender, held.amount)
    reportAmounts([held.amount])
    return null
  },
}

const claim: KindHandler<'claim'> = {
  spends: () => ZERO,
  apply: ({ overlay, rules, height, reportAmounts }, { body: { sender, payload } }) => {
    const name = { address: sender, stakeId: payload.stakeId }
    const held = overlay.get(STAKES, name)
    if (held === undefined) return unknownStake(name)
    const funds = accruedFunds(overlay, rules.staking, height)
    const due = dueOf(held, funds.books, rules.staking)
    if (due === 0n) return fault('stake/nothing-due')
    const { books } = funds
    const owed = books.owed - due * rewardUnits(rules.staking)
    save(overlay, { ...funds, books: { ...books, owed, reserved: subtractProven(books.reserved, due) } })
    if (held.amount === 0n) overlay.delete(STAKES, name)
    else overlay.put(STAKES, name, { ...held, claimed: add(held.claimed, due) })
    pay(overlay, sender, due)
    reportAmounts([due])
    return null
  },
}

function unknownStake({ stakeId }: StakeName): Fault {
  return fault('stake/unknown', { stakeId })
}

function pay(overlay: Overlay, sender: Address, value: Amount): void {
  assert(credit(overlay, sender, value), 'the account of a sender is gone')
}

function save(overlay: Overlay, { books, pool }: StakingFunds): void {
  overlay.put(STAKING, undefined, books)
  overlay.put(STAKING_POOL, undefined, { accrued: pool })
}

function tierOf({ tiers }: StakingBooks, tier: number): TierBooks {
  const books = tiers[tier]
  assert(books !== undefined, `there is no staking tier ${tier}`)
  return books
}

function withTier({ books, pool }: StakingFunds, tier: number, changed: TierBooks): StakingFunds {
  return { books: { ...books, tiers: books.tiers.map((one, i) => (i === tier ? changed : one)) }, pool }
}

function lockOf({ staking }: LedgerRules, tier: number): number {
  const rule = staking.tiers[tier]
  assert(rule !== undefined, `there is no staking tier ${tier}`)
  return rule.lockBlocks
}

/** At a rule step, accrues the blocks before it by their own rules. So no accrual ever spans two sets of rules. */
function* accrueBeforeStep({ endedRules, height, overlay }: BlockContext): Iterable<void> {
  if (endedRules === null || overlay.get(STAKING, undefined) === undefined) return
  save(overlay, accruedFunds(overlay, endedRules.staking, height))
  yield
}

/** The sums per tier must match the stakes, and the reserve must cover what is owed. */
function stakingInvariant(changes: readonly ValueChange[], { staking }: LedgerRules): string | null {
  const sums = Array.from({ length: TIERS_MAX }, () => 0n)
  const count = (tier: number, value: bigint): void => {
    sums[tier] = (sums[tier] ?? 0n) + value
  }
  for (const { table, before, after } of changes) {
    for (const [value, sign] of [[before, -1n] as const, [after, 1n] as const]) {
      if (value === undefined) continue
      if (table.name === STAKES.name) count((value as Stake).tier, sign * (value as Stake).amount)
      if (table.name !== STAKING.name) continue
      const { tiers, reserved, owed } = value as StakingBooks
      for (const [tier, { staked }] of tiers.entries()) count(tier, -sign * staked)
      if (sign === 1n && reserved * rewardUnits(staking) < owed) return 'stake-reserve'
    }
  }
  return sums.every((sum) => sum === 0n) ? null : 'stake-sum'
}

/** Stakes, their rewards, and the reserve that pays claims. */
export const stakingModule = {
  name: 'staking',
  tables: [anyTable(STAKING), anyTable(STAKES)],
  handlers: { stake, unstake, claim },
  beginBlock: accrueBeforeStep,
  invariant: stakingInvariant,
} satisfies LedgerModule
