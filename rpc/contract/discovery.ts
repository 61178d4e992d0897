import { COUNT, MOMENT, type Route } from './route.ts'
import * as Type from './schema.ts'

const FILTERS = {
  type: Type.Optional(Type.String({ maxLength: 20, description: 'Transport of the resource; all of ours are `http`' })),
  payTo: Type.Optional(Type.String({ maxLength: 90 })),
  scheme: Type.Optional(
    Type.String({ maxLength: 40, description: '`exact` or `native-x402`; offers of tabs are not listed' }),
  ),
  network: Type.Optional(Type.String({ maxLength: 60, description: 'As the offers name it: CAIP-2, or a word' })),
  extensions: Type.Optional(Type.String({ maxLength: 60, description: 'An extension that the offer must have' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
}

const LIST_QUERY = Type.Object(
  {
    ...FILTERS,
    offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
    x402Version: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2, default: 2, description: '1 gives offers in the shape of generation 1' }),
    ),
  },
  { additionalProperties: true },
)

const SEARCH_QUERY = Type.Object(
  {
    ...FILTERS,
    query: Type.Optional(Type.String({ maxLength: 200, description: 'Words that the service must be described by' })),
    q: Type.Optional(
      Type.String({ maxLength: 200, description: 'The same as `query`, under its name in `/services.json`' }),
    ),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' })),
  },
  { additionalProperties: true },
)

const GENERATION = Type.Integer({ minimum: 1, maximum: 2 })

/** A service as x402 catalogues list it. */
export const ITEM = Type.Object(
  {
    resource: Type.String({ description: 'Address to call; where the stablecoin rail is on, with the filter for it' }),
    type: Type.Literal('http'),
    x402Version: GENERATION,
    accepts: Type.Array(Type.Record(Type.String(), Type.Unknown()), { minItems: 1 }),
    lastUpdated: MOMENT,
    metadata: Type.Object(
      {
        category: Type.String(),
        provider: Type.String(),
        serviceId: Type.String(),
        input: Type.Object({ request: Type.String() }),
        requestFormat: Type.String(),
        outputSchema: Type.Record(Type.String(), Type.Unknown()),
      },
      { additionalProperties: true },
    ),
  },
  { additionalProperties: true },
)

const LIST = Type.Object({
  x402Version: GENERATION,
  items: Type.Array(ITEM),
  pagination: Type.Object({ limit: COUNT, offset: COUNT, total: COUNT }),
})

const FOUND = Type.Object({
  x402Version: Type.Literal(2),
  resources: Type.Array(ITEM),
  partialResults: Type.Boolean(),
  pagination: Type.Object({ limit: COUNT, cursor: Type.Union([Type.String(), Type.Null()]) }),
})

const SKILL = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  tags: Type.Array(Type.String()),
  examples: Type.Array(Type.String()),
  inputModes: Type.Array(Type.String()),
  outputModes: Type.Array(Type.String()),
})

/** The A2A card of an agent. */
export const CARD = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    version: Type.String(),
    supportedInterfaces: Type.Array(
      Type.Object({
        url: Type.String(),
        protocolBinding: Type.Literal('JSONRPC'),
        protocolVersion: Type.Literal('1.0'),
      }),
    ),
    protocolVersion: Type.Literal('0.3.0'),
    url: Type.String(),
    preferredTransport: Type.Literal('JSONRPC'),
    capabilities: Type.Object({}, { additionalProperties: true }),
    defaultInputModes: Type.Array(Type.String()),
    defaultOutputModes: Type.Array(Type.String()),
    skills: Type.Array(SKILL),
  },
  { additionalProperties: true },
)

const PAGE = { contentType: 'text/html' } as const

/** Documents through which agents and people find the market. */
export const DISCOVERY_ROUTES = {
  listResources: {
    method: 'GET',
    path: '/x402/discovery',
    operationId: 'listResources',
    tag: 'market',
    summary: 'Services that can be bought now, as x402 catalogues list them',
    query: LIST_QUERY,
    answers: { 200: { description: 'A page of the list', schema: LIST } },
    isDocument: true,
    bucket: 'read',
  },
  listFacilitatorResources: {
    method: 'GET',
    path: '/discovery/resources',
    operationId: 'listFacilitatorResources',
    tag: 'market',
    summary: 'The same list at the path that facilitator clients use',
    query: LIST_QUERY,
    answers: { 200: { description: 'A page of the list', schema: LIST } },
    isDocument: true,
    bucket: 'read',
  },
  searchResources: {
    method: 'GET',
    path: '/discovery/search',
    operationId: 'searchResources',
    tag: 'market',
    summary: 'Services that can be bought now, searched by words',
    query: SEARCH_QUERY,
    answers: { 200: { description: 'What was found', schema: FOUND } },
    isDocument: true,
    bucket: 'read',
  },
  getAgentCard: {
    method: 'GET',
    path: '/.well-known/agent-card.json',
    operationId: 'getAgentCard',
    tag: 'market',
    summary: 'The A2A card of this agent, for 1.0 and 0.3 alike',
    answers: { 200: { description: 'The card', schema: CARD } },
    isDocument: true,
    errors: ['rpc/no-market'],
    bucket: 'read',
  },
  getAgentJson: {
    method: 'GET',
    path: '/.well-known/agent.json',
    operationId: 'getAgentJson',
    tag: 'market',
    summary: 'The A2A card under its older name',
    answers: { 200: { description: 'The card', schema: CARD } },
    isDocument: true,
    errors: ['rpc/no-market'],
    bucket: 'read',
  },
  getLlms: {
    method: 'GET',
    path: '/llms.txt',
    operationId: 'getLlms',
    tag: 'market',
    summary: 'What language models should know of this node',
    answers: { 200: { description: 'Markdown', contentType: 'text/plain' } },
    isDocument: true,
    bucket: 'read',
  },
  getLlmsFull: {
    method: 'GET',
    path: '/llms-full.txt',
    operationId: 'getLlmsFull',
    tag: 'market',
    summary: 'The same with every service, its price and an example',
    answers: { 200: { description: 'Markdown', contentType: 'text/plain' } },
    isDocument: true,
    bucket: 'read',
  },
  getRobots: {
    method: 'GET',
    path: '/robots.txt',
    operationId: 'getRobots',
    tag: 'market',
    summary: 'What crawlers may read',
    answers: { 200: { description: 'Rules', contentType: 'text/plain' } },
    isDocument: true,
    bucket: 'read',
  },
  getSitemap: {
    method: 'GET',
    path: '/sitemap.xml',
    operationId: 'getSitemap',
    tag: 'market',
    summary: 'The pages for people',
    answers: { 200: { description: 'A sitemap', contentType: 'application/xml' } },
    isDocument: true,
    bucket: 'read',
  },
  getCatalogue: {
    method: 'GET',
    path: '/agents',
    operationId: 'getCatalogue',
    tag: 'market',
    summary: 'The catalogue for people: every service with price, state and record',
    description: 'Made by the server, works without scripts. `q` and `capability` filter.',
    query: Type.Object(
      {
        q: Type.Optional(Type.String({ maxLength: 200 })),
        query: Type.Optional(Type.String({ maxLength: 200, description: 'The same as `q`' })),
        capability: Type.Optional(Type.String({ maxLength: 40 })),
      },
      { additionalProperties: true },
    ),
    answers: { 200: { description: 'The page', ...PAGE } },
    isDocument: true,
    bucket: 'read',
  },
  getServicePage: {
    method: 'GET',
    path: '/agents/{serviceId}',
    operationId: 'getServicePage',
    tag: 'market',
    summary: 'One service for people: price, record, how it is called, a free sample',
    params: Type.Object({ serviceId: Type.String({ minLength: 1, maxLength: 200 }) }),
    answers: {
      200: { description: 'The page', ...PAGE },
      404: { description: 'A page that says that there is no such service', ...PAGE },
    },
    isDocument: true,
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
