import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import type { StakingRules } from '../../../../consensus/ledger/rules.ts'
import { STAKES, type Stake } from '../../../../consensus/ledger/staking.ts'
import {
  pendingReward,
  rewardEstimate,
  stakePosition,
  stakingFacts,
} from '../../../../consensus/ledger/staking-facts.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import { FUNDS } from '../../../support/ledger.ts'
import { StakingRun, stakingRuleBook } from '../../../support/staking.ts'
import { filled, units } from '../../../support/unsigned.ts'

const COIN = 100_000_000n
const STAKING_RULES: StakingRules = {
  tiers: [
    { lockBlocks: 0, yearlyBps: 100n },
    { lockBlocks: 10, yearlyBps: 400n },
  ],
  blocksPerYear: 100n,
}
const RICH = stakingRuleBook({ staking: STAKING_RULES, funds: FUNDS })
/** Each of the first blocks adds 1,000 base units to the pool. */
const POOR = stakingRuleBook({
  ...{ staking: STAKING_RULES, funds: FUNDS },
  coin: { supplyCap: 4n * FUNDS + 10n ** 12n, subsidyDivisor: 10n ** 9n, stakingShareBps: 10_000n },
})

function factsOf(run: StakingRun) {
  return stakingFacts(run.ledger.state, run.rules, run.ledger.height)
}

describe('the facts of staking', () => {
  it('before any account stakes: full rates, nothing staked, nothing owed, no end', () => {
    const run = new StakingRun(POOR)
    run.advanceTo(4)
    expect(factsOf(run)).toEqual({
      tiers: [
        { lockBlocks: 0, yearlyBps: 100n, staked: 0n, effectiveYearlyPpm: 10_000n },
        { lockBlocks: 10, yearlyBps: 400n, staked: 0n, effectiveYearlyPpm: 40_000n },
      ],
      ...{ totalStaked: 0n, accrued: 2_998n, reserved: 0n, inflowPerBlock: 999n, demandPerBlock: 0n },
      ...{ paysFullRates: true, fullRateBlocks: null },
    })
  })

  it('count up to the block asked for, without writing', () => {
    const run = new StakingRun(RICH)
    run.block([
      { kind: 'stake', who: 0, tier: 0, amount: 10n * COIN },
      { kind: 'stake', who: 1, tier: 1, amount: 5n * COIN },
    ])
    run.advanceTo(11)
    const [{ pool }, facts] = [run, factsOf(run)]
    // Per block, rewards are 1 % of 10 coins and 4 % of 5 coins, divided by 100 blocks a year.
    expect(facts).toMatchObject({ totalStaked: 15n * COIN, demandPerBlock: 300_000n, reserved: 3_000_000n })
    expect(facts.accrued).toBe(pool - 3_000_000n)
    expect(facts.tiers.map(({ staked }) => staked)).toEqual([10n * COIN, 5n * COIN])
    expect(facts).toMatchObject({ paysFullRates: true, fullRateBlocks: facts.accrued / 300_000n })
    expect(run.books?.updatedAt).toBe(1)
  })

  it('foretell for how many blocks the pool alone pays the full rates: exactly so many, if nothing flows in', () => {
    const steps = [{ fromHeight: 6, coin: { stakingShareBps: 0n } }]
    const run = new StakingRun(stakingRuleBook({ staking: STAKING_RULES, funds: FUNDS, steps }))
    run.advanceTo(5)
    run.act({ kind: 'stake', who: 0, tier: 1, amount: 1_000n * COIN })
    const { fullRateBlocks, demandPerBlock, inflowPerBlock } = factsOf(run)
    expect([demandPerBlock, inflowPerBlock > 0n]).toEqual([40_000_000n, true])
    const lasts = Number(fullRateBlocks)
    expect(lasts).toBeGreaterThan(5)
    run.advanceTo(6 + lasts)
    expect(factsOf(run)).toMatchObject({ fullRateBlocks: 0n, paysFullRates: false, inflowPerBlock: 0n })
    // The block of the stake itself was already paid when the facts were read.
    const full = BigInt(lasts + 1) * demandPerBlock
    expect(pendingReward(run.ledger.state, run.rules, run.ledger.height - 1, run.record(0) as Stake)).toBe(
      full - 40_000_000n,
    )
    expect(pendingReward(run.ledger.state, run.rules, run.ledger.height, run.record(0) as Stake)).toBe(full)
    expect(pendingReward(run.ledger.state, run.rules, 10_000, run.record(0) as Stake)).toBeLessThan(full + 40_000_000n)
  })

  it('say what a short pool comes to: the part of the rate that flows in', () => {
    const run = new StakingRun(POOR)
    run.act({ kind: 'stake', who: 0, tier: 1, amount: COIN })
    run.advanceTo(20)
    const facts = factsOf(run)
    // 4 % of a coin in 100 blocks are 40,000 base units a block. The inflow of 999 is a 40th of that.
    expect(facts).toMatchObject({ accrued: 0n, demandPerBlock: 40_000n, inflowPerBlock: 999n, paysFullRates: false })
    expect(facts.fullRateBlocks).toBe(0n)
    expect(facts.tiers.map(({ effectiveYearlyPpm }) => effectiveYearlyPpm)).toEqual([249n, 999n])
  })

  it.each([
    [9_990_000n, 999n, true],
    [9_990_001n, 1_000n, false],
  ])('call an empty pool one that pays if what flows in is just enough: %d staked', (amount, demandPerBlock, pays) => {
    const run = new StakingRun(POOR)
    // The first stake earns exactly what the first block added.
    run.act({ kind: 'stake', who: 0, tier: 0, amount: 10_000_000n })
    run.block([
      { kind: 'unstake', stake: 0 },
      { kind: 'stake', who: 1, tier: 0, amount },
    ])
    expect(factsOf(run)).toMatchObject({ accrued: 0n, inflowPerBlock: 999n, demandPerBlock, paysFullRates: pays })
  })
})

describe('a pending reward', () => {
  it('is what the claim pays in that block, before and after unstaking', () => {
    const run = new StakingRun(RICH)
    run.act({ kind: 'stake', who: 0, tier: 0, amount: 777_777_777n })
    for (const height of [9, 23, 24]) {
      run.advanceTo(height)
      const expected = pendingReward(run.ledger.state, run.rules, height, run.record(0) as Stake)
      expect(expected).toBeGreaterThan(0n)
      expect(run.act({ kind: 'claim', stake: 0 }).paid).toBe(expected)
    }
    run.advanceTo(30)
    run.act({ kind: 'unstake', stake: 0 })
    const left = pendingReward(run.ledger.state, run.rules, 31, run.record(0) as Stake)
    run.advanceTo(33)
    expect(run.act({ kind: 'claim', stake: 0 }).paid).toBe(left)
  })

  it('in the first block of a rule step is by the rules before it', () => {
    const tiers = STAKING_RULES.tiers.map((tier) => ({ ...tier, yearlyBps: tier.yearlyBps * 7n }))
    const steps = [{ fromHeight: 10, staking: { ...STAKING_RULES, tiers } }]
    const run = new StakingRun(stakingRuleBook({ staking: STAKING_RULES, funds: FUNDS, steps }))
    run.act({ kind: 'stake', who: 0, tier: 0, amount: COIN })
    run.advanceTo(10)
    const expected = pendingReward(run.ledger.state, run.rules, 10, run.record(0) as Stake)
    expect(expected).toBe(90_000n)
    expect(run.act({ kind: 'claim', stake: 0 }).paid).toBe(expected)
  })
})

describe('a position', () => {
  it('is a stake with the owner and the id that its key spells', () => {
    const name = { address: filled<Address>(0xa1), stakeId: filled<TxId>(0xb2) }
    const stake = {
      tier: 2,
      amount: units(5),
      startIndex: 0n,
      claimed: units(0),
      owed: units(0),
      stakedAt: 1,
      unlocksAt: 2,
    }
    expect(stakePosition(STAKES.key(name), stake)).toEqual({ ...name, stake })
  })
})

describe('an estimate', () => {
  it('is the rates of consensus, for every tier, rounded down', () => {
    expect(rewardEstimate(LAUNCH_RULES, 1_000n * COIN)).toEqual(
      [
        [7, 100n, 2_739_726n, 83_333_333n, 1_000_000_000n],
        [30, 300n, 8_219_178n, 250_000_000n, 3_000_000_000n],
        [90, 500n, 13_698_630n, 416_666_666n, 5_000_000_000n],
        [365, 800n, 21_917_808n, 666_666_666n, 8_000_000_000n],
      ].map(([days, yearlyBps, daily, monthly, yearly], tier) => ({
        ...{ tier, lockBlocks: Number(days) * 28_800, yearlyBps, daily, monthly, yearly },
      })),
    )
  })

  it('is what a year of blocks pays', () => {
    const run = new StakingRun(RICH)
    run.act({ kind: 'stake', who: 0, tier: 1, amount: 12_345_678n })
    run.advanceTo(101)
    const [, tier] = rewardEstimate(run.rules, 12_345_678n)
    expect(run.act({ kind: 'claim', stake: 0 }).paid).toBe(tier?.yearly)
  })
})
