import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { AGENT_SERVICES_MAX, type AgentFacts, agentNamed, listAgents, withServices } from '../../queries/agents.ts'
import { orNull, PERCENT, percent, UNKNOWN } from '../amounts.ts'
import { entryAt } from '../chain/chain-statistics.ts'
import type { ServiceContext } from '../context.ts'
import { optionalContext } from '../context-names.ts'
import { CHAIN_ENVELOPE, COIN_AMOUNT, coins } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { readAtHead } from '../reading.ts'
import { defineService } from '../service.ts'
import { agentEndpoint } from './agent-endpoint.ts'

const ID = 'node-agent-roster' as ServiceId
/** Maximum agents in a result. */
export const ROSTER_AGENTS_MAX = 100
const PPM = 1_000_000n

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  symbol: Type.String(),
  agents: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      endpoint: orNull(Type.String()),
      capabilities: Type.Array(Type.String()),
      services: Type.Integer(),
      provenCalls: Type.Integer(),
      provenCallsByTab: Type.Integer(),
      provenCallsStable: Type.Null(),
      volumeNative: COIN_AMOUNT,
      burnedByTab: COIN_AMOUNT,
      volumeStable: Type.Null(),
      distinctPayers: Type.Integer(),
      successRatePct: orNull(PERCENT),
      refunds: Type.Integer(),
      firstSeen: Type.Object({ height: Type.Integer(), time: Type.String() }),
    }),
    { maxItems: ROSTER_AGENTS_MAX },
  ),
  truncated: Type.Boolean(),
  basis: Type.String(),
  unknown: UNKNOWN,
})

const BASIS =
  'Calls that an agent pays to itself do not count. provenCalls and volumeNative include calls on tabs; these are cheaper to fake, so weigh them by burnedByTab. Success rate, refunds and distinctPayers are those of single calls. Refunds are calls reported failed or expired; distinctPayers counts a caller once, however many services of the agent it has called. Calls on stable rails of other chains leave no trace here.'

function rosterRow(context: ServiceContext, facts: AgentFacts) {
  const { agentId, agent, capabilities, statistics, services, record } = facts
  const { successPpm, failed, expired, byTab } = record
  const since = entryAt(context.chain, agent.registeredAt).header
  return {
    id: agentId,
    name: agent.name,
    endpoint: agentEndpoint(context, facts),
    capabilities: [...capabilities],
    services: services.filter(({ service }) => !service.retired).length,
    provenCalls: statistics.calls,
    provenCallsByTab: byTab.provenCalls,
    provenCallsStable: null,
    volumeNative: coins(context, statistics.volume),
    burnedByTab: coins(context, byTab.burned),
    volumeStable: null,
    distinctPayers: record.payers,
    successRatePct: successPpm === null ? null : percent(successPpm, PPM),
    refunds: failed + expired,
    firstSeen: { height: agent.registeredAt, time: new Date(since.timeMs).toISOString() },
  }
}

async function roster(context: ServiceContext) {
  const { chain, shelf } = context
  // This node's own agent is always listed, in place of the last one if the list is full.
  const own = shelf === null ? undefined : await agentNamed(chain, shelf.agentId)
  const { agents, next } = await listAgents(chain, { limit: ROSTER_AGENTS_MAX })
  const others = agents.filter(({ agentId }) => agentId !== own?.agentId)
  const listed = own === undefined ? others : [own, ...others].slice(0, ROSTER_AGENTS_MAX)
  const rows: AgentFacts[] = []
  for (const row of listed) rows.push(row === own ? own : await withServices(chain, row))
  const since = chain.database.indexedFrom
  const partial = rows.filter(({ truncated }) => truncated)
  const shown = rows.map((row) => rosterRow(context, row))
  return {
    symbol: chain.ruleBook.params.ticker,
    agents: shown,
    truncated: next !== null || rows.length < others.length + (own === undefined ? 0 : 1),
    basis: BASIS,
    unknown: [
      'provenCallsStable',
      'volumeStable',
      ...shown.flatMap(({ id, endpoint }) => (endpoint === null ? [`endpoint of ${id}`] : [])),
      ...(since === 0 ? [] : [`successRatePct, refunds and distinctPayers of calls that ended before height ${since}`]),
      ...partial.map(({ agentId }) => `services of ${agentId} beyond ${AGENT_SERVICES_MAX}`),
    ],
  }
}

/** Agents of the registry, with their record on the chain. */
export const agentRoster = defineService({
  serviceId: ID,
  name: 'Agent roster',
  description:
    'Registered agents with capabilities, number of services, proven calls, distinct payers, paid volume, success rate and refunds, as the chain has recorded them.',
  brief: 'Lists all registered agents with capabilities, proven calls, payers, volume and success rate.',
  words: 'sellers providers operators registry reputation directory list',
  capability: 'utility',
  priceUsdMicros: 4_000n,
  ...optionalContext(),
  sample: {
    ...sampleEnvelope(ID),
    symbol: 'FAR',
    agents: [
      {
        id: 'farthing-0f677daa2337',
        name: 'Farthing node',
        endpoint: 'https://node.example',
        capabilities: ['explorer', 'search'],
        services: 25,
        provenCalls: 410,
        provenCallsByTab: 120,
        provenCallsStable: null,
        volumeNative: '98.4',
        burnedByTab: '0.024',
        volumeStable: null,
        distinctPayers: 31,
        successRatePct: 99.2682,
        refunds: 3,
        firstSeen: { height: 3, time: '2026-11-01T00:00:12.000Z' },
      },
    ],
    truncated: false,
    basis: BASIS,
    unknown: ['provenCallsStable', 'volumeStable'],
  },
  timeoutMs: 2_000,
  resultBytesMax: 131_072,
  repeatable: true,
  keptPerHead: true,
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  execute: (_, context) => readAtHead(ID, context, () => roster(context)),
})
