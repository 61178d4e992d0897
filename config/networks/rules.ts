import { targetOfWork } from '../../consensus/block/pow.ts'
import type { BlockRules } from '../../consensus/block/rules.ts'
import type { Rules } from '../../consensus/chain/params.ts'
import type { CoinRules, MarketRules } from '../../consensus/ledger/rules.ts'
import type { TxRules } from '../../consensus/tx/rules.ts'

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
  },
  invokeAmountMin: 100_000n,
  invokeTerms: [100, 400, 1_200, 9_600],
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
  supplyCap: 100_000_000n * COIN,
  subsidyDivisor: 2n ** 23n,
  stakingShareBps: 1_000n,
  rewardMaturity: 100,
}

const MARKET: MarketRules = {
  epochBlocks: 20,
  nativeUsdMicros: 250_000n,
  deliveredBurnDivisor: 100n,
}

/** Rules that all networks begin with; a network changes what it must. */
export const LAUNCH_RULES: Rules = { tx: TX, block: BLOCK, coin: COINS, market: MARKET }
