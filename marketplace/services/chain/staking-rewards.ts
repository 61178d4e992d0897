import { Type } from 'typebox'
import { rewardEstimate } from '../../../consensus/ledger/staking-facts.ts'
import { nativeSupply } from '../../../consensus/ledger/supply.ts'
import { parseAmount } from '../../../consensus/primitives/amount.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { stakingNow } from '../../queries/staking.ts'
import { orNull, PERCENT, percent, SYMBOL } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { CHAIN_ENVELOPE, COIN_AMOUNT, chainEnvelope, coins, rounded } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-staking-rewards' as ServiceId
const FORMAT = { requestFormat: 'amount of native coins above 0, a decimal number up to the supply', example: '1000' }
const REQUEST_CHARS_MAX = 100
const DAY_MS = 86_400_000
const BPS = 10_000n
const PPM = 1_000_000n

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  symbol: SYMBOL,
  amount: COIN_AMOUNT,
  tiers: Type.Array(
    Type.Object({
      name: Type.String(),
      tier: Type.Integer(),
      lockBlocks: Type.Integer(),
      lockDays: Type.Number(),
      aprPct: PERCENT,
      payableAprPct: PERCENT,
      daily: COIN_AMOUNT,
      monthly: COIN_AMOUNT,
      yearly: COIN_AMOUNT,
      compounding: Type.Literal(false),
    }),
  ),
  pool: Type.Object({
    staked: COIN_AMOUNT,
    available: COIN_AMOUNT,
    reserved: COIN_AMOUNT,
    inflowPerBlock: COIN_AMOUNT,
    demandPerBlock: COIN_AMOUNT,
    paysFullRates: Type.Boolean(),
    fullRateBlocks: orNull(Type.String({ pattern: '^[0-9]+$' })),
  }),
  assumptions: Type.Array(Type.String()),
})

const ASSUMPTIONS = [
  'Rates are consensus constants: yearly basis points of each tier.',
  'monthly is a twelfth and daily a 365th of yearly, each rounded down; nothing is compounded.',
  'aprPct is paid while the staking pool can pay it; payableAprPct is what it can pay for the next block to the present stakes.',
  'The pool grows by inflowPerBlock. fullRateBlocks counts what is there already at the present stakes, this amount left out; null where nothing is staked.',
]

const DECIMAL = /^(0|[1-9][0-9]{0,29})(\.[0-9]{1,18})?$/

function parse(request: string): Result<string> {
  const text = request.trim()
  return DECIMAL.test(text) ? ok(text) : unusable('not a decimal number of coins', FORMAT)
}

function unitsOf({ chain: { ruleBook } }: ServiceContext, text: string): bigint {
  const units = parseAmount(text, ruleBook.params.decimals)
  return units.ok ? units.value : 0n
}

function check(text: string, context: ServiceContext): Fault | null {
  const { database, ruleBook } = context.chain
  if (!parseAmount(text, ruleBook.params.decimals).ok) return refusal('more decimals than the coin has', FORMAT)
  const { minted, burned } = nativeSupply(database)
  const units = unitsOf(context, text)
  if (units === 0n) return refusal('the amount must be above 0', FORMAT)
  return units > minted - burned
    ? refusal(`only ${coins(context, minted - burned)} ${ruleBook.params.ticker} exist`, FORMAT)
    : null
}

function rewards(context: ServiceContext, text: string) {
  const { chain } = context
  const rules = chain.ruleBook.at(chain.head.header.height + 1)
  const facts = stakingNow(chain)
  const { spacingMs } = rules.block
  return {
    symbol: chain.ruleBook.params.ticker,
    amount: coins(context, unitsOf(context, text)),
    tiers: rewardEstimate(rules, unitsOf(context, text)).map(
      ({ tier, lockBlocks, yearlyBps, daily, monthly, yearly }) => ({
        name: `${lockBlocks} blocks`,
        tier,
        lockBlocks,
        lockDays: rounded((lockBlocks * spacingMs) / DAY_MS, 4),
        aprPct: percent(yearlyBps, BPS),
        payableAprPct: percent(facts.tiers[tier]?.effectiveYearlyPpm ?? 0n, PPM),
        daily: coins(context, daily),
        monthly: coins(context, monthly),
        yearly: coins(context, yearly),
        compounding: false as const,
      }),
    ),
    pool: {
      staked: coins(context, facts.totalStaked),
      available: coins(context, facts.accrued),
      reserved: coins(context, facts.reserved),
      inflowPerBlock: coins(context, facts.inflowPerBlock),
      demandPerBlock: coins(context, facts.demandPerBlock),
      paysFullRates: facts.paysFullRates,
      fullRateBlocks: facts.fullRateBlocks === null ? null : facts.fullRateBlocks.toString(),
    },
    assumptions: ASSUMPTIONS,
  }
}

/** Rewards of a stake in each tier by consensus constants, and what the staking pool can pay now. */
export const stakingRewards = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Staking rewards',
  description:
    'Daily, monthly and yearly rewards of an amount in every lock tier, from consensus constants, and what the staking pool can pay now.',
  brief: 'Works out the rewards of a stake in every lock tier.',
  words: 'stake yield apr earn interest calculator',
  capability: 'staking-calculator',
  priceUsdMicros: 12_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    symbol: 'FAR',
    amount: '1000',
    tiers: [
      {
        name: '201600 blocks',
        tier: 0,
        lockBlocks: 201600,
        lockDays: 7,
        aprPct: 1,
        payableAprPct: 1,
        daily: '0.02739726',
        monthly: '0.83333333',
        yearly: '10',
        compounding: false,
      },
    ],
    pool: {
      staked: '120000',
      available: '14713.8',
      reserved: '12.5',
      inflowPerBlock: '1.19157',
      demandPerBlock: '0.00114',
      paysFullRates: true,
      fullRateBlocks: '12906000',
    },
    assumptions: ASSUMPTIONS,
  },
  timeoutMs: 2_000,
  resultBytesMax: 16_384,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check,
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (text, context) => ({ ...chainEnvelope(ID, context), ...rewards(context, text) }),
})
