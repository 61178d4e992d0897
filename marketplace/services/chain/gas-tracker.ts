import { Type } from 'typebox'
import { baseFeeAfter } from '../../../consensus/block/base-fee.ts'
import { executedFrom } from '../../../consensus/chain/adoption.ts'
import { decodeReceipt, type ReceiptOf } from '../../../consensus/ledger/receipt.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import type { ServiceContext } from '../context.ts'
import { optionalContext } from '../context-names.ts'
import { CHAIN_ENVELOPE, COIN_AMOUNT, chainEnvelope, coins, rounded } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { readyWithBlocks } from '../readiness.ts'
import { defineService } from '../service.ts'
import { entryAt } from './chain-statistics.ts'

const ID = 'node-gas-tracker' as ServiceId
const WINDOW_BLOCKS = 20
/** Average fullness of blocks, in per cent. Congestion is high from `highPct` on, and low below `lowPct`. */
const CONGESTION = { highPct: 75, lowPct: 25 } as const

const RATES = Type.Object({ min: Type.String(), median: Type.String(), p90: Type.String(), avg: Type.String() })

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  unit: Type.Literal('base units per unit of weight'),
  window: Type.Object({ fromHeight: Type.Integer(), toHeight: Type.Integer(), transactions: Type.Integer() }),
  mempool: Type.Object({
    count: Type.Integer(),
    bytes: Type.Integer(),
    pressurePct: Type.Number({ minimum: 0, maximum: 100 }),
  }),
  baseFee: Type.Object({ current: Type.String(), next: Type.String() }),
  fees: Type.Union([RATES, Type.Null()]),
  burn: Type.Object({ last20: COIN_AMOUNT, perBlock: COIN_AMOUNT }),
  congestion: Type.Union([Type.Literal('low'), Type.Literal('normal'), Type.Literal('high')]),
  congestionRule: Type.Object({
    averageBlockFullnessPct: Type.Number(),
    highFromPct: Type.Number(),
    lowBelowPct: Type.Number(),
  }),
  suggestedFee: Type.Object({
    maxFeeRate: Type.String(),
    tip: Type.String(),
    transferCost: COIN_AMOUNT,
    paidCallCost: COIN_AMOUNT,
    rule: Type.String(),
  }),
  unknown: Type.Array(Type.String()),
})

/** For a single-key account that has sent before. The two ids of the paid call have 40 characters together. */
const WEIGHTS = { transfer: 3_432n, paidCall: 4_719n } as const
const FEE_RULE = `transferCost and paidCallCost are coins at the suggested rate, for a weight of ${WEIGHTS.transfer} and ${WEIGHTS.paidCall}: a plain transfer and the payment of a call, by a single-key account that has sent before. A first transaction carries its keys and weighs more.`

function receiptsAt(
  { chain: { database } }: ServiceContext,
  height: number,
): readonly ReturnType<typeof decodeReceipt>[] {
  const id = database.idAt(height)
  const encoded = id === undefined ? undefined : database.receipts(id)
  return (encoded ?? []).map(decodeReceipt)
}

function ratesOf(
  receipts: readonly ReceiptOf<'transaction'>[],
): { min: string; median: string; p90: string; avg: string } | null {
  const rates = receipts.map(({ rate }) => rate).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  if (rates.length === 0) return null
  const at = (share: number): string => String(rates[Math.min(rates.length - 1, Math.floor(rates.length * share))])
  const sum = rates.reduce((total, rate) => total + rate, 0n)
  return { min: at(0), median: at(0.5), p90: at(0.9), avg: String(sum / BigInt(rates.length)) }
}

function congestionOf(fullnessPct: number): 'low' | 'normal' | 'high' {
  if (fullnessPct >= CONGESTION.highPct) return 'high'
  return fullnessPct < CONGESTION.lowPct ? 'low' : 'normal'
}

function track(context: ServiceContext) {
  const { chain, mempool } = context
  const toHeight = chain.head.header.height
  const fromHeight = Math.max(1, executedFrom(chain.database), toHeight - WINDOW_BLOCKS + 1)
  const heights = Array.from({ length: Math.max(0, toHeight - fromHeight + 1) }, (_, i) => fromHeight + i)
  const receipts = heights.flatMap((height) => receiptsAt(context, height))
  const paid = receipts.filter((receipt) => receipt.type === 'transaction')
  const burned = receipts.reduce((sum, receipt) => (receipt.type === 'close' ? sum + receipt.burned : sum), 0n)
  const { weightMax } = chain.ruleBook.at(toHeight + 1).block
  const used = heights.reduce((sum, height) => sum + entryAt(chain, height).header.weightUsed, 0)
  const fullnessPct = heights.length === 0 ? 0 : rounded((100 * used) / (heights.length * weightMax), 2)
  const next = baseFeeAfter(chain.head.header, chain.ruleBook.at(toHeight + 1).block)
  const fees = ratesOf(paid)
  return {
    unit: 'base units per unit of weight' as const,
    window: { fromHeight, toHeight, transactions: paid.length },
    mempool: {
      count: mempool.count,
      bytes: mempool.bytes,
      pressurePct: Math.min(100, rounded((100 * mempool.bytes) / mempool.bytesMax, 2)),
    },
    baseFee: { current: chain.head.header.baseFee.toString(), next: next.toString() },
    fees,
    burn: {
      last20: coins(context, burned),
      perBlock: coins(context, heights.length === 0 ? 0n : burned / BigInt(heights.length)),
    },
    congestion: congestionOf(fullnessPct),
    congestionRule: {
      averageBlockFullnessPct: fullnessPct,
      highFromPct: CONGESTION.highPct,
      lowBelowPct: CONGESTION.lowPct,
    },
    suggestedFee: {
      maxFeeRate: (2n * mempool.suggestedRate).toString(),
      tip: (mempool.suggestedRate - next).toString(),
      transferCost: coins(context, mempool.suggestedRate * WEIGHTS.transfer),
      paidCallCost: coins(context, mempool.suggestedRate * WEIGHTS.paidCall),
      rule: FEE_RULE,
    },
    unknown: fees === null ? ['fees'] : [],
  }
}

/** Fees of the last 20 blocks, burn, and how full the blocks and the mempool are. */
export const gasTracker = defineService({
  serviceId: ID,
  name: 'Gas tracker',
  description:
    'Mempool pressure, fees over the last 20 blocks, burn rate, congestion level with its rule, and a suggested fee, also as coins for a transfer and for a paid call.',
  brief: 'Shows mempool pressure, recent fees, congestion and a suggested fee of this chain.',
  words: 'fee now mempool full transaction cost busy estimate',
  capability: 'explorer',
  priceUsdMicros: 6_000n,
  ...optionalContext(),
  sample: {
    ...sampleEnvelope(ID),
    unit: 'base units per unit of weight',
    window: { fromHeight: 12326, toHeight: 12345, transactions: 41 },
    mempool: { count: 3, bytes: 7911, pressurePct: 0.02 },
    baseFee: { current: '32', next: '32' },
    fees: { min: '32', median: '33', p90: '40', avg: '34' },
    burn: { last20: '0.0512', perBlock: '0.00256' },
    congestion: 'low',
    congestionRule: { averageBlockFullnessPct: 0.4, highFromPct: 75, lowBelowPct: 25 },
    suggestedFee: {
      maxFeeRate: '66',
      tip: '1',
      transferCost: '0.00113256',
      paidCallCost: '0.00155727',
      rule: FEE_RULE,
    },
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 16_384,
  repeatable: true,
  ready: readyWithBlocks,
  resultSchema: RESULT,
  execute: (_, context) => ({ ...chainEnvelope(ID, context), ...track(context) }),
})
