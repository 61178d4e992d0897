import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { fault } from '../consensus/primitives/fault.ts'
import { type ApiRequest, isFault } from './answer.ts'
import type { Route } from './contract/route.ts'
import { type OperationId, ROUTES } from './contract/table.ts'
import { HANDLERS } from './handlers/table.ts'
import type { NodeApi } from './node.ts'
import { isOperator } from './operator.ts'
import {
  bodyParsers,
  failures,
  guards,
  mediaTypeFault,
  openStream,
  Refusal,
  refuseUnroutable,
  type ServerOptions,
  send,
  sendFault,
} from './server-edges.ts'
import { Streams } from './streams.ts'

const MINUTE_MS = 60_000

/** The HTTP server over a node, ready to listen. */
export async function createServer(node: NodeApi, options: ServerOptions): Promise<FastifyInstance> {
  const { limits, trustProxy } = options
  const app = Fastify({
    bodyLimit: limits.bodyBytesMax,
    requestTimeout: limits.receiveTimeoutMs,
    trustProxy,
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle',
    // Who asks while the node stops is still answered as long as the store is open.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: refuseUnroutable,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
  })
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  bodyParsers(app)
  const settle = guards(app, options)
  failures(app, options)
  await app.register(cors, CORS)
  await app.register(rateLimit, {
    global: false,
    errorResponseBuilder: (_, { ttl }) => new Refusal(fault('rpc/rate-limited', { seconds: Math.ceil(ttl / 1_000) })),
  })
  const streams = new Streams(limits.streams)
  // Before the server waits for its connections: a stream ends by itself only when it is told to.
  app.addHook('preClose', async () => streams.close())
  const wiring = { app, node, options, streams, settle }
  for (const operation of Object.keys(ROUTES) as OperationId[]) addRoute(wiring, operation)
  return app
}

const CORS = {
  origin: '*',
  strictPreflight: false,
  exposedHeaders: [
    'x-request-id',
    'retry-after',
    'idempotent-replay',
    'payment-required',
    'payment-response',
    'x-payment-response',
  ],
  maxAge: 86_400,
}

interface Wiring {
  readonly app: FastifyInstance
  readonly node: NodeApi
  readonly options: ServerOptions
  readonly streams: Streams
  readonly settle: (request: FastifyRequest) => void
}

function addRoute({ app, node, options, streams, settle }: Wiring, operation: OperationId): void {
  const route: Route = ROUTES[operation]
  const handler = HANDLERS[operation]
  const schema = {
    ...(route.params === undefined ? {} : { params: route.params }),
    ...(route.query === undefined ? {} : { querystring: route.query }),
    ...(route.body === undefined || route.dialect !== undefined ? {} : { body: bodySchema(route) }),
  }
  app.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    schema,
    config: {
      ...(route.dialect && { dialect: route.dialect }),
      rateLimit: { max: options.limits.ratesPerMinute[route.bucket], timeWindow: MINUTE_MS, groupId: route.bucket },
    },
    preValidation: (request, _, done) => {
      if (route.operator === 'required' && node.network && !isOperator(node, request.headers.authorization))
        return done(new Refusal(fault('rpc/unauthorized')))
      if (request.body instanceof Uint8Array && route.takesBytes !== true)
        return done(new Refusal(mediaTypeFault(request)))
      // Indexers probe paid paths with no body at all; numbers in a query arrive as text.
      if (route.body !== undefined && route.dialect === undefined) request.body ??= {}
      coerceQuery(route, request)
      done()
    },
    handler: async (request, reply) => {
      const result = await handler(node, apiRequest(node, request))
      if (isFault(result)) return sendFault(reply, request, result)
      if ('stream' in result) return openStream({ request, reply }, result.stream, { streams, settle })
      return send(reply, result)
    },
  })
}

/** Raw bytes are a body too where transactions are taken; JSON is checked as documented. */
function bodySchema({ body, takesBytes = false }: Route): object {
  return takesBytes ? { content: { 'application/json': { schema: { type: 'object' } } } } : (body as object)
}

function coerceQuery({ query }: Route, request: FastifyRequest): void {
  const values = request.query as Record<string, unknown>
  const properties = (query as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {}
  for (const [name, { type }] of Object.entries(properties)) {
    const value = values[name]
    if (type === 'integer' && typeof value === 'string' && /^[0-9]{1,9}$/.test(value)) values[name] = Number(value)
  }
}

function apiRequest(node: NodeApi, request: FastifyRequest): ApiRequest {
  return {
    params: request.params as Record<string, string>,
    query: request.query as Record<string, string>,
    body: request.body,
    accept: request.headers.accept ?? '',
    headers: headersOf(request),
    address: request.ip,
    requestId: request.id,
    isOperator: isOperator(node, request.headers.authorization),
    baseUrl: baseUrlOf(node, request),
  }
}

function headersOf({ headers }: FastifyRequest): ApiRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]))
}

function baseUrlOf({ publicUrl }: NodeApi, request: FastifyRequest): string {
  return publicUrl ?? `${request.protocol}://${request.host}`
}
