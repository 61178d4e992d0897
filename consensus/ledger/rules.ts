/** What the rules in force at a height say about the native coin. */
export interface CoinRules {
  /** Most base units that can ever be minted. */
  readonly supplyCap: bigint
  /** Subsidy of a block = (cap - minted) / divisor, rounded down: smooth decay, never above the cap. */
  readonly subsidyDivisor: bigint
  /** Share of the subsidy that accrues to the staking reward pool, in basis points. */
  readonly stakingShareBps: bigint
  /** Blocks until subsidy and tips reach the miner's balance. */
  readonly rewardMaturity: number
}

/** What the rules in force at a height say about the market's ledger. */
export interface MarketRules {
  /** Blocks of one price epoch. */
  readonly epochBlocks: number
  /** Price of one native coin in millionths of a dollar, for as long as no pool prices it. */
  readonly nativeUsdMicros: bigint
  /** A delivered escrow burns ceil(amount / divisor). */
  readonly deliveredBurnDivisor: bigint
}
