import { type Static, Type } from 'typebox'
import { BRIDGE_STATUS } from '../chain/bridge-status.ts'
import { STABLE_HEALTH } from '../tokens/stable-health.ts'
import { ARB_SCAN } from './arb-scan.ts'
import { MARKET_SUMMARY } from './market-summary.ts'
import { POOL_ANALYTICS } from './pool-analytics.ts'
import { PRICE_FEED } from './price-feed.ts'
import { amountText, countText, dollarText, minuteText, percentText, UNKNOWN_FIGURE } from './report-figures.ts'

/** Results of other services at one head, without their envelopes. */
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

/** All sections of a report, in order; sections with unknown data are included. */
export function reportSections(data: ReportData): readonly ReportSection[] {
  return [
    section('summary', 'Summary', summaryLines(data)),
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

/** Number of words in a text, separated by whitespace. */
export function wordCount(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length
}

function section(id: string, title: string, lines: readonly string[]): ReportSection {
  return { id, title, markdown: `## ${title}\n\n${lines.join('\n')}\n` }
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}

function summaryLines(data: ReportData): readonly string[] {
  const { priceFeed, marketSummary, poolAnalytics, arbScan, stableHealth, bridgeStatus } = data
  return [
    [
      priceSentence(priceFeed),
      marketSentence(marketSummary, poolAnalytics),
      spreadSentence(arbScan),
      stableSentence(stableHealth),
      bridgeSentence(bridgeStatus),
    ].join(' '),
    '',
    'Figures are rounded; `data` has the exact ones.',
  ]
}

function priceSentence({ symbol, priceUsd, change24hPct }: ReportData['priceFeed']): string {
  if (priceUsd === null) return `${symbol} has no price in dollars.`
  if (change24hPct === null) return `${symbol} costs ${dollarText(priceUsd)}; its change in 24 hours is not known.`
  const way = change24hPct < 0 ? 'down' : 'up'
  const change = change24hPct === 0 ? 'as 24 hours ago' : `${way} ${percentText(Math.abs(change24hPct))} in 24 hours`
  return `${symbol} costs ${dollarText(priceUsd)}, ${change}.`
}

function marketSentence(
  { poolsCounted, tvlUsd, trades24h, volume24hUsd }: ReportData['marketSummary'],
  { pools }: ReportData['poolAnalytics'],
): string {
  const [largest] = pools
  if (largest === undefined) return 'There are no pools.'
  const holds = poolsCounted === 1 ? 'holds' : 'hold'
  const held = `${countText(poolsCounted, 'pool')} ${holds} ${tvlUsd === null ? 'what has no known price' : dollarText(tvlUsd)}`
  const most = poolsCounted === 1 ? '' : `, the largest is ${largest.pool} (${dollarText(largest.tvlUsd)})`
  return `${held}${most}; ${countText(trades24h, 'pool trade')} in 24 hours moved ${dollarText(volume24hUsd)}.`
}

function spreadSentence({ widest }: ReportData['arbScan']): string {
  if (widest === null) return 'No two ways to dollars can be compared.'
  const { spreadPct, netPct, profitable, bestSize } = widest
  const spread = `The widest spread between two ways to dollars is ${percentText(spreadPct)}`
  if (!profitable) return `${spread}; nothing of it is left after fees.`
  return `${spread}, ${percentText(netPct)} after fees, best used with ${amountText(bestSize)}.`
}

function stableSentence({ stables }: ReportData['stableHealth']): string {
  if (stables.length === 0) return 'There are no stable tokens.'
  const ill = stables.filter(({ health }) => health !== 'ok')
  const count = countText(stables.length, 'stable token')
  if (ill.length === 0) return stables.length === 1 ? 'The one stable token is healthy.' : `All ${count} are healthy.`
  const named = ill.map(({ symbol, health }) => `${symbol} (${health ?? UNKNOWN_FIGURE})`)
  return `Of ${count}, these are not known to be healthy: ${named.join(', ')}.`
}

function bridgeSentence({ networks }: ReportData['bridgeStatus']): string {
  const open = networks.filter(({ status }) => status === 'open').length
  const halted = networks.filter(({ status }) => status === 'halted').map(({ name }) => name)
  const told = `The bridge is open to ${open} of ${countText(networks.length, 'network')}`
  return halted.length === 0 ? `${told}.` : `${told}; halted: ${halted.join(', ')}.`
}

function priceLines(feed: ReportData['priceFeed']): readonly string[] {
  const { symbol, priceSource, confidence, twap1h } = feed
  const source =
    priceSource === null ? 'no pool prices it' : `pool ${priceSource.pool}, ${dollarText(feed.depthUsd)} deep`
  return [
    `- ${symbol}: ${dollarText(feed.priceUsd)} (${source}; confidence ${confidence ?? UNKNOWN_FIGURE})`,
    `- Change in 24 hours: ${percentText(feed.change24hPct)}`,
    `- Mean of the last hour, by coins per dollar: ${dollarText(twap1h?.priceUsd ?? null)}`,
    `- Price that the market charges by: ${dollarText(feed.marketPriceUsd)}`,
  ]
}

function marketLines(summary: ReportData['marketSummary']): readonly string[] {
  const { poolsCounted, poolsUnpriced, trades24h } = summary
  return [
    `- TVL: ${dollarText(summary.tvlUsd)} in ${countText(poolsCounted, 'pool')}, ${poolsUnpriced} of them without a price`,
    `- Volume in 24 hours: ${dollarText(summary.volume24hUsd)} in ${countText(trades24h, 'pool trade')}`,
  ]
}

function poolLines({ pools, lpAprFormula }: ReportData['poolAnalytics']): readonly string[] {
  if (pools.length === 0) return ['There are no pools.']
  const rows = pools.map((pool) => [
    pool.pool,
    pool.reserves.map(amountText).join(' and '),
    dollarText(pool.tvlUsd),
    dollarText(pool.volume24hUsd),
    percentText(pool.lpAprPct),
    percentText(pool.impact.find(({ sizePct }) => sizePct === 1)?.impactPct ?? null),
  ])
  const head = ['Pool', 'Reserves', 'TVL', 'Volume 24 h', 'LP APR', 'Impact of 1 %']
  return [...table(head, rows), '', `LP APR: ${lpAprFormula}.`]
}

function swapLines({ latestSwaps }: ReportData['marketSummary']): readonly string[] {
  if (latestSwaps.length === 0) return ['There were no swaps yet.']
  const rows = latestSwaps.map(({ time, pool, amountIn, from, amountOut, to, priceImpactPct }) => [
    minuteText(time),
    pool,
    amountText({ symbol: from, amount: amountIn }),
    amountText({ symbol: to, amount: amountOut }),
    percentText(priceImpactPct),
  ])
  return table(['Time', 'Pool', 'In', 'Out', 'Impact'], rows)
}

function arbLines({ widest, impliedPrices, reason, note }: ReportData['arbScan']): readonly string[] {
  const prices = impliedPrices.map(({ route, priceUsd }) => `- ${route.join(' > ')}: ${dollarText(priceUsd)}`)
  if (widest === null) return [...prices, `- No spread: ${reason ?? UNKNOWN_FIGURE}.`]
  const { buyRoute, sellRoute, spreadPct, feesPct, netPct, maxSizeBeforeZero } = widest
  return [
    ...prices,
    `- Widest spread: ${percentText(spreadPct)} between ${buyRoute.join(' > ')} and ${sellRoute.join(' > ')}; fees ${percentText(feesPct)}, net ${percentText(netPct)}`,
    `- Largest size that comes back whole: ${amountText(maxSizeBeforeZero)}`,
    '',
    note,
  ]
}

function stableLines({ stables }: ReportData['stableHealth']): readonly string[] {
  if (stables.length === 0) return ['There are no stable tokens.']
  const rows = stables.map((stable) => [
    stable.symbol,
    amountText(stable.supply),
    percentText(stable.backingPct),
    dollarText(stable.pegPriceUsd),
    stable.health ?? UNKNOWN_FIGURE,
    stable.reasons.map(({ detail }) => detail).join('; '),
  ])
  return table(['Token', 'Supply', 'Backing', 'Peg', 'Health', 'Reasons'], rows)
}

function bridgeLines({ networks, custody }: ReportData['bridgeStatus']): readonly string[] {
  const rows = networks.map(({ name, status, asset, float, records }) => [
    name,
    status,
    asset,
    float === null ? UNKNOWN_FIGURE : amountText(float),
    records === null ? UNKNOWN_FIGURE : `${records.in} in, ${records.out} out`,
  ])
  return [...table(['Network', 'Status', 'Token', 'Float', 'Records'], rows), '', custody]
}

function unknownLines(data: ReportData): readonly string[] {
  const missing = unknownFields(data)
  return missing.length === 0 ? ['Everything above is known.'] : missing.map((field) => `- ${field}`)
}

/** Unknown fields of the data, prefixed with their service. */
export function unknownFields(data: ReportData): readonly string[] {
  return Object.entries(data).flatMap(([service, { unknown }]) => unknown.map((field) => `${service}.${field}`))
}
