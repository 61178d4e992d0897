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

/** What staking comes to for a transaction in the next block. */
export function stakingNow(chain: ChainReader): StakingFacts {
  const height = chain.head.header.height + 1
  return stakingFacts(chain.database, chain.ruleBook.at(height), height)
}

/** A stake with what a claim in the next block would pay. */
export interface StakeFacts extends StakePosition {
  readonly pending: Amount
  /** Whether it can be taken back in the next block; one that has been is not locked either. */
  readonly unlocked: boolean
}

/** Stakes of an address in the order of their ids; `after` is the last one read before. */
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
