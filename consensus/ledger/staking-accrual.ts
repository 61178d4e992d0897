import { type Amount, amount, mulDivDown, mulDivUp, SUPPLY_BOUND, subtractProven, ZERO } from '../primitives/amount.ts'
import { assert } from '../primitives/assert.ts'
import type { StakingRules } from './rules.ts'

const BPS = 10_000n

/**
 * Parts of a block in which rewards are counted. A pool that cannot pay for all blocks pays for as many parts as it
 * can, so it keeps less than the reward of one part.
 */
export const BLOCK_PARTS = 1n << 64n

/** Sums over all stakes of a tier. */
export interface TierBooks {
  readonly staked: Amount
  /** Sum of the tier's yearly basis points over all paid parts of blocks: reward units per base unit staked. */
  readonly index: bigint
}

/** What staking owes. `owed` is in reward units ({@link rewardUnits}); `reserved` is the coins that cover it. */
export interface StakingBooks {
  readonly updatedAt: number
  readonly reserved: Amount
  readonly owed: bigint
  readonly tiers: readonly TierBooks[]
}

/** The books, and the pool that pays rewards. */
export interface StakingFunds {
  readonly books: StakingBooks
  readonly pool: Amount
}

/**
 * Reward units in one base unit. A stake of one base unit at one basis point a year earns one reward unit in one part
 * of a block. All rewards are whole reward units, so nothing is rounded before a claim.
 */
export function rewardUnits({ blocksPerYear }: StakingRules): bigint {
  return BPS * blocksPerYear * BLOCK_PARTS
}

/** Books before the first stake. */
export function emptyBooks(height: number): StakingBooks {
  return { updatedAt: height, reserved: ZERO, owed: 0n, tiers: [] }
}

/** What all stakes earn in one part of a block at full rates, in reward units. */
export function demandPerPart({ tiers }: StakingBooks, rules: StakingRules): bigint {
  return tiers.reduce((sum, { staked }, i) => sum + staked * yearlyBpsOf(rules, i), 0n)
}

/** Reward units not owed to any stake. */
export function freeUnits({ books, pool }: StakingFunds, rules: StakingRules): bigint {
  return (pool + books.reserved) * rewardUnits(rules) - books.owed
}

/** All parts of `blocks` blocks, or as many whole parts as `free` units can pay. */
export function paidParts(free: bigint, demand: bigint, blocks: bigint): bigint {
  const parts = blocks * BLOCK_PARTS
  return demand * parts <= free ? parts : mulDivDown(free, 1n, demand)
}

/**
 * Grants the rewards since the last accrual, up to the start of block `height`. All tiers are paid for the same parts
 * of blocks, so a short pool is shared in proportion to the full rewards. Unpaid parts are never paid later.
 */
export function accrueRewards({ books, pool }: StakingFunds, rules: StakingRules, height: number): StakingFunds {
  assert(height >= books.updatedAt, 'rewards accrue forward')
  assert(books.tiers.length <= rules.tiers.length, 'a staking tier is gone')
  const known = { ...books, tiers: rules.tiers.map((_, i) => books.tiers[i] ?? { staked: ZERO, index: 0n }) }
  const demand = demandPerPart(known, rules)
  const parts = paidParts(freeUnits({ books, pool }, rules), demand, BigInt(height - books.updatedAt))
  const tiers = known.tiers.map(({ staked, index }, i) => ({ staked, index: index + yearlyBpsOf(rules, i) * parts }))
  return owing({ books: { ...known, updatedAt: height, tiers }, pool }, books.owed + demand * parts, rules)
}

/** Coins move between pool and reserve, so that the reserve just covers what is owed. */
export function owing({ books, pool }: StakingFunds, owed: bigint, rules: StakingRules): StakingFunds {
  const reserved = amount(mulDivUp(owed, 1n, rewardUnits(rules)))
  return { books: { ...books, owed, reserved }, pool: subtractProven(amount(pool + books.reserved), reserved) }
}

/** The fields of a stake that its reward depends on. */
export interface EarningStake {
  readonly amount: Amount
  readonly startIndex: bigint
}

/** What a stake has earned up to its tier's index: whole base units, and the reward units beyond them. */
export function earned(
  { amount: staked, startIndex }: EarningStake,
  index: bigint,
  rules: StakingRules,
): { readonly whole: Amount; readonly rest: bigint } {
  const units = rewardUnits(rules)
  const whole = mulDivDown(staked, index - startIndex, units)
  return { whole: amount(whole), rest: staked * (index - startIndex) - whole * units }
}

/** Each reward is rounded down. */
export function rewardAtRate(
  staked: bigint,
  yearlyBps: bigint,
): { readonly daily: Amount; readonly monthly: Amount; readonly yearly: Amount } {
  assert(staked < SUPPLY_BOUND, 'no stake is larger than any supply')
  const per = (timesAYear: bigint): Amount => amount(mulDivDown(staked, yearlyBps, BPS * timesAYear))
  return { daily: per(365n), monthly: per(12n), yearly: per(1n) }
}

function yearlyBpsOf({ tiers }: StakingRules, tier: number): bigint {
  const rule = tiers[tier]
  assert(rule !== undefined, `there is no staking tier ${tier}`)
  return rule.yearlyBps
}
