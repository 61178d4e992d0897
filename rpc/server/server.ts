import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify'
import { fault } from '../../consensus/primitives/fault.ts'
import { ChatDoor } from '../chat/door.ts'
import type { Route } from '../contract/route.ts'
import { type OperationId, ROUTES } from '../contract/table.ts'
import { Connections } from '../edge/connections.ts'
import { Documents } from '../edge/documents.ts'
import { isForm } from '../edge/form.ts'
import { createHttpServer } from '../edge/http-server.ts'
import { believedHops, proxiesOf } from '../edge/proxies.ts'
import { STAND_IN_HOST, withHost } from '../edge/stand-in-host.ts'
import { answerUnreadable } from '../edge/unreadable.ts'
import { HANDLERS } from '../handlers/table.ts'
import type { NodeApi } from '../node/node-api.ts'
import { isOperator } from '../node/operator.ts'
import { type Answer, type ApiRequest, type HandlerOf, isFault } from './answer.ts'
import { HOST_CHARS_MAX } from './limits.ts'
import {
  bodyParsers,
  type Exchange,
  failures,
  mediaTypeFault,
  openFeed,
  openStream,
  Refusal,
  refuseUnroutable,
  type ServerOptions,
  type StreamRoom,
  sendFault,
} from './server-edges.ts'
import { Gates } from './server-gates.ts'
import { Streams } from './streams.ts'

/** The HTTP server over a node, ready to listen. */
export async function createServer(node: NodeApi, options: ServerOptions): Promise<FastifyInstance> {
  const { limits, trustProxy } = options
  const connections = new Connections(limits, proxiesOf(trustProxy))
  const app = Fastify({
    serverFactory: (answer) => createHttpServer(limits, connections, answer),
    bodyLimit: limits.bodyBytesMax,
    trustProxy: believedHops(trustProxy),
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle',
    // The store is still open during the stop, so requests are still answered.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: refuseUnroutable,
    clientErrorHandler: answerUnreadable,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
  })
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  bodyParsers(app)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    done()
  })
  // Before the gates: a browser lets a page read a refusal only if it has the CORS headers.
  await app.register(cors, CORS)
  const gates = new Gates(node, options)
  gates.attach(app)
  failures(app, options, (request) => gates.unread(request))
  const streams = new Streams(limits.streams)
  // `preClose` runs before the server waits for its connections, and streams do not end by themselves.
  app.addHook('preClose', async () => streams.close())
  app.addHook('onClose', async () => connections.close())
  const settle = (request: FastifyRequest): void => gates.settle(request)
  const room = {
    ...{ streams, limits: limits.streams, settle, onError: options.onError },
    isOperator: (shown: string | undefined) => isOperator(node, shown),
  }
  const restsOn = trustProxy !== false && node.publicUrl === null ? ['x-forwarded-proto'] : []
  const library = { documents: new Documents(), restsOn }
  const wiring = { app, node, gates, room, library, door: new ChatDoor(node, limits.receiveTimeoutMs) }
  for (const operation of Object.keys(ROUTES) as OperationId[]) addRoute(wiring, operation)
  return app
}

/** Without `allowedHeaders`, the plugin allows every request header that the preflight names. */
const CORS = {
  origin: '*',
  methods: ['GET', 'HEAD', 'POST', 'DELETE'],
  strictPreflight: false,
  exposedHeaders: [
    'x-request-id',
    'retry-after',
    'ratelimit',
    'ratelimit-policy',
    'etag',
    'mcp-session-id',
    'idempotent-replay',
    'retry-after-ms',
    'x-should-retry',
    'x-usage-estimated',
    ...['limit', 'remaining', 'reset'].flatMap((of) => [`x-ratelimit-${of}-requests`, `x-ratelimit-${of}-tokens`]),
    'payment-required',
    'payment-response',
    'x-payment-response',
  ],
  maxAge: 86_400,
}

interface Wiring {
  readonly app: FastifyInstance
  readonly node: NodeApi
  readonly gates: Gates
  readonly room: StreamRoom
  readonly library: DocumentRoom
  readonly door: ChatDoor
}

function addRoute(wiring: Wiring, operation: OperationId): void {
  const { app, node, door } = wiring
  const route: Route = ROUTES[operation]
  const schema = {
    ...(route.params === undefined ? {} : { params: route.params }),
    ...(route.query !== undefined || isStrict(route) ? { querystring: route.query ?? NO_QUERY } : {}),
    ...(route.body === undefined || isFreeForm(route) ? {} : { body: bodySchema(route) }),
  }
  app.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    schema,
    ...(route.bodyBytesMax !== undefined && { bodyLimit: route.bodyBytesMax }),
    config: {
      bucket: route.bucket,
      ...(route.isOpenAi && { isOpenAi: route.isOpenAi }),
      ...(route.isPaid && { isPaid: route.isPaid }),
      ...(route.dialect && { dialect: route.dialect }),
      ...(route.takesTabs && { takesTabs: route.takesTabs }),
      ...(route.takesForm && { takesForm: route.takesForm }),
    },
    ...(route.isOpenAi && doorHooks(door, route)),
    preValidation: (request, _, done) => {
      if (node.publicUrl === null && !isAuthority(hostOf(request)))
        return done(
          new Refusal(
            fault('rpc/invalid-request', { fields: ['the header host must be a name with or without a port'] }),
          ),
        )
      // The scheme begins every address in an answer. A proxy that sets no X-Forwarded-Proto passes on the client's.
      if (node.publicUrl === null && !isScheme(request.protocol))
        return done(
          new Refusal(fault('rpc/invalid-request', { fields: ['the header x-forwarded-proto must be http or https'] })),
        )
      if (route.operator === 'required' && !isOperator(node, request.headers.authorization))
        return done(new Refusal(fault('rpc/unauthorized')))
      if (request.body instanceof Uint8Array && route.takesBytes !== true)
        return done(new Refusal(mediaTypeFault(request)))
      if (request.body !== undefined && isForm(request.headers['content-type']) !== (route.takesForm === true))
        return done(new Refusal(mediaTypeFault(request)))
      // Indexers probe paid paths without a body, which counts as an empty object.
      if (route.body !== undefined && !isFreeForm(route)) request.body ??= {}
      readQuery(route, request)
      done()
    },
    handler: async (request, reply) => await serve(wiring, operation, { request, reply }),
  })
}

async function serve({ node, gates, room, library }: Wiring, operation: OperationId, exchange: Exchange) {
  const { request, reply } = exchange
  const route: Route = ROUTES[operation]
  const handler = HANDLERS[operation] as HandlerOf<unknown, unknown, unknown>
  const release = gates.hold(request)
  const work = async () => handler(node, apiRequest(node, exchange, route))
  const result = await work().finally(release)
  if (isFault(result)) return sendFault(reply, request, result)
  if ('feed' in result) return openFeed(exchange, result.feed, room)
  if ('stream' in result) return openStream(exchange, result.stream, room)
  return route.isDocument === true ? sendDocument(exchange, result, library) : send(reply, result)
}

type WholeAnswer = Exclude<Answer, { readonly stream: unknown } | { readonly feed: unknown }>

function send(reply: FastifyReply, result: WholeAnswer): FastifyReply {
  if ('response' in result) return reply.send(result.response)
  reply.code(result.status)
  if (result.headers !== undefined) reply.headers(result.headers)
  if ('json' in result) return reply.type(JSON_TYPE).send(JSON.stringify(result.json))
  const { content, contentType, sent } = result
  if (sent !== undefined) reply.raw.once('finish', sent)
  return reply.type(contentType).send(typeof content === 'string' ? content : Buffer.from(content))
}

interface DocumentRoom {
  readonly documents: Documents
  /**
   * Headers that every document depends on, besides `Host` and `Accept-Encoding`. `Vary` names them, so caches keep a copy
   * for each value.
   */
  readonly restsOn: readonly string[]
}

/** An answer that is no document, such as a refusal, goes out uncompressed and without an ETag. */
async function sendDocument(
  { request, reply }: Exchange,
  result: WholeAnswer,
  { documents, restsOn }: DocumentRoom,
): Promise<FastifyReply> {
  if ('response' in result) return send(reply, result)
  const isJson = 'json' in result
  const made = isJson ? JSON.stringify(result.json) : result.content
  if (typeof made !== 'string') return send(reply, result)
  const text = withHost(made, request.headers.host ?? '')
  const contentType = isJson ? JSON_TYPE : result.contentType
  const { status, headers } = result
  if (status !== 200) return send(reply, { status, content: text, contentType, ...(headers && { headers }) })
  const { 'accept-encoding': acceptEncoding, 'if-none-match': ifNoneMatch } = request.headers
  const form = await documents.answer(text, { acceptEncoding: acceptEncoding?.toString(), ifNoneMatch })
  reply.code(form.status)
  if (result.headers !== undefined) reply.headers(result.headers)
  const varied = [reply.getHeader('vary') ?? [], 'accept-encoding', ...restsOn]
  reply.headers({ ...form.headers, vary: varied.flat().join(', ') })
  if (form.status === 304) return reply.send()
  return reply.type(contentType).send(form.body)
}

const JSON_TYPE = 'application/json; charset=utf-8'
const NO_QUERY = { type: 'object', properties: {}, additionalProperties: false }

/**
 * Whether a route refuses unknown query words. Documents, pages, health checks and foreign protocols do not: their
 * callers add words for other programs, such as `utm_source`.
 */
function isStrict({ isDocument, dialect, isOpenAi, takesForm, bucket, answers }: Route): boolean {
  const { contentType, alsoAs } = answers[200] ?? {}
  const isPage = takesForm === true || contentType === 'text/html' || alsoAs === 'text/html'
  return !(isDocument || dialect || isOpenAi || isPage || bucket === 'health')
}

/** Whether the handler gets the parsed body unchecked. */
function isFreeForm({ dialect, isOpenAi }: Route): boolean {
  return dialect !== undefined || isOpenAi === true
}

/** For the OpenAI interface: the check of the key, and the limit headers of every answer. */
function doorHooks(door: ChatDoor, route: Route): Pick<RouteOptions, 'onRequest' | 'onSend'> {
  return {
    onRequest: (request, reply, done) => {
      const refusal = door.enter(route, request, reply)
      done(refusal === null ? undefined : new Refusal(refusal))
    },
    onSend: (request, reply, payload, done) => {
      door.tell(request, reply)
      done(null, payload)
    },
  }
}

/** A route that takes raw bytes too checks only that JSON is an object. */
function bodySchema({ body, takesBytes = false }: Route): object {
  return takesBytes ? { content: { 'application/json': { schema: { type: 'object' } } } } : (body as object)
}

/**
 * Turns numbers in a query from text into numbers. For a document it drops unknown words: links carry words for
 * other programs, such as `utm_source`.
 */
function readQuery({ query, isDocument }: Route, request: FastifyRequest): void {
  const values = request.query as Record<string, unknown>
  const properties = (query as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {}
  if (isDocument) for (const name of Object.keys(values)) if (!Object.hasOwn(properties, name)) delete values[name]
  for (const [name, { type }] of Object.entries(properties)) {
    const value = values[name]
    if (type === 'integer' && typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value)) values[name] = Number(value)
  }
}

function apiRequest(
  node: NodeApi,
  { request, reply: { raw } }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { isDocument }: Route,
): ApiRequest {
  let gone: AbortSignal | undefined
  return {
    get signal() {
      gone ??= goneSignal(raw)
      return gone
    },
    params: request.params as Record<string, string>,
    query: request.query as Record<string, string>,
    body: request.body,
    ...(request.bodyText !== undefined && { bodyText: request.bodyText }),
    accept: request.headers.accept ?? '',
    headers: headersOf(request),
    address: request.ip,
    requestId: request.id,
    isOperator: isOperator(node, request.headers.authorization),
    baseUrl: baseUrlOf(node, request.protocol, isDocument === true ? STAND_IN_HOST : hostOf(request)),
  }
}

function goneSignal(raw: FastifyReply['raw']): AbortSignal {
  const gone = new AbortController()
  const told = (): void => {
    if (!raw.writableFinished) gone.abort()
  }
  if (raw.closed) told()
  else raw.once('close', told)
  return gone.signal
}

function headersOf({ headers }: FastifyRequest): ApiRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()]))
}

function baseUrlOf({ publicUrl }: NodeApi, protocol: string, host: string): string {
  return publicUrl ?? `${protocol}://${host}`
}

/**
 * The host that a request names. X-Forwarded-Host is not read: few proxies set it, so a client may have written it, and
 * caches ignore it when they look up a document.
 */
function hostOf({ headers }: FastifyRequest): string {
  return headers.host ?? ''
}

/**
 * Whether a host can be part of an address in an answer. Without a public address, documents repeat the request's
 * host many times, and caches keep them for other callers.
 */
function isAuthority(host: string): boolean {
  return host.length <= HOST_CHARS_MAX && /^[\w.~%:[\]-]*$/.test(host)
}

function isScheme(protocol: string): boolean {
  return protocol === 'http' || protocol === 'https'
}
