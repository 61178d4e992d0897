import { type Amount, amount, mulDivDown, subtractProven } from '../primitives/amount.ts'
import { container, hex32, uint128, type ValueOf } from '../primitives/codec.ts'
import type { Address } from '../primitives/ids.ts'
import { anyTable, heightKey, NATIVE_ASSET, stateTable } from '../state/table.ts'
import { creditOrOpen } from './account.ts'
import type { BlockContext, LedgerModule } from './module.ts'
import type { CoinRules } from './rules.ts'
import { accrueStaking, burnNative, mintNative, nativeSupply, type Supply } from './supply.ts'

const REWARD_RECORD = container('Reward', { miner: hex32<Address>(), amount: uint128 })

/** Miners' rewards that have not matured, by block height. */
export const REWARDS = stateTable<number, ValueOf<typeof REWARD_RECORD>>({
  name: 'rewards',
  prefix: 0x04,
  codec: REWARD_RECORD,
  id: heightKey,
  holdings: (reward) => [{ asset: NATIVE_ASSET, amount: reward.amount }],
})

const BPS = 10_000n

function* matureReward({ rules, height, overlay, emit }: BlockContext): Iterable<void> {
  const mined = height - rules.coin.rewardMaturity
  const reward = mined < 1 ? undefined : overlay.get(REWARDS, mined)
  if (reward === undefined) return
  creditOrOpen(overlay, reward.miner, reward.amount)
  overlay.delete(REWARDS, mined)
  emit({ type: 'reward', height: mined, miner: reward.miner, amount: reward.amount })
  yield
}

/** `miner` gets the tips. */
export interface BlockFees {
  readonly miner: Address
  readonly burned: Amount
  readonly tips: Amount
}

/** Subsidy: (cap - minted) / divisor. Both amounts are rounded down. */
export function blockSubsidy(
  { cap, minted }: Supply,
  { subsidyDivisor, stakingShareBps }: CoinRules,
): { readonly subsidy: Amount; readonly stakingShare: Amount } {
  const subsidy = amount(mulDivDown(cap - minted, 1n, subsidyDivisor))
  return { subsidy, stakingShare: amount(mulDivDown(subsidy, stakingShareBps, BPS)) }
}

/**
 * Burns base fees and mints the subsidy. The tips and the subsidy without the stakers' share are kept for the miner
 * until they mature.
 */
export function closeBlock({ rules, height, overlay, emit }: BlockContext, { miner, burned, tips }: BlockFees): void {
  const { subsidy, stakingShare } = blockSubsidy(nativeSupply(overlay), rules.coin)
  const reward = amount(subtractProven(subsidy, stakingShare) + tips)
  burnNative(overlay, burned)
  mintNative(overlay, subsidy)
  accrueStaking(overlay, stakingShare)
  overlay.put(REWARDS, height, { miner, amount: reward })
  emit({ type: 'close', burned, subsidy, stakingShare, miner, reward })
}

/** Rewards of miners. */
export const rewardModule = {
  name: 'rewards',
  tables: [anyTable(REWARDS)],
  handlers: {},
  beginBlock: matureReward,
} satisfies LedgerModule
