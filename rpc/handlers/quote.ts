import type { QuotedHop, SwapQuote } from '../../amm/quote.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { parseAmount } from '../../consensus/primitives/amount.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { payloadToJson } from '../../consensus/tx/json.ts'
import { assetNamed } from '../../marketplace/queries/assets.ts'
import { poolName } from '../../marketplace/queries/pools.ts'
import { type QuoteRequest, quoteSwap } from '../../marketplace/queries/quotes.ts'
import type { HOP, SWAP_QUOTE } from '../contract/pools.ts'
import type { Static } from '../contract/schema.ts'
import { amountJson, assetAmountJson, crossPrice, percentText } from '../json/asset-json.ts'
import type { Handler, RequestOf } from '../server/answer.ts'
import { answerAtHead } from '../server/at-head.ts'

type SwapPayloadJson = Static<typeof SWAP_QUOTE>['payload']

const SLIPPAGE_DEFAULT_BPS = 50

/** A quote of a swap at the head. */
export const getQuote: Handler<'getQuote'> = ({ chain }, { query }) =>
  answerAtHead(chain, async (head) => {
    const request = requestOf(chain, query)
    if ('code' in request) return request
    const quote = await quoteSwap(chain, request)
    return quote.ok ? quoteJson(chain, request, quote.value, head.header.height) : quote.fault
  })

function requestOf(chain: ChainReader, query: RequestOf<'getQuote'>['query']): QuoteRequest | Fault {
  const [from, to] = [assetNamed(chain, query.from), assetNamed(chain, query.to)]
  if (from === undefined) return fault('rpc/asset-not-found', { symbol: query.from })
  if (to === undefined) return fault('rpc/asset-not-found', { symbol: query.to })
  if (from.asset === to.asset) return fault('rpc/invalid-request', { fields: ['to must be another asset than from'] })
  const exactOut = query.amountOut !== undefined
  if (exactOut === (query.amount !== undefined))
    return fault('rpc/invalid-request', { fields: ['one of amount and amountOut must be given, and not both'] })
  const amount = parseAmount(String(exactOut ? query.amountOut : query.amount), (exactOut ? to : from).decimals)
  if (!amount.ok) return amount.fault
  if (amount.value === 0n)
    return fault('rpc/invalid-request', { fields: [`${exactOut ? 'amountOut' : 'amount'} must be more than 0`] })
  const slippageBps = BigInt(query.slippageBps ?? SLIPPAGE_DEFAULT_BPS)
  return { from, to, exactOut, amount: amount.value, slippageBps }
}

function quoteJson(chain: ChainReader, request: QuoteRequest, quote: SwapQuote, height: number) {
  const { from, to, exactOut, slippageBps } = request
  const { amountIn, amountOut, limit, hops, payload, priceImpactPpm } = quote
  return {
    exactOut,
    amountIn: amountJson(from, amountIn),
    amountOut: amountJson(to, amountOut),
    minOut: exactOut ? null : amountJson(to, limit),
    maxIn: exactOut ? amountJson(from, limit) : null,
    slippageBps: Number(slippageBps),
    price: crossPrice({ numerator: amountOut, denominator: amountIn }, from, to),
    priceImpactPct: percentText(priceImpactPpm),
    route: hops.map((hop) => hopJson(chain, hop)),
    validAtHeight: height + 1,
    payload: payloadToJson(chain.ruleBook.params.addressPrefix, { kind: 'swap', payload }) as SwapPayloadJson,
  }
}

function hopJson(
  chain: ChainReader,
  { poolId, pool, assetIn, assetOut, amountIn, amountOut, fee }: QuotedHop,
): Static<typeof HOP> {
  return {
    poolId,
    pool: poolName(chain, pool),
    feeBps: pool.feeBps,
    in: assetAmountJson(chain, assetIn, amountIn),
    out: assetAmountJson(chain, assetOut, amountOut),
    fee: assetAmountJson(chain, assetIn, fee),
  }
}
