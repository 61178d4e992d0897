import { Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { amount, parseAmount } from '../../../consensus/primitives/amount.ts'
import type { Hash, ServiceId, TxId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { NATIVE_ASSET } from '../../../consensus/state/table.ts'
import { recordedAsset } from '../../queries/assets.ts'
import { type BlockFacts, newestBlocks, outcomesOf } from '../../queries/blocks.ts'
import { type KnownAddresses, knownAddresses } from '../../queries/known-addresses.ts'
import { type Movement, movementsOf } from '../../queries/movements.ts'
import { PriceBook } from '../../queries/prices.ts'
import { SYMBOL, UNKNOWN, USD, usd } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { CHAIN_ENVELOPE, COIN_AMOUNT, coins } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { readyWithBlocks } from '../readiness.ts'
import { readAtHead } from '../reading.ts'
import { isBlank, refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { endFacts, MOVEMENT, movementFacts } from './movement-facts.ts'

const ID = 'node-whale-watch' as ServiceId
const FORMAT = { requestFormat: 'least amount in native coins, a decimal number; empty for 10000', example: '5000' }
const DEFAULT_THRESHOLD = '10000'
/** Limits of the searched window. */
export const WHALE_WINDOW = { blocks: 200, transactions: 2_000 }
const LISTED_MAX = 100
const REQUEST_CHARS_MAX = 100

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  threshold: Type.Object({ symbol: SYMBOL, amount: COIN_AMOUNT, usd: USD }),
  window: Type.Object({ fromHeight: Type.Integer(), toHeight: Type.Integer(), transactions: Type.Integer() }),
  transfers: Type.Array(
    Type.Object({
      txId: Type.String(),
      height: Type.Integer(),
      time: Type.String(),
      type: Type.String(),
      ...MOVEMENT,
      usd: USD,
      labels: Type.Array(Type.String()),
    }),
    { maxItems: LISTED_MAX },
  ),
  truncated: Type.Boolean(),
  labelsTruncated: Type.Boolean(),
  unpriced: Type.Array(SYMBOL),
  unknown: UNKNOWN,
})

const DECIMAL = /^(0|[1-9][0-9]{0,29})(\.[0-9]{1,18})?$/

function parse(request: string): Result<string> {
  const text = isBlank(request) ? DEFAULT_THRESHOLD : request.trim()
  return DECIMAL.test(text) ? ok(text) : unusable('not a decimal number of coins', FORMAT)
}

interface Found {
  readonly txId: TxId
  readonly type: string
  readonly block: BlockFacts
  readonly movement: Movement
}

/** Newest transaction first; the movements of one transaction in their own order. */
function movementsIn(chain: ChainReader, blocks: readonly BlockFacts[]): readonly Found[] {
  return blocks.flatMap((block) => {
    const outcomes = outcomesOf(block)
    return block.transactions.toReversed().flatMap((tx) => {
      const receipt = outcomes.get(tx.txId)
      const moved = receipt === undefined ? [] : movementsOf(chain, tx, receipt)
      return moved.map((movement) => ({ txId: tx.txId, type: tx.body.kind, block, movement }))
    })
  })
}

class Ends {
  readonly #chain: ChainReader
  readonly #known: KnownAddresses

  constructor(chain: ChainReader, known: KnownAddresses) {
    this.#chain = chain
    this.#known = known
  }

  labels(movement: Movement): string[] {
    const of = (side: 'from' | 'to'): string[] => {
      const end = movement[side]
      if (end.place === 'address') return (this.#known.labels.get(end.address) ?? []).map((label) => `${side}:${label}`)
      const { place, name } = endFacts(this.#chain, end)
      return [place === name ? `${side}:${place}` : `${side}:${place}:${name}`]
    }
    return [...of('from'), ...of('to')]
  }
}

/** Null if the asset or the native coin has no price. A movement of native coins needs none. */
async function isLarge(
  chain: ChainReader,
  { asset, amount: units }: Movement,
  threshold: bigint,
): Promise<boolean | null> {
  if (asset === NATIVE_ASSET) return units >= threshold
  const book = PriceBook.of(chain)
  const [worth, least] = [await book.valueOf(asset, units), await book.valueOf(NATIVE_ASSET, threshold)]
  return worth === null || least === null ? null : worth >= least
}

async function watch(context: ServiceContext, threshold: bigint) {
  const { chain } = context
  const book = PriceBook.of(chain)
  const blocks = await newestBlocks(chain, WHALE_WINDOW)
  const known = await knownAddresses(chain)
  const ends = new Ends(chain, known)
  const transfers = []
  const unpriced = new Set<Hash>()
  let truncated = false
  for (const { txId, type, block, movement } of movementsIn(chain, blocks)) {
    const large = await isLarge(chain, movement, threshold)
    if (large === null) unpriced.add(movement.asset)
    if (large !== true) continue
    truncated = transfers.length === LISTED_MAX
    if (truncated) break
    const { header } = block.entry
    transfers.push({
      txId,
      height: header.height,
      time: new Date(header.timeMs).toISOString(),
      type,
      ...movementFacts(chain, movement),
      usd: usd(await book.valueOf(movement.asset, movement.amount)),
      labels: ends.labels(movement),
    })
  }
  const { height } = chain.head.header
  const worth = usd(await book.valueOf(NATIVE_ASSET, threshold))
  return {
    threshold: { symbol: chain.ruleBook.params.ticker, amount: coins(context, threshold), usd: worth },
    window: {
      fromHeight: blocks.at(-1)?.entry.header.height ?? height,
      toHeight: height,
      transactions: blocks.reduce((sum, { transactions }) => sum + transactions.length, 0),
    },
    transfers,
    truncated,
    labelsTruncated: known.truncated,
    unpriced: [...unpriced].map((asset) => recordedAsset(chain, asset).symbol).toSorted(),
    unknown: worth === null ? ['threshold.usd', 'transfers of tokens'] : [],
  }
}

/** Large movements of any asset in the newest blocks. */
export const whaleWatch = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Whale watch',
  description:
    'Movements of coins and tokens (transfers, swaps, stakes, bridge) worth the threshold at present prices, in the last 200 blocks or 2000 transactions, with labels of agents, issuers, pools.',
  brief: 'Finds large movements of coins and tokens in the latest blocks.',
  words: 'big transfers large transactions',
  capability: 'whale-watch',
  priceUsdMicros: 20_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    threshold: { symbol: 'FAR', amount: '5000', usd: 1250 },
    window: { fromHeight: 12146, toHeight: 12345, transactions: 320 },
    transfers: [
      {
        txId: '4f2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
        height: 12341,
        time: '2026-11-20T11:59:46.500Z',
        type: 'swap',
        from: { place: 'address', name: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl' },
        to: { place: 'pool', name: 'FAR-FUSD-30' },
        amount: '20000',
        decimals: 8,
        symbol: 'FAR',
        usd: 5000,
        labels: ['from:agent:shop:owner', 'to:pool:FAR-FUSD-30'],
      },
    ],
    truncated: false,
    labelsTruncated: false,
    unpriced: [],
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 131_072,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (threshold, { chain }) =>
    parseAmount(threshold, chain.ruleBook.params.decimals).ok
      ? null
      : refusal('more decimals than the coin has', FORMAT),
  ready: readyWithBlocks,
  resultSchema: RESULT,
  execute: (threshold, context) => {
    const units = parseAmount(threshold, context.chain.ruleBook.params.decimals)
    return readAtHead(ID, context, () => watch(context, amount(units.ok ? units.value : 0n)))
  },
})
