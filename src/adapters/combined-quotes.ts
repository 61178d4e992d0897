import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { MAJORS, type Major, type MajorPrice, type MajorPrices } from '../../marketplace/ports/crypto-prices.ts'
import type { Sourced } from '../../marketplace/ports/sourced.ts'
import type { MajorQuotes } from './providers/major-quotes.ts'

/** Quotes that are further than this from the median, in per cent, do not count. */
const OUTLIER_PCT = 3
const WHAT = 'prices of crypto assets'

interface Quote extends MajorPrice {
  readonly provider: string
}

/**
 * Combines the answers of several providers, in the operator's order. Stale answers count only if there is no fresh
 * one. Faults: `provider/none` without an answer, `provider/answer` if no asset has a credible price.
 */
export function combinedQuotes(answers: readonly Sourced<MajorQuotes>[]): Result<Sourced<MajorPrices>> {
  const fresh = answers.filter(({ source }) => !source.stale)
  const counted = fresh.length > 0 ? fresh : answers
  const prices = MAJORS.map((major) => [major, quotesOf(major, counted)] as const)
  const combined = prices.map(([major, quotes]) => [major, priceOf(quotes)] as const)
  const majors = Object.fromEntries(combined.map(([major, price]) => [major, price?.price ?? null]))
  const names = new Set(combined.flatMap(([, price]) => price?.providers ?? []))
  const used = counted.filter(({ source }) => names.has(source.name))
  if (used.length === 0) return fail(withoutPrice(prices.find(([, quotes]) => quotes.length > 0)?.[0]))
  return ok({
    value: {
      majors: majors as MajorPrices['majors'],
      globalMarketCapUsd: used.find(({ value }) => value.globalMarketCapUsd !== null)?.value.globalMarketCapUsd ?? null,
      sources: used.map(({ source }) => source.name),
      disagreementPct: widest(prices.map(([, quotes]) => quotes)),
    },
    source: sourceOf(used, fresh.length === 0),
  })
}

function withoutPrice(torn: Major | undefined): Fault {
  if (torn === undefined) return fault('provider/none', { what: WHAT, reason: 'no provider answered' })
  return fault('provider/answer', { provider: WHAT, reason: `providers disagree on the price of ${torn}` })
}

function quotesOf(major: Major, answers: readonly Sourced<MajorQuotes>[]): readonly Quote[] {
  return answers.flatMap(({ value, source }) => {
    const price = value.prices[major]
    return price === undefined ? [] : [{ ...price, provider: source.name }]
  })
}

interface Combined {
  readonly price: MajorPrice
  readonly providers: readonly string[]
}

function priceOf(quotes: readonly Quote[]): Combined | null {
  if (quotes.length === 0) return null
  const middle = median(quotes.map(({ usd }) => usd))
  const near = quotes.filter(({ usd }) => Math.abs(usd - middle) <= (middle * OUTLIER_PCT) / 100)
  if (near.length === 0) return null
  const [oldest] = near.map(({ asOf }) => asOf).sort()
  const change24hPct = near.find((quote) => quote.change24hPct !== null)?.change24hPct ?? null
  return {
    price: { usd: median(near.map(({ usd }) => usd)), change24hPct, asOf: oldest as string },
    providers: near.map(({ provider }) => provider),
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  const high = sorted[half] as number
  return sorted.length % 2 === 1 ? high : ((sorted[half - 1] as number) + high) / 2
}

/** The largest distance between two prices of one asset, in per cent of the lower; null if no asset has two. */
function widest(all: readonly (readonly Quote[])[]): number | null {
  const several = all.map((quotes) => quotes.map(({ usd }) => usd)).filter(({ length }) => length > 1)
  const distances = several.map((values) => (Math.max(...values) / Math.min(...values) - 1) * 100)
  return distances.length === 0 ? null : Math.max(...distances)
}

function sourceOf(used: readonly Sourced<MajorQuotes>[], stale: boolean): Sourced<MajorPrices>['source'] {
  const [oldest] = used.map(({ source }) => source.fetchedAt).sort()
  const words = used.flatMap(({ source }) => source.attribution ?? []).join('; ')
  const [only] = used
  return {
    name: used.map(({ source }) => source.name).join(', '),
    ...(used.length === 1 && only?.source.url !== undefined && { url: only.source.url }),
    fetchedAt: oldest as string,
    stale,
    ...(words !== '' && { attribution: words }),
  }
}
