import { Type } from 'typebox'
import { ADDRESS_TEXT, COUNT, HEIGHT, HEX_32, MOMENT, type Route, UINT_TEXT } from './route.ts'

const STATUS = Type.Object({
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
  indexedFrom: HEIGHT,
  held: Type.Object({ bodiesFrom: HEIGHT, witnessesFrom: HEIGHT }),
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

/** Operations for those who run the node. */
export const OPERATIONS_ROUTES = {
  getStatus: {
    method: 'GET',
    path: '/api/v1/status',
    operationId: 'getStatus',
    tag: 'operations',
    summary: 'What this node is and where it stands',
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
      },
    },
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
