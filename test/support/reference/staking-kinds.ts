import { ceilOf, floorOf, sum } from './arithmetic.ts'
import { type Ledger, NATIVE } from './ledger.ts'
import type { STAKE_RECORD, STAKING } from './money-schemas.ts'
import { need } from './outcome.ts'
import type { ReferenceRules } from './params.ts'
import type { Fields } from './payloads.ts'
import type { Place } from './place.ts'
import type { Value } from './ssz.ts'

type Staking = Value<typeof STAKING>
export type Tier = Staking['tiers'][number]
type Stake = Value<typeof STAKE_RECORD>

type Accruing = Pick<Place, 'ledger' | 'rules' | 'height'>

/** Rewards are counted in parts of a block. A block has this many parts. */
const PARTS = 2n ** 64n

export const rewardUnits = ({ staking }: ReferenceRules): bigint => 10_000n * staking.blocksPerYear * PARTS

/** Sets the reserve to `owed`, rounded up to base units. The staking pool gives or takes the difference. */
function cover({ ledger, rules }: Accruing, staking: Staking): Staking {
  const reserved = ceilOf(staking.owed, rewardUnits(rules))
  const accrued = ledger.stakingPool.get('')?.accrued ?? 0n
  if (reserved !== staking.reserved) ledger.stakingPool.set('', { accrued: accrued + staking.reserved - reserved })
  const covered = { ...staking, reserved }
  ledger.staking.set('', covered)
  return covered
}

/** Grants the rewards since the last accrual. Returns the staking record as of this block. */
export function accrue(place: Accruing): Staking {
  const { ledger, rules, height } = place
  const before = ledger.staking.get('') ?? { updatedAt: height, reserved: 0n, owed: 0n, tiers: [] }
  const rates = rules.staking.tiers.map(({ yearlyBps }) => yearlyBps)
  const tiers = rates.map((_, i) => before.tiers[i] ?? { staked: 0n, index: 0n })
  const demanded = sum(tiers.map(({ staked }, i) => staked * (rates[i] as bigint)))
  const accrued = ledger.stakingPool.get('')?.accrued ?? 0n
  const free = (accrued + before.reserved) * rewardUnits(rules) - before.owed
  const wanted = BigInt(height - before.updatedAt) * PARTS
  const parts = demanded * wanted <= free ? wanted : floorOf(free, demanded)
  return cover(place, {
    ...before,
    updatedAt: height,
    owed: before.owed + demanded * parts,
    tiers: tiers.map(({ staked, index }, i) => ({ staked, index: index + (rates[i] as bigint) * parts })),
  })
}

/** Reward units that a stake has earned, claimed or not. */
export const earned = ({ amount, startIndex }: Stake, { index }: Tier): bigint => amount * (index - startIndex)

/** Amount that a stake may claim, in base units. */
export function due(stake: Stake, tier: Tier, rules: ReferenceRules): bigint {
  return stake.amount === 0n ? stake.owed : floorOf(earned(stake, tier), rewardUnits(rules)) - stake.claimed
}

/** Changes the amount staked in a tier. */
function moveStaked(ledger: Ledger, number: number, amount: bigint): void {
  const staking = ledger.staking.of('')
  const tiers = staking.tiers.map((tier, i) => (i === number ? { ...tier, staked: tier.staked + amount } : tier))
  ledger.staking.set('', { ...staking, tiers })
}

const tierOf = ({ tiers }: Staking, number: number): Tier => tiers[number] as Tier

export function stake(place: Place, { tier, amount }: Fields<'stake'>): void {
  const { ledger, sender, height, rules, txid } = place
  ledger.take(sender, NATIVE, amount)
  const { index } = tierOf(accrue(place), tier)
  moveStaked(ledger, tier, amount)
  const unlocksAt = height + (rules.staking.tiers[tier] as (typeof rules.staking.tiers)[number]).lockBlocks
  const record = { tier, amount, startIndex: index, claimed: 0n, owed: 0n, stakedAt: height, unlocksAt }
  ledger.stakes.set(sender + txid, record)
}

export function unstake(place: Place, { stakeId }: Fields<'unstake'>): bigint[] {
  const { ledger, sender, height, rules } = place
  const id = sender + stakeId
  const record = ledger.stakes.get(id)
  need(record !== undefined && record.amount > 0n, 'stakeUnknown')
  need(height >= record.unlocksAt, 'stakeLocked')
  const tier = tierOf(accrue(place), record.tier)
  moveStaked(ledger, record.tier, -record.amount)
  const staking = ledger.staking.of('')
  cover(place, { ...staking, owed: staking.owed - (earned(record, tier) % rewardUnits(rules)) })
  ledger.give(sender, NATIVE, record.amount)
  const owed = due(record, tier, rules)
  if (owed === 0n) ledger.stakes.delete(id)
  else ledger.stakes.set(id, { ...record, amount: 0n, owed })
  return [record.amount]
}

export function claim(place: Place, { stakeId }: Fields<'claim'>): bigint[] {
  const { ledger, sender, rules } = place
  const id = sender + stakeId
  const record = ledger.stakes.get(id)
  need(record !== undefined, 'stakeUnknown')
  const staking = accrue(place)
  const amount = due(record, tierOf(staking, record.tier), rules)
  need(amount > 0n, 'nothingDue')
  const owed = staking.owed - amount * rewardUnits(rules)
  ledger.staking.set('', { ...staking, reserved: staking.reserved - amount, owed })
  ledger.give(sender, NATIVE, amount)
  if (record.amount === 0n) ledger.stakes.delete(id)
  else ledger.stakes.set(id, { ...record, claimed: record.claimed + amount })
  return [amount]
}
