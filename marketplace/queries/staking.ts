import type { ChainReader } from '../../consensus/chain/reader.ts'
import { STAKES } from '../../consensus/ledger/staking.ts'
import {
  pendingReward,
  type StakePosition,
  type StakingFacts,
  stakePosition,
  stakingFacts,
} from '../../consensus/ledger/staking-facts.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { Address, TxId } from '../../consensus/primitives/ids.ts'

/** Staking facts as the next block sees them. */
export function stakingNow(chain: ChainReader): StakingFacts {
  const height = chain.head.header.height + 1
  return stakingFacts(chain.database, chain.ruleBook.at(height), height)
}

/** A stake with the reward that a claim in the next block would pay. */
export interface StakeFacts extends StakePosition {
  readonly pending: Amount
  /** Whether it can be withdrawn in the next block; also true if it already was. */
  readonly unlocked: boolean
}

/** Ordered by id; `after` is the last stake of the page before. */
export async function stakesOf(
  chain: ChainReader,
  address: Address,
  { limit, after }: { readonly limit: number; readonly after?: TxId | undefined },
): Promise<readonly StakeFacts[]> {
  const { database, ruleBook, head } = chain
  const height = head.header.height + 1
  const rules = ruleBook.at(height)
  const behind = after === undefined ? undefined : STAKES.key({ address, stakeId: after })
  const stakes: StakeFacts[] = []
  for await (const { key, value } of database.stateRange(STAKES, address, limit, behind)) {
    const pending = pendingReward(database, rules, height, value)
    stakes.push({ ...stakePosition(key, value), pending, unlocked: height >= value.unlocksAt })
  }
  return stakes
}
