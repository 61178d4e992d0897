import { type Static, Type } from 'typebox'
import { ARB_SCAN } from './node-arb-scan.ts'
import { BRIDGE_STATUS } from './node-bridge-status.ts'
import { MARKET_SUMMARY } from './node-market-summary.ts'
import { POOL_ANALYTICS } from './node-pool-analytics.ts'
import { PRICE_FEED } from './node-price-feed.ts'
import { STABLE_HEALTH } from './node-stable-health.ts'

/** What a market report is written from: the results of other services at one head, without their envelopes. */
export const REPORT_DATA = Type.Object({
  priceFeed: Type.Object(PRICE_FEED),
  marketSummary: Type.Object(MARKET_SUMMARY),
  poolAnalytics: Type.Object(POOL_ANALYTICS),
  arbScan: Type.Object(ARB_SCAN),
  stableHealth: Type.Object(STABLE_HEALTH),
  bridgeStatus: Type.Object(BRIDGE_STATUS),
})

/** The data of a report. */
export type ReportData = Static<typeof REPORT_DATA>

/** One section of a report. */
export interface ReportSection {
  readonly id: string
  readonly title: string
  readonly markdown: string
}

/** Sections of a report in their order; every one is there, whatever is known. */
export function reportSections(data: ReportData): readonly ReportSection[] {
  return [
    section('price', 'Price', priceLines(data.priceFeed)),
    section('market', 'Market', marketLines(data.marketSummary)),
    section('pools', 'Pools', poolLines(data.poolAnalytics)),
    section('swaps', 'Latest swaps', swapLines(data.marketSummary)),
    section('arbitrage', 'Arbitrage', arbLines(data.arbScan)),
    section('stables', 'Stable tokens', stableLines(data.stableHealth)),
    section('bridge', 'Bridge', bridgeLines(data.bridgeStatus)),
    section('unknown', 'Not known', unknownLines(data)),
  ]
}

/** Words of a text: what blanks stand between. */
export function wordCount(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length
}

function section(id: string, title: string, lines: readonly string[]): ReportSection {
  return { id, title, markdown: `## ${title}\n\n${lines.join('\n')}\n` }
}

const UNKNOWN = 'unknown'

function dollars(value: number | null): string {
  return value === null ? UNKNOWN : `$${value}`
}

function per(value: number | null): string {
  return value === null ? UNKNOWN : `${value} %`
}

function amount({ symbol, amount: units }: { readonly symbol: string; readonly amount: string }): string {
  return `${units} ${symbol}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}

function priceLines(feed: ReportData['priceFeed']): readonly string[] {
  const { symbol, priceSource, confidence, twap1h } = feed
  const source = priceSource === null ? 'no pool prices it' : `pool ${priceSource.pool}, ${dollars(feed.depthUsd)} deep`
  return [
    `- ${symbol}: ${dollars(feed.priceUsd)} (${source}; confidence ${confidence ?? UNKNOWN})`,
    `- Change in 24 hours: ${per(feed.change24hPct)}`,
    `- Mean of the last hour: ${dollars(twap1h?.priceUsd ?? null)}`,
    `- Price that the market charges by: ${dollars(feed.marketPriceUsd)}`,
  ]
}

function marketLines(summary: ReportData['marketSummary']): readonly string[] {
  const { poolsCounted, poolsUnpriced, trades24h } = summary
  return [
    `- TVL: ${dollars(summary.tvlUsd)} in ${poolsCounted} pools, ${poolsUnpriced} of them without a price`,
    `- Volume in 24 hours: ${dollars(summary.volume24hUsd)} in ${trades24h} trades`,
  ]
}

function poolLines({ pools, lpAprFormula }: ReportData['poolAnalytics']): readonly string[] {
  if (pools.length === 0) return ['There are no pools.']
  const rows = pools.map((pool) => [
    pool.pool,
    pool.reserves.map(amount).join(' and '),
    dollars(pool.tvlUsd),
    dollars(pool.volume24hUsd),
    per(pool.lpAprPct),
    per(pool.impact.find(({ sizePct }) => sizePct === 1)?.impactPct ?? null),
  ])
  const head = ['Pool', 'Reserves', 'TVL', 'Volume 24 h', 'LP APR', 'Impact of 1 %']
  return [...table(head, rows), '', `LP APR: ${lpAprFormula}.`]
}

function swapLines({ latestSwaps }: ReportData['marketSummary']): readonly string[] {
  if (latestSwaps.length === 0) return ['There were no swaps yet.']
  const rows = latestSwaps.map(({ time, pool, amountIn, from, amountOut, to, priceImpactPct }) => [
    time,
    pool,
    `${amountIn} ${from}`,
    `${amountOut} ${to}`,
    per(priceImpactPct),
  ])
  return table(['Time', 'Pool', 'In', 'Out', 'Impact'], rows)
}

function arbLines({ widest, impliedPrices, reason, note }: ReportData['arbScan']): readonly string[] {
  const prices = impliedPrices.map(({ route, priceUsd }) => `- ${route.join(' > ')}: ${dollars(priceUsd)}`)
  if (widest === null) return [...prices, `- No spread: ${reason ?? UNKNOWN}.`]
  const { buyRoute, sellRoute, spreadPct, feesPct, netPct, maxSizeBeforeZero } = widest
  return [
    ...prices,
    `- Widest spread: ${spreadPct} % between ${buyRoute.join(' > ')} and ${sellRoute.join(' > ')}; fees ${feesPct} %, net ${netPct} %`,
    `- Largest size that comes back whole: ${amount(maxSizeBeforeZero)}`,
    '',
    note,
  ]
}

function stableLines({ stables }: ReportData['stableHealth']): readonly string[] {
  if (stables.length === 0) return ['There are no stable tokens.']
  const rows = stables.map((stable) => [
    stable.symbol,
    amount(stable.supply),
    per(stable.backingPct),
    dollars(stable.pegPriceUsd),
    stable.health ?? UNKNOWN,
    stable.reasons.map(({ detail }) => detail).join('; '),
  ])
  return table(['Token', 'Supply', 'Backing', 'Peg', 'Health', 'Reasons'], rows)
}

function bridgeLines({ networks, custody }: ReportData['bridgeStatus']): readonly string[] {
  const rows = networks.map(({ name, status, asset, float, records }) => [
    name,
    status,
    asset,
    float === null ? UNKNOWN : amount(float),
    records === null ? UNKNOWN : `${records.in} in, ${records.out} out`,
  ])
  return [...table(['Network', 'Status', 'Token', 'Float', 'Records'], rows), '', custody]
}

function unknownLines(data: ReportData): readonly string[] {
  const missing = unknownFields(data)
  return missing.length === 0 ? ['Everything above is known.'] : missing.map((field) => `- ${field}`)
}

/** Fields that the data does not know, by their service. */
export function unknownFields(data: ReportData): readonly string[] {
  return Object.entries(data).flatMap(([service, { unknown }]) => unknown.map((field) => `${service}.${field}`))
}
