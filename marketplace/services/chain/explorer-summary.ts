import { Type } from 'typebox'
import { HEADER_BYTES } from '../../../consensus/block/header.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { type BlockFacts, kindCounts, newestBlocks } from '../../queries/blocks.ts'
import { burnedIn } from '../../queries/burns.ts'
import { orNull } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { optionalContext } from '../context-names.ts'
import { CHAIN_ENVELOPE, COIN_AMOUNT, coins } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { readyWithBlocks } from '../readiness.ts'
import { readAtHead } from '../reading.ts'
import { defineService } from '../service.ts'

const ID = 'node-explorer-summary' as ServiceId
const LISTED = 10
/** Limits of the window for transaction types and supply effect. */
export const SUMMARY_WINDOW = { blocks: 20, transactions: 2_000 }

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  symbol: Type.String(),
  blocks: Type.Array(
    Type.Object({
      height: Type.Integer(),
      hash: Type.String(),
      time: Type.String(),
      miner: Type.String(),
      transactions: Type.Integer(),
      size: Type.Integer(),
      reward: COIN_AMOUNT,
      feesBurned: COIN_AMOUNT,
    }),
    { maxItems: LISTED },
  ),
  window: Type.Object({ fromHeight: Type.Integer(), toHeight: Type.Integer(), transactions: Type.Integer() }),
  txTypes: Type.Record(Type.String(), Type.Integer()),
  mempool: Type.Object({ count: Type.Integer(), bytes: Type.Integer() }),
  supplyEffect: Type.Object({
    minted: COIN_AMOUNT,
    /** Null if this node pruned a payment that was delivered in these blocks. */
    burned: orNull(COIN_AMOUNT),
    net: orNull(Type.String({ pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]{1,8})?$' })),
  }),
})

function row(context: ServiceContext, { entry, transactions, close }: BlockFacts) {
  const { header, id, bodyBytes } = entry
  return {
    height: header.height,
    hash: id,
    time: new Date(header.timeMs).toISOString(),
    miner: formatAddress(context.chain.ruleBook.params.addressPrefix, header.miner),
    transactions: transactions.length,
    size: HEADER_BYTES + bodyBytes,
    reward: coins(context, close?.reward ?? 0n),
    feesBurned: coins(context, close?.burned ?? 0n),
  }
}

async function summary(context: ServiceContext) {
  const blocks = await newestBlocks(context.chain, SUMMARY_WINDOW)
  const transactions = blocks.flatMap((block) => block.transactions)
  const minted = blocks.reduce((total, { close }) => total + (close?.subsidy ?? 0n), 0n)
  const burned = await burnedByAll(context, blocks)
  const { height } = context.chain.head.header
  return {
    symbol: context.chain.ruleBook.params.ticker,
    blocks: blocks.slice(0, LISTED).map((block) => row(context, block)),
    window: {
      fromHeight: blocks.at(-1)?.entry.header.height ?? height,
      toHeight: height,
      transactions: transactions.length,
    },
    txTypes: kindCounts(transactions),
    mempool: { count: context.mempool.count, bytes: context.mempool.bytes },
    supplyEffect: {
      minted: coins(context, minted),
      burned: burned === null ? null : coins(context, burned),
      net: burned === null ? null : signedCoins(context, minted - burned),
    },
  }
}

/** Null if the amount of one block is unknown. Other work runs between blocks. */
async function burnedByAll({ chain }: ServiceContext, blocks: readonly BlockFacts[]): Promise<bigint | null> {
  let burned = 0n
  for (const block of blocks) {
    const own = burnedIn(chain, block)
    if (own === null) return null
    burned += own
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  return burned
}

function signedCoins(context: ServiceContext, units: bigint): string {
  return units < 0n ? `-${coins(context, -units)}` : coins(context, units)
}

/** The newest blocks, their content, and their effect on the supply. */
export const explorerSummary = defineService({
  serviceId: ID,
  name: 'Explorer summary',
  description:
    'The last 10 blocks, transaction types and supply effect (subsidy minted; base fees, launches of tokens, 1 % of deliveries and the burned part of claims on tabs) of the last 20, and the mempool.',
  brief: 'Shows the last 10 blocks, transaction types, supply effect and the mempool.',
  words: 'recent latest chain activity overview',
  capability: 'explorer',
  priceUsdMicros: 6_000n,
  ...optionalContext(),
  sample: {
    ...sampleEnvelope(ID),
    symbol: 'FAR',
    blocks: [
      {
        height: 12345,
        hash: '9f2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
        time: '2026-11-20T11:59:58.120Z',
        miner: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl',
        transactions: 2,
        size: 5612,
        reward: '10.7251',
        feesBurned: '0.0023',
      },
    ],
    window: { fromHeight: 12326, toHeight: 12345, transactions: 41 },
    txTypes: { agent_invoke: 20, agent_receipt: 11, transfer: 10 },
    mempool: { count: 3, bytes: 7911 },
    supplyEffect: { minted: '238.32', burned: '0.0512', net: '238.2688' },
  },
  timeoutMs: 2_000,
  resultBytesMax: 16_384,
  repeatable: true,
  ready: readyWithBlocks,
  resultSchema: RESULT,
  execute: (_, context) => readAtHead(ID, context, () => summary(context)),
})
