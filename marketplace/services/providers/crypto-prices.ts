import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { MAJORS, type Major, type MajorPrice, type MajorPrices } from '../../ports/crypto-prices.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import { optionalContext } from '../context-names.ts'
import { delivered, fromSource, rounded, SOURCE_ENVELOPE } from '../envelope.ts'
import { CHANGE_PCT, unknownIn } from '../figures.ts'
import { defineService } from '../service.ts'
import { COIN_PRICE, coinPrice } from './coin-price.ts'

const ID = 'node-crypto-prices' as ServiceId
const PCT_DECIMALS = 4

const MAJOR_PRICE = Type.Object({
  usd: Type.Number({ exclusiveMinimum: 0 }),
  change24hPct: orNull(CHANGE_PCT),
  asOf: Type.String({ format: 'date-time' }),
})

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  native: COIN_PRICE,
  majors: Type.Object({ BTC: MAJOR_PRICE, ETH: MAJOR_PRICE, SOL: MAJOR_PRICE, BNB: MAJOR_PRICE, LTC: MAJOR_PRICE }),
  globalMarketCapUsd: orNull(Type.Number({ exclusiveMinimum: 0 })),
  sources: Type.Array(Type.String(), { minItems: 1, maxItems: 8 }),
  /** Largest difference between two providers' prices of one asset, in per cent; null if no asset has two prices. */
  disagreementPct: orNull(Type.Number({ minimum: 0 })),
  unknown: UNKNOWN,
})

function majorsOf({ majors }: MajorPrices): Record<Major, MajorPrice> {
  const missing = MAJORS.filter((major) => majors[major] === null)
  if (missing.length > 0) throw new Error(`no provider has a price of ${missing.join(', ')}, or they disagree on it`)
  const shown = MAJORS.map((major) => [major, shownPrice(majors[major] as MajorPrice)] as const)
  return Object.fromEntries(shown) as Record<Major, MajorPrice>
}

function shownPrice({ usd, change24hPct, asOf }: MajorPrice): MajorPrice {
  return { usd, change24hPct: change24hPct === null ? null : rounded(change24hPct, PCT_DECIMALS), asOf }
}

/** Prices of assets of other chains, and of the native coin. */
export const cryptoPrices = defineService({
  serviceId: ID,
  name: 'Crypto prices',
  description:
    'Dollar prices of BTC, ETH, SOL, BNB and LTC, the median of several providers without outliers, with 24-hour change, the native coin and the global market cap.',
  brief: 'Gives the dollar prices of BTC, ETH, SOL, BNB, LTC and the native coin, and the market cap.',
  words: 'bitcoin ethereum solana litecoin cryptocurrency cryptocurrencies capitalisation',
  capability: 'pricing',
  priceUsdMicros: 8_000n,
  ...optionalContext(MAJORS),
  sample: {
    service: ID as string,
    asOf: '2026-11-20T12:00:00.000Z',
    source: {
      name: 'coingecko, coinbase',
      fetchedAt: '2026-11-20T11:59:50.000Z',
      stale: false,
      attribution: 'Data provided by CoinGecko',
    },
    native: { symbol: 'FAR', priceUsd: 0.2561, change24hPct: 1.25, source: 'FAR-FUSD-30' },
    majors: {
      BTC: { usd: 67187.34, change24hPct: 3.6372, asOf: '2026-11-20T11:59:40.000Z' },
      ETH: { usd: 3484.12, change24hPct: -1.25, asOf: '2026-11-20T11:59:40.000Z' },
      SOL: { usd: 182.4, change24hPct: 0.01, asOf: '2026-11-20T11:59:40.000Z' },
      BNB: { usd: 571.01, change24hPct: 0.7, asOf: '2026-11-20T11:59:40.000Z' },
      LTC: { usd: 88.4, change24hPct: 2.5, asOf: '2026-11-20T11:59:40.000Z' },
    },
    globalMarketCapUsd: 2721226850772.63,
    sources: ['coingecko', 'coinbase'],
    disagreementPct: 0.0211,
    unknown: [],
  },
  timeoutMs: 6_000,
  resultBytesMax: 8_192,
  repeatable: true,
  ready: ({ outside }) => outside.prices.readiness(),
  resultSchema: RESULT,
  execute: async (_, context, signal) => {
    const asked = await context.outside.prices.majors(signal)
    // Throws for unusable prices before the chain is read.
    const majors = majorsOf(delivered(asked).value)
    const { pricedAt: _at, ...native } = await coinPrice(context.chain)
    return fromSource(ID, asked, context, ({ globalMarketCapUsd, sources, disagreementPct: apart }) => {
      const disagreementPct = apart === null ? null : rounded(apart, PCT_DECIMALS)
      const nested = [
        ...namesIn('native', native),
        ...MAJORS.flatMap((major) => namesIn(`majors.${major}`, majors[major])),
      ]
      const unknown = [...unknownIn({ globalMarketCapUsd, disagreementPct }), ...nested]
      return { native, majors, globalMarketCapUsd, sources: [...sources], disagreementPct, unknown }
    })
  },
})

function namesIn(path: string, fields: object): readonly string[] {
  return unknownIn({ ...fields }).map((name) => `${path}.${name}`)
}
