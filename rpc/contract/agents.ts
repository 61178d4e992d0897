import { CAPABILITIES, type Capability } from '../../marketplace/ledger/capabilities.ts'
import { ASSET_AMOUNT, AT_HEAD, DECIMAL_TEXT, orNull } from './amounts.ts'
import { RECORD } from './reputation.ts'
import { ADDRESS_TEXT, COUNT, HEIGHT, NEXT_CURSOR, PAGE_QUERY, type Route } from './route.ts'
import * as Type from './schema.ts'
import { TAB_TERMS } from './tabs.ts'

/** One of the capabilities that the protocol has. */
export const CAPABILITY = Type.Unsafe<Capability>({ type: 'string', enum: [...CAPABILITIES] })

const PROVEN = { provenCalls: COUNT, provenVolume: ASSET_AMOUNT, distinctPayers: COUNT }

/** `AgentService` of the OpenAPI document. */
export const SERVICE = Type.Object({
  serviceId: Type.String(),
  name: Type.String(),
  description: Type.String(),
  requestFormat: Type.String(),
  endpoint: Type.String({
    description: 'URL at which the service is called; empty where its agent has no known address',
  }),
  capability: CAPABILITY,
  priceUsd: DECIMAL_TEXT,
  retired: Type.Boolean(),
  publishedAt: HEIGHT,
  ...PROVEN,
  record: RECORD,
})

const AGENT_FIELDS = {
  agentId: Type.String(),
  name: Type.String(),
  endpoint: Type.String({
    description:
      'Base address of the agent: what it registered, or for the agent of this node where it was asked; else empty',
  }),
  capabilities: Type.Array(CAPABILITY),
  registeredAt: HEIGHT,
  ...PROVEN,
  serviceCount: COUNT,
  record: RECORD,
}

/** `Agent` of the OpenAPI document. */
export const AGENT = Type.Object({
  ...AGENT_FIELDS,
  owner: ADDRESS_TEXT,
  payout: ADDRESS_TEXT,
  settlers: Type.Array(ADDRESS_TEXT),
  tabs: orNull(TAB_TERMS),
  services: Type.Array(SERVICE),
  truncated: Type.Boolean(),
})

/** Operations on the chain's registry of all agents, not only on the agent of this node. */
export const AGENT_ROUTES = {
  listAgents: {
    method: 'GET',
    path: '/api/v1/agents',
    operationId: 'listAgents',
    tag: 'market',
    summary: 'Every agent of the registry, by id, with how its paid calls ended',
    description:
      "Counted from receipts on chain; calls by the owner, payout or settlers of the agent do not count. `topPayerPct` is the share of volume of the one caller who paid most, `p95Ms` an upper bound by the operator's own claim; for an agent both are those of its worst service. Agents with many services make a page shorter than its limit.",
    query: Type.Object(
      {
        ...PAGE_QUERY.properties,
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20 })),
      },
      { additionalProperties: false },
    ),
    answers: {
      200: {
        description: 'A page',
        schema: Type.Object({ ...AT_HEAD, agents: Type.Array(Type.Object(AGENT_FIELDS)), nextCursor: NEXT_CURSOR }),
      },
    },
    errors: ['chain/head-moving'],
    bucket: 'list',
  },
  getAgent: {
    method: 'GET',
    path: '/api/v1/agents/{id}',
    operationId: 'getAgent',
    tag: 'market',
    summary: 'One agent with its services, at most 200 of them',
    params: Type.Object({ id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$' }) }),
    answers: { 200: { description: 'The agent', schema: Type.Object({ ...AT_HEAD, agent: AGENT }) } },
    errors: ['rpc/agent-not-found', 'chain/head-moving'],
    bucket: 'list',
  },
} as const satisfies Record<string, Route>
