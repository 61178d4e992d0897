import { Type } from 'typebox'
import type { QuotedHop, SwapQuote } from '../../../amm/quote.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { parseAmount } from '../../../consensus/primitives/amount.ts'
import { type Fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { payloadToJson } from '../../../consensus/tx/json.ts'
import { assetNamed, recordedAsset } from '../../queries/assets.ts'
import { poolRow } from '../../queries/pools.ts'
import { type QuoteRequest, quoteSwap } from '../../queries/quotes.ts'
import { ratio } from '../../queries/ratio.ts'
import { ASSET_AMOUNT, assetAmount, orNull, UNKNOWN } from '../amounts.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { POOL_NAME, PRICE, pctOfPpm, poolName, SAMPLE_POOL, sampleEnvelope, unknownIn, wholePrice } from '../figures.ts'
import { noToken } from '../named.ts'
import { readAtHead } from '../reading.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-swap-quote' as ServiceId
const FORMAT = { requestFormat: '<amount> <FROM>-><TO>', example: '12.5 FAR->FUSD' }
const REQUEST_CHARS_MAX = 160
const REQUEST = /^([0-9][0-9.]{0,60})\s+([A-Za-z][A-Za-z0-9]{1,9})\s*(?:->|\u2192)\s*([A-Za-z][A-Za-z0-9]{1,9})$/
const SLIPPAGE_BPS = 50n

const IMPACT = { description: 'How far what is paid lies below the listed price, pool fees included' }
const HOP = Type.Object({ ...POOL_NAME, in: ASSET_AMOUNT, out: ASSET_AMOUNT, priceImpactPct: Type.Number(IMPACT) })

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  from: Type.String(),
  to: Type.String(),
  route: Type.Array(HOP),
  amountIn: ASSET_AMOUNT,
  amountOut: orNull(ASSET_AMOUNT),
  minOut: orNull(ASSET_AMOUNT),
  slippagePct: Type.Number(),
  price: PRICE,
  priceImpactPct: orNull(Type.Number({ minimum: 0, maximum: 100, ...IMPACT })),
  fees: Type.Array(Type.Object({ pool: Type.String(), pct: Type.Number(), amount: ASSET_AMOUNT })),
  validAtHeight: Type.Integer(),
  payload: orNull(Type.Record(Type.String(), Type.Unknown())),
  reason: orNull(Type.String()),
  unknown: UNKNOWN,
})

interface Wanted {
  readonly amount: string
  readonly from: string
  readonly to: string
}

function parse(request: string): Result<Wanted> {
  const [, amount = '', from = '', to = ''] = REQUEST.exec(request.trim()) ?? []
  if (amount === '') return unusable('not an amount and two symbols with an arrow between them', FORMAT)
  const wanted = { amount, from: from.toUpperCase(), to: to.toUpperCase() }
  return wanted.from === wanted.to ? unusable('both symbols are the same', FORMAT) : ok(wanted)
}

function read(chain: ChainReader, { amount, from, to }: Wanted): QuoteRequest | Fault {
  const [assetIn, assetOut] = [assetNamed(chain, from), assetNamed(chain, to)]
  if (assetIn === undefined || assetOut === undefined) {
    return noToken(chain, assetIn === undefined ? from : to, FORMAT)
  }
  const frozen = [assetIn, assetOut].find((asset) => asset.frozen)
  if (frozen !== undefined) return refusal(`${frozen.symbol} is frozen and cannot be traded`, FORMAT)
  const units = parseAmount(amount, assetIn.decimals)
  if (!units.ok) return refusal(faultMessage(units.fault), FORMAT)
  if (units.value === 0n) return refusal('the amount must be above 0', FORMAT)
  return { from: assetIn, to: assetOut, exactOut: false, amount: units.value, slippageBps: SLIPPAGE_BPS }
}

async function quote(chain: ChainReader, wanted: Wanted, height: number) {
  const request = read(chain, wanted)
  if ('code' in request) throw new Error(faultMessage(request))
  const found = await quoteSwap(chain, request)
  const facts = found.ok ? quoteFacts(chain, request, found.value) : NOTHING
  const { amountOut, minOut, price, priceImpactPct } = facts
  return {
    from: request.from.symbol,
    to: request.to.symbol,
    amountIn: assetAmount(request.from, request.amount),
    slippagePct: Number(SLIPPAGE_BPS) / 100,
    validAtHeight: height + 1,
    ...facts,
    reason: found.ok ? null : faultMessage(found.fault),
    unknown: unknownIn({ amountOut, minOut, price, priceImpactPct }),
  }
}

const NOTHING = { route: [], amountOut: null, minOut: null, price: null, priceImpactPct: null, fees: [], payload: null }

function quoteFacts(chain: ChainReader, { from, to }: QuoteRequest, { hops, payload, ...quoted }: SwapQuote) {
  const { amountIn, amountOut, limit, priceImpactPpm } = quoted
  return {
    route: hops.map((hop) => hopFacts(chain, hop)),
    amountOut: assetAmount(to, amountOut),
    minOut: assetAmount(to, limit),
    price: wholePrice(ratio(amountOut, amountIn), from, to),
    priceImpactPct: pctOfPpm(priceImpactPpm),
    fees: hops.map((hop) => feeFacts(chain, hop)),
    payload: payloadToJson(chain.ruleBook.params.addressPrefix, { kind: 'swap', payload }),
  }
}

function hopFacts(
  chain: ChainReader,
  { poolId, pool, assetIn, assetOut, amountIn, amountOut, priceImpactPpm }: QuotedHop,
) {
  return {
    ...poolName(poolRow(chain, poolId, pool)),
    in: assetAmount(recordedAsset(chain, assetIn), amountIn),
    out: assetAmount(recordedAsset(chain, assetOut), amountOut),
    priceImpactPct: pctOfPpm(priceImpactPpm),
  }
}

function feeFacts(chain: ChainReader, { poolId, pool, assetIn, fee }: QuotedHop) {
  const { pool: name, feePct } = poolName(poolRow(chain, poolId, pool))
  return { pool: name, pct: feePct, amount: assetAmount(recordedAsset(chain, assetIn), fee) }
}

/** What a swap would pay in the next block. */
export const swapQuote = defineService<Wanted, typeof RESULT>({
  serviceId: ID,
  name: 'Swap quote',
  description:
    'What a swap pays over the best route of up to three pools, exact to the base unit in the next block, with price impact (fees included), fees per pool, the least output at 0.5 % slippage and the payload to sign.',
  brief: 'Tells what a swap pays over the best route, with price impact and fees.',
  words: 'exchange trade sell buy worth token rate far fusd',
  capability: 'trading',
  priceUsdMicros: 6_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    from: 'FAR',
    to: 'FUSD',
    route: [
      {
        id: SAMPLE_POOL,
        pool: 'FAR-FUSD-30',
        feePct: 0.3,
        in: { symbol: 'FAR', decimals: 8, amount: '12.5' },
        out: { symbol: 'FUSD', decimals: 6, amount: '3.115527' },
        priceImpactPct: 0.3032,
      },
    ],
    amountIn: { symbol: 'FAR', decimals: 8, amount: '12.5' },
    amountOut: { symbol: 'FUSD', decimals: 6, amount: '3.115527' },
    minOut: { symbol: 'FUSD', decimals: 6, amount: '3.09995' },
    slippagePct: 0.5,
    price: 0.24924216,
    priceImpactPct: 0.3032,
    fees: [{ pool: 'FAR-FUSD-30', pct: 0.3, amount: { symbol: 'FAR', decimals: 8, amount: '0.0375' } }],
    validAtHeight: 12346,
    payload: {
      assetIn: 'FAR',
      exactOut: false,
      amount: '1250000000',
      limit: '3099950',
      hops: [{ asset: 'FUSD', feeBps: 30 }],
    },
    reason: null,
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 16_384,
  repeatable: true,
  keptPerHead: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (wanted, { chain }) => {
    const request = read(chain, wanted)
    return 'code' in request ? request : null
  },
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (wanted, context) => readAtHead(ID, context, ({ header }) => quote(context.chain, wanted, header.height)),
})
