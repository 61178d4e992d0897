import { Type } from 'typebox'
import { epochPrice, nativeOfMicros } from '../../../amm/oracle.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { epochOf } from '../../../consensus/ledger/epoch.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { priceInEpoch } from '../../ledger/agents.ts'
import { type AgentFacts, agentNamed, listAgents, type ServiceRow, withServices } from '../../queries/agents.ts'
import { termsOf } from '../../queries/bm25.ts'
import { orNull, UNKNOWN, usd } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { CHAIN_ENVELOPE, COIN_AMOUNT, coins, rounded } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { readAtHead } from '../reading.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { callUrl } from './agent-endpoint.ts'
import { type FindableService, findServices, serviceIndex } from './finding.ts'

const ID = 'node-service-search' as ServiceId
const FORMAT = { requestFormat: 'keywords or a capability, 1 to 80 characters', example: 'price feed' }
const QUERY_CHARS_MAX = 80
const RESULTS_MAX = 20
/** Maximum agents of the registry that are searched, besides this node's own. */
const AGENTS_MAX = 200
/** No further agent is read once this many services are found. */
export const SEARCHED_SERVICES_MAX = 2_000
const SCORE_DECIMALS = 4

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  query: Type.String(),
  symbol: Type.String(),
  searched: Type.Integer(),
  truncated: Type.Boolean(),
  results: Type.Array(
    Type.Object({
      serviceId: Type.String(),
      agentId: Type.String(),
      name: Type.String(),
      description: Type.String(),
      capability: Type.String(),
      requestFormat: Type.String(),
      priceNative: orNull(COIN_AMOUNT),
      priceUsd: Type.Number({ minimum: 0 }),
      available: orNull(Type.Boolean()),
      endpoint: orNull(Type.String()),
      score: Type.Number({ minimum: 0 }),
    }),
    { maxItems: RESULTS_MAX },
  ),
  unknown: UNKNOWN,
})

function parse(request: string): Result<string> {
  const text = request.trim()
  if ([...text].length > QUERY_CHARS_MAX) return unusable(`longer than ${QUERY_CHARS_MAX} characters`, FORMAT)
  return termsOf(text).length > 0 ? ok(text) : unusable('no word to search for', FORMAT)
}

interface Entry {
  readonly agent: AgentFacts
  readonly row: ServiceRow
}

function entriesOf(agent: AgentFacts): readonly Entry[] {
  return agent.services.filter(({ service }) => !service.retired).map((row) => ({ agent, row }))
}

/** This node's own services come first, so that the limit never cuts them off. */
async function registry({ chain, shelf }: ServiceContext): Promise<{ entries: readonly Entry[]; truncated: boolean }> {
  const own = shelf === null ? undefined : await agentNamed(chain, shelf.agentId)
  const entries: Entry[] = own === undefined ? [] : [...entriesOf(own)]
  const { agents, next } = await listAgents(chain, { limit: AGENTS_MAX })
  let truncated = next !== null || own?.truncated === true
  for (const row of agents) {
    if (row.agentId === own?.agentId) continue
    if (entries.length >= SEARCHED_SERVICES_MAX) return { entries, truncated: true }
    const agent = await withServices(chain, row)
    truncated ||= agent.truncated
    entries.push(...entriesOf(agent))
  }
  return { entries, truncated }
}

/** In base units of the native coin. Null if the coin has no price, or if no supply reaches the sum. */
function nativePrice(chain: ChainReader, { service }: ServiceRow): bigint | null {
  const { height } = chain.head.header
  const { market } = chain.ruleBook.at(height)
  const epoch = epochOf(height, market)
  const price = epochPrice(chain.database, epoch, market)
  return (price && nativeOfMicros(price, priceInEpoch(service, epoch))) ?? null
}

/** Null for a service of another operator, who alone knows. */
function isAvailable({ shelf }: ServiceContext, { agent, row }: Entry): boolean | null {
  return shelf?.agentId === agent.agentId ? (shelf.isAvailable(row.serviceId) ?? false) : null
}

function findable(context: ServiceContext, entry: Entry): FindableService {
  const { serviceId, service, capability } = entry.row
  const { name, description } = service
  const isOwn = isAvailable(context, entry) !== null
  const words = isOwn ? (context.shelf?.wordsOf(serviceId) ?? '') : ''
  return { serviceId, name, description, capability, words }
}

function hit(context: ServiceContext, entry: Entry, score: number) {
  const { agent, row } = entry
  const { chain } = context
  const { height } = chain.head.header
  const { serviceId, service, capability } = row
  const price = nativePrice(chain, row)
  return {
    serviceId,
    agentId: agent.agentId,
    name: service.name,
    description: service.description,
    capability,
    requestFormat: service.requestFormat,
    priceNative: price === null ? null : coins(context, price),
    priceUsd: usd(priceInEpoch(service, epochOf(height, chain.ruleBook.at(height).market))),
    available: isAvailable(context, entry),
    endpoint: callUrl(context, agent, serviceId),
    score: rounded(score, SCORE_DECIMALS),
  }
}

async function search(context: ServiceContext, query: string) {
  const { entries, truncated } = await registry(context)
  const index = serviceIndex(entries, (entry) => findable(context, entry))
  const ranked = findServices(index, query, (entry) => isAvailable(context, entry))
  const results = ranked.slice(0, RESULTS_MAX).map(({ found, score }) => hit(context, found, score))
  return {
    query,
    symbol: context.chain.ruleBook.params.ticker,
    searched: entries.length,
    truncated,
    results,
    unknown: [
      ...(results.some(({ priceNative }) => priceNative === null) ? ['priceNative'] : []),
      ...(results.some(({ available }) => available === null) ? ['available of other operators'] : []),
      ...(results.some(({ endpoint }) => endpoint === null) ? ['endpoint of agents that registered none'] : []),
    ],
  }
}

/** Keyword search over the services of the on-chain registry. */
export const serviceSearch = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Service search',
  description:
    'Search by a question or by words (BM25 over id, name, capability, description) in the services of the on-chain registry, with prices in the native coin and in dollars. What can be bought comes first; what does not fit is not named.',
  brief: 'Finds services of the on-chain registry by words, with prices and availability.',
  words: 'find discover which agent',
  capability: 'search',
  priceUsdMicros: 4_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    query: 'price feed',
    symbol: 'FAR',
    searched: 25,
    truncated: false,
    results: [
      {
        serviceId: 'node-price-feed',
        agentId: 'farthing-0f677daa2337',
        name: 'Price feed',
        description: 'Dollar price of the native coin from the priced pool.',
        capability: 'pricing',
        requestFormat: '',
        priceNative: '0.024',
        priceUsd: 0.006,
        available: true,
        endpoint: 'https://node.example/api/x402/node-price-feed',
        score: 3.8712,
      },
    ],
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 65_536,
  repeatable: true,
  requestCharsMax: 400,
  parse,
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (query, context) => readAtHead(ID, context, () => search(context, query)),
})
