import type { Route } from './route.ts'
import * as Type from './schema.ts'

const ID = Type.Union([Type.String(), Type.Number(), Type.Null()])

/** A JSON-RPC 2.0 request, or a notification, which has no `id`. */
export const JSON_RPC_REQUEST = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String(), Type.Number()])),
    method: Type.String(),
    params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: true, description: 'A JSON-RPC 2.0 request, or without id a notification' },
)

/** A JSON-RPC 2.0 error. */
export const JSON_RPC_FAILURE = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(ID),
    error: Type.Object({
      code: Type.Integer(),
      message: Type.String(),
      data: Type.Optional(Type.Unknown()),
    }),
  },
  { description: 'A JSON-RPC 2.0 error' },
)

const RESULT = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.String(), Type.Number()]),
  result: Type.Record(Type.String(), Type.Unknown()),
})

/** The answer to a JSON-RPC 2.0 request: its result, or an error. */
export const JSON_RPC_ANSWER = Type.Union([RESULT, JSON_RPC_FAILURE], {
  description: 'Result or error of a JSON-RPC 2.0 request',
})

const REFUSED = { description: 'Refused; the error says why', schema: JSON_RPC_FAILURE } as const

/** Every refusal of a route that speaks JSON-RPC is an error of that protocol. */
const REFUSALS = {
  400: REFUSED,
  403: REFUSED,
  404: REFUSED,
  406: REFUSED,
  413: REFUSED,
  415: REFUSED,
  429: REFUSED,
  500: REFUSED,
  503: REFUSED,
} as const

/** The routes for agents that speak MCP or A2A instead of plain HTTP. */
export const AGENT_DOOR_ROUTES = {
  callMcp: {
    method: 'POST',
    path: '/api/mcp',
    operationId: 'callMcp',
    tag: 'market',
    summary: 'Model Context Protocol: services as tools, paid in-band',
    description:
      'One JSON-RPC message of MCP, revisions 2025-03-26 to 2026-07-28, without sessions. Tools named after a service are paid: without payment they answer with their x402 terms, the payment comes in `_meta["x402/payment"]`.',
    query: Type.Object(
      { net: Type.Optional(Type.String({ maxLength: 20, description: 'mainnet' })) },
      { additionalProperties: true },
    ),
    body: JSON_RPC_REQUEST,
    answers: {
      200: { description: 'The answer to a request', schema: JSON_RPC_ANSWER },
      202: { description: 'A notification was taken' },
      ...REFUSALS,
    },
    dialect: 'json-rpc',
    errors: ['rpc/foreign-host', 'rpc/foreign-origin', 'rpc/unsupported-network', 'market/claims-away'],
    bucket: 'mcp',
  },
  callA2a: {
    method: 'POST',
    path: '/a2a',
    operationId: 'callA2a',
    tag: 'market',
    summary: 'Agent2Agent: services as skills, paid in message metadata',
    description:
      'One JSON-RPC request of A2A 1.0 (`SendMessage`, `GetTask`, `CancelTask`) or 0.3 (`message/send`, `tasks/get`, `tasks/cancel`). Terms and payment travel in the metadata of messages, as the x402 extension has them.',
    body: JSON_RPC_REQUEST,
    answers: { 200: { description: 'The answer to a request', schema: JSON_RPC_ANSWER }, ...REFUSALS },
    dialect: 'json-rpc',
    errors: ['rpc/no-market', 'market/claims-away'],
    bucket: 'mcp',
  },
} as const satisfies Record<string, Route>
