import { nativeSupply } from '../../consensus/ledger/supply.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { recordedAsset } from '../../marketplace/queries/assets.ts'
import { stakingNow } from '../../marketplace/queries/staking.ts'
import { amountJson, percentText, sharePct } from '../json/asset-json.ts'
import type { Handler } from '../server/answer.ts'
import { answerAtHead } from '../server/at-head.ts'

const PPM_PER_BPS = 100n

/** Tiers and funds of staking. */
export const getStaking: Handler<'getStaking'> = ({ chain }) =>
  answerAtHead(chain, () => {
    const facts = stakingNow(chain)
    const coin = recordedAsset(chain, NATIVE_ASSET)
    const { minted, burned } = nativeSupply(chain.database)
    return {
      tiers: facts.tiers.map(({ lockBlocks, yearlyBps, staked, effectiveYearlyPpm }, tier) => ({
        tier,
        lockBlocks,
        yearlyPct: percentText(yearlyBps * PPM_PER_BPS),
        effectiveYearlyPct: percentText(effectiveYearlyPpm),
        staked: amountJson(coin, staked),
      })),
      totalStaked: amountJson(coin, facts.totalStaked),
      pool: amountJson(coin, facts.accrued),
      reserved: amountJson(coin, facts.reserved),
      inflowPerBlock: amountJson(coin, facts.inflowPerBlock),
      demandPerBlock: amountJson(coin, facts.demandPerBlock),
      paysFullRates: facts.paysFullRates,
      fullRateBlocks: facts.fullRateBlocks?.toString() ?? null,
      stakedPct: sharePct(facts.totalStaked, minted - burned),
    }
  })
