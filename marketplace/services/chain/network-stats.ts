import { Type } from 'typebox'
import { workOfTarget } from '../../../consensus/block/pow.ts'
import { executedFrom } from '../../../consensus/chain/adoption.ts'
import { STAKING } from '../../../consensus/ledger/staking.ts'
import { nativeSupply, STAKING_POOL } from '../../../consensus/ledger/supply.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ESCROW_TOTALS } from '../../ledger/escrow.ts'
import { tabTotals } from '../../ledger/tab-records.ts'
import { orNull, percent, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { optionalContext } from '../context-names.ts'
import { CHAIN_ENVELOPE, COIN_AMOUNT, chainEnvelope, coins, rounded } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { defineService } from '../service.ts'
import { entryAt, windowOf } from './chain-statistics.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ID = 'node-network-stats' as ServiceId

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  hashrate: Type.Object({ h1: Type.Number(), h24: Type.Number() }),
  difficulty: Type.Number(),
  avgBlockTime: Type.Number(),
  supply: Type.Object({
    symbol: Type.String(),
    minted: COIN_AMOUNT,
    burned: COIN_AMOUNT,
    circulating: COIN_AMOUNT,
    max: COIN_AMOUNT,
    stakingPool: COIN_AMOUNT,
    inEscrow: COIN_AMOUNT,
    inTabs: COIN_AMOUNT,
  }),
  stakingRatioPct: Type.Number({ minimum: 0, maximum: 100 }),
  tx: Type.Object({
    total: orNull(Type.Integer({ minimum: 0 })),
    last24h: orNull(Type.Integer({ minimum: 0 })),
  }),
  mempool: Type.Object({ count: Type.Integer({ minimum: 0 }), bytes: Type.Integer({ minimum: 0 }) }),
  peers: Type.Integer({ minimum: 0 }),
  unknown: UNKNOWN,
})

function averageBlockTime({ chain }: ServiceContext): number {
  const { blocks, seconds } = windowOf(chain, HOUR_MS)
  return blocks > 0 ? rounded(seconds / blocks, 3) : 0
}

function supplyOf(context: ServiceContext) {
  const { database, ruleBook } = context.chain
  const { minted, burned, cap } = nativeSupply(database)
  return {
    symbol: ruleBook.params.ticker,
    minted: coins(context, minted),
    burned: coins(context, burned),
    circulating: coins(context, minted - burned),
    max: coins(context, cap),
    stakingPool: coins(context, database.get(STAKING_POOL, undefined)?.accrued ?? 0n),
    inEscrow: coins(context, database.get(ESCROW_TOTALS, undefined)?.amount ?? 0n),
    inTabs: coins(context, tabTotals(database).locked),
  }
}

/** 100 x staked / (minted - burned), truncated to 4 decimals. */
function stakingRatioOf({ chain: { database } }: ServiceContext): number {
  const { minted, burned } = nativeSupply(database)
  const tiers = database.get(STAKING, undefined)?.tiers ?? []
  const staked = tiers.reduce((sum, tier) => sum + tier.staked, 0n)
  return staked === 0n ? 0 : percent(staked, minted - burned)
}

/** Height, hash rate, supply, transaction totals and mempool of this node's chain. */
export const networkStats = defineService({
  serviceId: ID,
  name: 'Network statistics',
  description:
    'Height, hashrate, supply minted and burned, staking ratio, transaction totals and mempool, read from one block.',
  brief: 'Gives height, hashrate, supply, staking ratio, transaction totals and mempool of the chain.',
  words: 'hash rate difficulty blockchain state',
  capability: 'explorer',
  priceUsdMicros: 6_000n,
  ...optionalContext(),
  sample: {
    ...sampleEnvelope(ID),
    hashrate: { h1: 7920.4, h24: 7855.1 },
    difficulty: 23761,
    avgBlockTime: 3.01,
    supply: {
      symbol: 'FAR',
      minted: '10147138.10427',
      burned: '31.4',
      circulating: '10147106.70427',
      max: '100000000',
      stakingPool: '14713.8',
      inEscrow: '0.048',
      inTabs: '2.5',
    },
    stakingRatioPct: 1.1825,
    tx: { total: 5120, last24h: 410 },
    mempool: { count: 3, bytes: 7911 },
    peers: 8,
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 16_384,
  repeatable: true,
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (_, context) => {
    const { chain, mempool, peerCount } = context
    const day = windowOf(chain, DAY_MS)
    // A node that began from a snapshot did not count earlier transactions.
    const total = executedFrom(chain.database) === 0 ? chain.head.totalTransactions : null
    const tx = { total, last24h: day.transactions }
    return {
      ...chainEnvelope(ID, context),
      hashrate: { h1: rounded(windowOf(chain, HOUR_MS).hashrate, 1), h24: rounded(day.hashrate, 1) },
      difficulty: Number(workOfTarget(entryAt(chain, chain.head.header.height).header.target)),
      avgBlockTime: averageBlockTime(context),
      supply: supplyOf(context),
      stakingRatioPct: stakingRatioOf(context),
      tx,
      mempool: { count: mempool.count, bytes: mempool.bytes },
      peers: peerCount(),
      unknown: [...(tx.total === null ? ['tx.total'] : []), ...(tx.last24h === null ? ['tx.last24h'] : [])],
    }
  },
})
