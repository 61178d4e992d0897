import { type Amount, amount, mulDivDown, mulDivUp } from '../primitives/amount.ts'
import type { Address, TxId } from '../primitives/ids.ts'
import type { StateKey } from '../state/table.ts'
import type { StateView } from '../state/view.ts'
import type { LedgerRules } from './module.ts'
import { blockSubsidy } from './rewards.ts'
import { accruedFunds, dueOf, type Stake, type StakeName } from './staking.ts'
import { BLOCK_PARTS, demandPerPart, freeUnits, rewardAtRate, rewardUnits } from './staking-accrual.ts'
import { nativeSupply } from './supply.ts'

const PPM_PER_BPS = 100n

/** The state of one tier. */
export interface TierFacts {
  readonly lockBlocks: number
  /** Yearly reward in basis points, if the pool can pay it. */
  readonly yearlyBps: bigint
  readonly staked: Amount
  /** Yearly reward in parts per million at what the pool can pay for the next block, rounded down. */
  readonly effectiveYearlyPpm: bigint
}

/** The staking ledger at the start of a block, accrued up to it. */
export interface StakingFacts {
  readonly tiers: readonly TierFacts[]
  readonly totalStaked: Amount
  readonly accrued: Amount
  /** What is already owed, rounded up. */
  readonly reserved: Amount
  /** What the next block adds to the pool. */
  readonly inflowPerBlock: Amount
  /** What the present stakes earn in one block at full rates, rounded up. */
  readonly demandPerBlock: Amount
  readonly paysFullRates: boolean
  /** Blocks for which the pool pays full rates without any inflow: a lower bound. Null if no stake earns. */
  readonly fullRateBlocks: bigint | null
}

/** For the start of block `height`, from the state before it and the rules at that height. */
export function stakingFacts(
  view: StateView,
  { staking, coin }: Pick<LedgerRules, 'staking' | 'coin'>,
  height: number,
): StakingFacts {
  const funds = accruedFunds(view, staking, height)
  const { books, pool } = funds
  const [free, demand, units] = [freeUnits(funds, staking), demandPerPart(books, staking), rewardUnits(staking)]
  const { stakingShare } = blockSubsidy(nativeSupply(view), coin)
  const [budget, needed] = [free + stakingShare * units, demand * BLOCK_PARTS]
  const paysFullRates = needed <= budget
  return {
    tiers: staking.tiers.map(({ lockBlocks, yearlyBps }, i) => ({
      lockBlocks,
      yearlyBps,
      staked: (books.tiers[i] as { readonly staked: Amount }).staked,
      effectiveYearlyPpm: paysFullRates ? yearlyBps * PPM_PER_BPS : mulDivDown(yearlyBps * PPM_PER_BPS, budget, needed),
    })),
    totalStaked: amount(books.tiers.reduce((sum, { staked }) => sum + staked, 0n)),
    accrued: pool,
    reserved: books.reserved,
    inflowPerBlock: stakingShare,
    demandPerBlock: amount(mulDivUp(demand, BLOCK_PARTS, units)),
    paysFullRates,
    fullRateBlocks: demand === 0n ? null : mulDivDown(free, 1n, needed),
  }
}

/**
 * What a claim mined in block `height` would pay. If that is further ahead than the next block, the inflow of the
 * blocks between is left out.
 */
export function pendingReward(
  view: StateView,
  { staking }: Pick<LedgerRules, 'staking'>,
  height: number,
  stake: Stake,
): Amount {
  return dueOf(stake, accruedFunds(view, staking, height).books, staking)
}

/** A stake and its name. */
export interface StakePosition extends StakeName {
  readonly stake: Stake
}

const ID_CHARS = 64

/** The name is read from the key: table prefix, owner, transaction. */
export function stakePosition(key: StateKey, stake: Stake): StakePosition {
  const id = key.slice(2)
  return { address: id.slice(0, ID_CHARS) as Address, stakeId: id.slice(ID_CHARS) as TxId, stake }
}

/** What a tier would pay for an amount. */
export interface TierEstimate {
  readonly tier: number
  readonly lockBlocks: number
  readonly yearlyBps: bigint
  readonly daily: Amount
  readonly monthly: Amount
  readonly yearly: Amount
}

/**
 * What each tier pays at its full rate for an amount below 2^112: base units in a year, a twelfth and a 365th of it,
 * each rounded down, without compounding.
 */
export function rewardEstimate({ staking }: Pick<LedgerRules, 'staking'>, staked: bigint): readonly TierEstimate[] {
  return staking.tiers.map(({ lockBlocks, yearlyBps }, tier) => ({
    tier,
    lockBlocks,
    yearlyBps,
    ...rewardAtRate(staked, yearlyBps),
  }))
}
