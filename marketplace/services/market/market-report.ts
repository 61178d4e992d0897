import { Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { coinOf } from '../../queries/assets.ts'
import { readMarket } from '../../queries/market-pools.ts'
import { UNKNOWN } from '../amounts.ts'
import { bridgeStatus, bridgeStatusFacts } from '../chain/bridge-status.ts'
import { optionalContext } from '../context-names.ts'
import { CHAIN_ENVELOPE } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { readyWithDay } from '../readiness.ts'
import { readAtHead } from '../reading.ts'
import { defineService, type ServiceDefinition } from '../service.ts'
import { stableHealth, stableHealthFacts } from '../tokens/stable-health.ts'
import { arbScan, arbScanFacts } from './arb-scan.ts'
import { marketSummary, marketSummaryFacts } from './market-summary.ts'
import { poolAnalytics, topPoolsFacts } from './pool-analytics.ts'
import { priceFeed, priceFeedFacts } from './price-feed.ts'
import { REPORT_DATA, type ReportData, reportSections, unknownFields, wordCount } from './report-sections.ts'

const ID = 'node-market-report' as ServiceId
const POOLS_SHOWN = 10

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  markdown: Type.String(),
  sections: Type.Array(Type.Object({ id: Type.String(), title: Type.String() })),
  data: REPORT_DATA,
  wordCount: Type.Integer({ minimum: 1 }),
  unknown: UNKNOWN,
})

async function dataAt(chain: ChainReader): Promise<ReportData> {
  const market = await readMarket(chain)
  return {
    priceFeed: await priceFeedFacts(chain, market),
    marketSummary: await marketSummaryFacts(chain, market),
    poolAnalytics: await topPoolsFacts(chain, market, POOLS_SHOWN),
    arbScan: await arbScanFacts(chain),
    stableHealth: await stableHealthFacts(chain, null),
    bridgeStatus: await bridgeStatusFacts(chain, null),
  }
}

function write(symbol: string, height: number, data: ReportData) {
  const sections = reportSections(data)
  const heading = `# Market report: ${symbol} at block ${height}\n`
  const markdown = [heading, ...sections.map((section) => section.markdown)].join('\n')
  const contents = sections.map(({ id, title }) => ({ id, title }))
  return { markdown, sections: contents, data, wordCount: wordCount(markdown), unknown: [...unknownFields(data)] }
}

/** The sample without its envelope. */
function bodyOf<T>({ sample }: Pick<ServiceDefinition, 'sample'>): T {
  const envelope = Object.keys(CHAIN_ENVELOPE)
  return Object.fromEntries(Object.entries(sample).filter(([field]) => !envelope.includes(field))) as T
}

const SAMPLE_DATA: ReportData = {
  priceFeed: bodyOf(priceFeed),
  marketSummary: bodyOf(marketSummary),
  poolAnalytics: bodyOf(poolAnalytics),
  arbScan: bodyOf(arbScan),
  stableHealth: bodyOf(stableHealth),
  bridgeStatus: bodyOf(bridgeStatus),
}

/** The market as sentences and tables. */
export const marketReport = defineService({
  serviceId: ID,
  name: 'Market report',
  description:
    'Markdown report of one block in a fixed order: a summary in sentences, price, market, pools, latest swaps, arbitrage, stable tokens, bridge and what is not known. Its figures are rounded; data has the same numbers exactly.',
  brief: 'Writes a Markdown report on price, market, pools, swaps and bridge at one block.',
  words: 'overview analysis written',
  capability: 'reports',
  priceUsdMicros: 50_000n,
  ...optionalContext(),
  sample: { ...sampleEnvelope(ID), ...write('FAR', 12345, SAMPLE_DATA) },
  timeoutMs: 2_000,
  resultBytesMax: 262_144,
  repeatable: true,
  keptPerHead: true,
  ready: readyWithDay,
  resultSchema: RESULT,
  execute: (_, context) =>
    readAtHead(ID, context, async ({ header }) =>
      write(coinOf(context.chain).symbol, header.height, await dataAt(context.chain)),
    ),
})
