import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { MAJORS, type Major } from '../../ports/crypto-prices.ts'
import type { Source } from '../../ports/sourced.ts'
import { coinOf } from '../../queries/assets.ts'
import { deepestDollarPool } from '../../queries/native-market.ts'
import { orNull, SYMBOL, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, rounded, SOURCE_ENVELOPE, sourceEnvelope } from '../envelope.ts'
import { CHANGE_PCT, unknownIn } from '../figures.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { coinPrice } from './coin-price.ts'

const ID = 'node-crypto-price' as ServiceId
const FORMAT = { requestFormat: 'BTC | ETH | SOL | BNB | LTC | FAR', example: 'BTC' }
const REQUEST_CHARS_MAX = 32
const PCT_DECIMALS = 4
const ALIASES: Readonly<Record<string, Major>> = {
  BITCOIN: 'BTC',
  XBT: 'BTC',
  ETHEREUM: 'ETH',
  ETHER: 'ETH',
  SOLANA: 'SOL',
  LITECOIN: 'LTC',
}

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  symbol: SYMBOL,
  usd: Type.Number({ exclusiveMinimum: 0 }),
  change24hPct: orNull(CHANGE_PCT),
  /** Time of the price; `asOf` is the time of the result. */
  pricedAt: Type.String({ format: 'date-time' }),
  unknown: UNKNOWN,
})

interface Price {
  readonly symbol: string
  readonly usd: number
  readonly change24hPct: number | null
  readonly pricedAt: string
}

function parse(request: string): Result<string> {
  const symbol = request.trim().toUpperCase()
  if (!/^[A-Z][A-Z0-9]{1,9}$/.test(symbol)) return unusable('not the symbol of an asset', FORMAT)
  return ok(Object.hasOwn(ALIASES, symbol) ? (ALIASES[symbol] as Major) : symbol)
}

function isMajor(symbol: string): symbol is Major {
  return (MAJORS as readonly string[]).includes(symbol)
}

async function majorPrice(symbol: Major, context: ServiceContext, signal: AbortSignal): Promise<[Price, Source]> {
  const { value, source } = delivered(await context.outside.prices.majors(signal))
  const price = value.majors[symbol]
  if (price === null) throw new Error(`no provider has a price of ${symbol}, or they disagree on it`)
  const { usd, change24hPct: change, asOf: pricedAt } = price
  return [{ symbol, usd, change24hPct: change === null ? null : rounded(change, PCT_DECIMALS), pricedAt }, source]
}

async function nativeCoinPrice({ chain, clock }: ServiceContext): Promise<[Price, Source]> {
  const { symbol, priceUsd: usd, change24hPct, source: pool, pricedAt } = await coinPrice(chain)
  if (usd === null) throw new Error(`there is no pool of ${symbol} and dollars`)
  const name = `the pool ${pool} of this chain`
  return [
    { symbol, usd, change24hPct, pricedAt },
    { name, fetchedAt: new Date(clock.now()).toISOString(), stale: false },
  ]
}

/** Price of one asset. */
export const cryptoPrice = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Crypto price',
  description:
    'Dollar price and 24-hour change of BTC, ETH, SOL, BNB or LTC, the median of several providers, or of the native coin from its deepest pool on this chain.',
  brief: 'Gives the dollar price and 24-hour change of BTC, ETH, SOL, BNB, LTC or the native coin.',
  words: 'bitcoin ethereum solana litecoin worth quote rate cryptocurrency',
  capability: 'pricing',
  priceUsdMicros: 2_000n,
  ...FORMAT,
  sample: {
    service: ID as string,
    asOf: '2026-11-20T12:00:00.000Z',
    source: {
      name: 'coingecko, coinbase',
      fetchedAt: '2026-11-20T11:59:50.000Z',
      stale: false,
      attribution: 'Data provided by CoinGecko',
    },
    symbol: 'BTC',
    usd: 67187.34,
    change24hPct: 3.6372,
    pricedAt: '2026-11-20T11:59:40.000Z',
    unknown: [],
  },
  timeoutMs: 6_000,
  resultBytesMax: 4_096,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (symbol, { chain }) => {
    if (isMajor(symbol)) return null
    if (symbol !== coinOf(chain).symbol) return refusal(`there is no price of ${symbol} here`, FORMAT)
    return deepestDollarPool(chain) === undefined ? refusal(`there is no pool of ${symbol} and dollars`, FORMAT) : null
  },
  ready: ({ outside }) => outside.prices.readiness(),
  resultSchema: RESULT,
  execute: async (symbol, context, signal) => {
    const [price, source] = isMajor(symbol) ? await majorPrice(symbol, context, signal) : await nativeCoinPrice(context)
    return { ...sourceEnvelope(ID, source, context), ...price, unknown: unknownIn({ ...price }) }
  },
})
