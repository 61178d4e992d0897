import { ADDRESS_TEXT, COUNT, HEIGHT, HEX_32, MOMENT, type Route, UINT_TEXT } from './route.ts'
import * as Type from './schema.ts'

/** How far the node is behind the network, by its own knowledge. */
export const SYNC = Type.Object({
  state: Type.Union(
    (['starting', 'headers', 'snapshot', 'bodies', 'synced'] as const).map((state) => Type.Literal(state)),
    { description: 'Nothing known yet; proving headers; taking a snapshot; fetching blocks; at the best head known' },
  ),
  height: HEIGHT,
  headersHeight: Type.Integer({ minimum: 0, description: 'Height up to which headers are proven' }),
  targetHeight: Type.Integer({ minimum: 0, description: 'Greatest height that is known from peers or held here' }),
  peers: COUNT,
  blocksPerSecond: Type.Number({ minimum: 0, description: 'Over the last minute; 0 until measured' }),
  secondsLeft: Type.Union([Type.Number({ minimum: 0 }), Type.Null()], { description: 'Estimate; null until measured' }),
  behind: Type.Boolean({
    description: 'Whether the network has more blocks than this node, or must be assumed to',
  }),
})

/** `NodeStatus` of the OpenAPI document. */
export const STATUS = Type.Object({
  version: Type.String(),
  networkName: Type.String(),
  network: Type.Literal('mainnet'),
  chainId: Type.Integer(),
  genesis: HEX_32,
  rules: HEX_32,
  ticker: Type.String(),
  decimals: COUNT,
  addressPrefix: Type.String(),
  height: HEIGHT,
  executedFrom: Type.Integer({
    minimum: 0,
    description: 'First height whose block was executed here: transactions by id and receipts are known from there on',
  }),
  indexedFrom: Type.Integer({
    minimum: 0,
    description: 'Height from which on histories, trades, candles and outcomes of calls are complete',
  }),
  held: Type.Object(
    { bodiesFrom: HEIGHT, witnessesFrom: HEIGHT },
    { description: 'Heights from which on transactions, and their witnesses, are held' },
  ),
  sync: Type.Union([SYNC, Type.Null()], { description: 'Null where the peer-to-peer network is off' }),
  blockId: HEX_32,
  blockTime: MOMENT,
  stateRoot: HEX_32,
  totalWork: UINT_TEXT,
  difficulty: UINT_TEXT,
  baseFee: UINT_TEXT,
  mempool: Type.Object({ count: COUNT, bytes: COUNT }),
  peers: COUNT,
  mining: Type.Object({
    threads: COUNT,
    hashesPerSecond: Type.Number(),
    rewardTo: Type.Union([ADDRESS_TEXT, Type.Null()]),
  }),
  market: Type.Object({
    enabled: Type.Boolean(),
    agentId: Type.Union([Type.String(), Type.Null()]),
    services: COUNT,
    available: COUNT,
    running: COUNT,
    receiptsOwed: COUNT,
  }),
  ready: Type.Boolean(),
  warnings: Type.Array(Type.String()),
  startedAt: MOMENT,
})

/** Operations for the operator and for monitoring. */
export const OPERATIONS_ROUTES = {
  getStatus: {
    method: 'GET',
    path: '/api/v1/status',
    operationId: 'getStatus',
    tag: 'operations',
    summary: 'Identity and state of this node',
    answers: { 200: { description: 'Status', schema: STATUS } },
    bucket: 'read',
  },
  getHealth: {
    method: 'GET',
    path: '/health',
    operationId: 'getHealth',
    tag: 'operations',
    summary: 'Liveness: the process answers',
    answers: { 200: { description: 'Alive', schema: Type.Object({ status: Type.Literal('ok') }) } },
    bucket: 'health',
  },
  getReady: {
    method: 'GET',
    path: '/ready',
    operationId: 'getReady',
    tag: 'operations',
    summary: 'Readiness, with the reasons where it is not ready',
    answers: {
      200: {
        description: 'Ready',
        schema: Type.Object({ ready: Type.Literal(true), reasons: Type.Array(Type.String()) }),
      },
      503: {
        description: 'Not ready',
        schema: Type.Object({ ready: Type.Literal(false), reasons: Type.Array(Type.String()) }),
      },
    },
    bucket: 'health',
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    operationId: 'getMetrics',
    tag: 'operations',
    summary: 'Metrics in the Prometheus text format',
    answers: { 200: { description: 'Metrics', contentType: 'text/plain' } },
    bucket: 'health',
  },
  getOpenApi: {
    method: 'GET',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    tag: 'operations',
    summary: 'This document',
    answers: {
      200: {
        description: 'The OpenAPI 3.1 document of this API',
        schema: Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
      },
    },
    isDocument: true,
    bucket: 'read',
  },
  getHome: {
    method: 'GET',
    path: '/',
    operationId: 'getHome',
    tag: 'operations',
    summary: 'A page for people, JSON for programs',
    description: 'HTML where `Accept` asks for it, else links to the other documents.',
    answers: {
      200: {
        description: 'Links',
        schema: Type.Object({ name: Type.String(), links: Type.Record(Type.String(), Type.String()) }),
        alsoAs: 'text/html',
      },
    },
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
