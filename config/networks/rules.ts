import { targetOfWork } from '../../consensus/block/pow.ts'
import type { BlockRules } from '../../consensus/block/rules.ts'
import type { Rules } from '../../consensus/chain/params.ts'
import type { BridgeRules, CoinRules, MarketRules, StakingRules, TokenRules } from '../../consensus/ledger/rules.ts'
import type { TokenSymbol } from '../../consensus/primitives/ids.ts'
import type { TabRules, TxRules } from '../../consensus/tx/rules.ts'
import { BRIDGE_NETWORKS } from './bridge.ts'

/** Base units of one native coin. */
export const COIN = 100_000_000n

const TX: TxRules = {
  chainId: 1,
  weight: {
    perSignature: 400,
    perStateWrite: 200,
    createAccount: 2_000,
    registerAgent: 20_000,
    publishService: 2_000,
    invokeRefund: 800,
    createMarket: 20_000,
    bridgeRecord: 2_000,
    bridgeRotation: 2_400,
  },
  invokeAmountMin: 100_000n,
  invokeTerms: [100, 400, 1_200, 9_600],
  poolFeesBps: [5, 30, 100],
  stakeTiers: 4,
  stakeAmountMin: COIN,
  bridgeFormats: BRIDGE_NETWORKS.map(({ format }) => format),
}

const BLOCK: BlockRules = {
  bytesMax: 1_048_576,
  weightMax: 2_000_000,
  writesMax: 4_000,
  baseFeeMin: 32n,
  baseFeeChangeDivisor: 32n,
  spacingMs: 3_000,
  halfLifeMs: 300_000,
  powLimit: targetOfWork(2n ** 14n),
  initialTarget: targetOfWork(2n ** 14n),
  anchorResetGapMs: null,
  futureMsMax: 15_000,
  pow: { memoryKiB: 256, passes: 1, lanes: 1 },
}

const COINS: CoinRules = {
  symbol: 'FAR' as TokenSymbol,
  supplyCap: 100_000_000n * COIN,
  subsidyDivisor: 2n ** 23n,
  stakingShareBps: 1_000n,
  rewardMaturity: 100,
}

const MARKET: MarketRules = {
  epochBlocks: 20,
  pricedPool: { dollar: 'FUSD' as TokenSymbol, feeBps: 30 },
  priceEpochsKept: 600,
  deliveredBurnDivisor: 100n,
}

/** Blocks per day at the target spacing. */
const DAY_BLOCKS = 28_800

const TOKENS: TokenRules = { createBurn: 10n * COIN }

const STAKING: StakingRules = {
  tiers: [
    { lockBlocks: 7 * DAY_BLOCKS, yearlyBps: 100n },
    { lockBlocks: 30 * DAY_BLOCKS, yearlyBps: 300n },
    { lockBlocks: 90 * DAY_BLOCKS, yearlyBps: 500n },
    { lockBlocks: 365 * DAY_BLOCKS, yearlyBps: 800n },
  ],
  blocksPerYear: 365n * BigInt(DAY_BLOCKS),
}

const BRIDGE: BridgeRules = { networks: BRIDGE_NETWORKS, dayBlocks: DAY_BLOCKS, rotationDelay: DAY_BLOCKS }

/** Tabs, for the step of a network that brings them: terms of 1 hour to 30 days, delays of 20 minutes to a day. */
export const TAB_RULES: TabRules = {
  depositMin: 1_000_000n,
  terms: [1_200, DAY_BLOCKS, 7 * DAY_BLOCKS, 30 * DAY_BLOCKS],
  closeDelays: [400, 1_200, DAY_BLOCKS],
  callBurn: 20_000n,
  burnDivisor: 100n,
  countedAmount: TX.invokeAmountMin,
  perVoucher: 200,
  openReturn: 1_600,
  closeMove: 800,
}

/** Rules that every network starts with; each network overrides what it must. */
export const LAUNCH_RULES: Rules = {
  tx: TX,
  block: BLOCK,
  coin: COINS,
  market: MARKET,
  token: TOKENS,
  staking: STAKING,
  bridge: BRIDGE,
}
