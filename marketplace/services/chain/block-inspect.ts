import { Type } from 'typebox'
import { HEADER_BYTES } from '../../../consensus/block/header.ts'
import { meetsTarget, powHash, workOfTarget } from '../../../consensus/block/pow.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { isHex, toHex } from '../../../consensus/primitives/bytes.ts'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import type { BlockId, ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { type BlockFacts, blockAt, heightOnBestChain, kindCounts } from '../../queries/blocks.ts'
import { blockGap } from '../../queries/known-past.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { CHAIN_ENVELOPE, COIN_AMOUNT, chainEnvelope, coins } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-block-inspect' as ServiceId
const FORMAT = {
  requestFormat: 'block height (1-12 digits), block hash (64 hex digits, 0x optional), or latest',
  example: 'latest',
}
const REQUEST_CHARS_MAX = 100
const HEX_32 = Type.String({ pattern: '^[0-9a-f]{64}$' })

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  block: Type.Object({
    height: Type.Integer({ minimum: 0 }),
    hash: HEX_32,
    prev: HEX_32,
    time: Type.String(),
    pow: Type.Object({
      algorithm: Type.Literal('Argon2id'),
      memoryKiB: Type.Integer(),
      passes: Type.Integer(),
      lanes: Type.Integer(),
      difficulty: Type.String({ pattern: '^[0-9]+$' }),
      target: HEX_32,
      nonce: Type.String({ pattern: '^[0-9]+$' }),
      hash: orNull(HEX_32),
      hashMeetsTarget: orNull(Type.Boolean()),
    }),
    miner: Type.String(),
    symbol: Type.String(),
    subsidy: orNull(COIN_AMOUNT),
    reward: orNull(COIN_AMOUNT),
    feesBurned: orNull(COIN_AMOUNT),
    baseFee: Type.String(),
    transactions: Type.Integer({ minimum: 0 }),
    failed: Type.Integer({ minimum: 0 }),
    txMix: Type.Record(Type.String(), Type.Integer()),
    size: Type.Integer(),
    weightUsed: Type.Integer(),
    confirmations: Type.Integer({ minimum: 1 }),
  }),
  unknown: UNKNOWN,
})

type BlockName = number | BlockId | 'latest'

function parse(request: string): Result<BlockName> {
  const text = request.trim().toLowerCase()
  if (text === 'latest') return ok(text)
  if (/^[0-9]{1,12}$/.test(text)) return ok(Number(text))
  const id = text.replace(/^0x/, '')
  return isHex(id, 32) ? ok(id as BlockId) : unusable('not a height, hash or latest', FORMAT)
}

function heightOf(chain: ChainReader, name: BlockName): number | undefined {
  const top = chain.head.header.height
  if (name === 'latest') return top
  if (typeof name === 'number') return name <= top ? name : undefined
  return heightOnBestChain(chain, name)
}

/** The genesis block has no proof of work, so its hash is null. */
function proofOf({ powHasher, chain }: ServiceContext, { entry: { header, bytes } }: BlockFacts) {
  const { pow } = chain.ruleBook.at(header.height).block
  const hash = header.height === 0 ? null : powHash(powHasher, bytes, pow)
  return {
    algorithm: 'Argon2id' as const,
    memoryKiB: pow.memoryKiB,
    passes: pow.passes,
    lanes: pow.lanes,
    difficulty: workOfTarget(header.target).toString(),
    target: header.target.toString(16).padStart(64, '0'),
    nonce: header.nonce.toString(),
    hash: hash && toHex(hash),
    hashMeetsTarget: hash && meetsTarget(hash, header.target),
  }
}

function inspect(context: ServiceContext, block: BlockFacts) {
  const { entry, transactions, receipts, close } = block
  const { header } = entry
  const { params } = context.chain.ruleBook
  const amount = (units: bigint | undefined): string | null => (units === undefined ? null : coins(context, units))
  return {
    block: {
      height: header.height,
      hash: entry.id,
      prev: header.parent,
      time: new Date(header.timeMs).toISOString(),
      pow: proofOf(context, block),
      miner: formatAddress(params.addressPrefix, header.miner),
      symbol: params.ticker,
      subsidy: amount(close?.subsidy),
      reward: amount(close?.reward),
      feesBurned: amount(close?.burned),
      baseFee: header.baseFee.toString(),
      transactions: transactions.length,
      failed: receipts.filter((receipt) => receipt.type === 'transaction' && receipt.code !== 0).length,
      txMix: { ...kindCounts(transactions) },
      size: HEADER_BYTES + entry.bodyBytes,
      weightUsed: header.weightUsed,
      confirmations: context.chain.head.header.height - header.height + 1,
    },
    unknown: header.height === 0 ? ['pow.hash', 'pow.hashMeetsTarget', 'subsidy', 'reward', 'feesBurned'] : [],
  }
}

/** Facts of one block of the best chain; its proof of work is hashed again. */
export const blockInspect = defineService<BlockName, typeof RESULT>({
  serviceId: ID,
  name: 'Block inspection',
  description:
    'Proof-of-work facts of one block with its hash worked out anew, reward, base fees burned, transaction mix, size.',
  brief: 'Shows one block: proof-of-work facts, reward, fees burned, transactions and size.',
  words: 'height hash header miner',
  capability: 'explorer',
  priceUsdMicros: 6_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    block: {
      height: 12341,
      hash: '1a2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
      prev: '0b2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
      time: '2026-11-20T11:59:46.500Z',
      pow: {
        algorithm: 'Argon2id',
        memoryKiB: 256,
        passes: 1,
        lanes: 1,
        difficulty: '23761',
        target: '0002c22b3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9',
        nonce: '18123',
        hash: '00015b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
        hashMeetsTarget: true,
      },
      miner: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl',
      symbol: 'FAR',
      subsidy: '11.9156',
      reward: '10.7251',
      feesBurned: '0.0023',
      baseFee: '32',
      transactions: 2,
      failed: 0,
      txMix: { agent_invoke: 1, transfer: 1 },
      size: 5612,
      weightUsed: 7120,
      confirmations: 5,
    },
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 16_384,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (name, { chain }) => {
    const height = heightOf(chain, name)
    return height === undefined ? refusal('no such block on the best chain', FORMAT) : blockGap(chain, height)
  },
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (name, context) => {
    const height = heightOf(context.chain, name)
    const block = height === undefined ? undefined : blockAt(context.chain, height)
    if (block === undefined) throw new Error('the block is no longer on the best chain')
    const gap = blockGap(context.chain, block.entry.header.height)
    if (gap !== null) throw new Error(faultMessage(gap))
    return { ...chainEnvelope(ID, context), ...inspect(context, block) }
  },
})
