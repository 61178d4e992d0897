import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Fault, fault, faultRow } from '../consensus/primitives/fault.ts'
import type { Answer, StreamBegin } from './answer.ts'
import type { Route } from './contract/route.ts'
import { ROUTES } from './contract/table.ts'
import { errorBody, errorHeaders, errorType } from './faults.ts'
import { failure, faultToJsonRpc } from './json-rpc.ts'
import type { HttpLimits } from './limits.ts'
import type { Streams } from './streams.ts'

/** What a server is made with. */
export interface ServerOptions {
  readonly limits: HttpLimits
  /** Whether X-Forwarded-* of the proxy in front is believed. */
  readonly trustProxy: boolean
  /** Hears of errors that are bugs. */
  readonly onError: (error: unknown, requestId: string) => void
  /** Hears of every answer: for logs and metrics. */
  readonly onAnswer: (facts: AnswerFacts) => void
}

/** One answered request, for logs and metrics. */
export interface AnswerFacts {
  readonly requestId: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly seconds: number
}

/** Carries a fault through fastify's error path. */
export class Refusal extends Error {
  readonly fault: Fault

  constructor(cause: Fault) {
    super(cause.code)
    this.fault = cause
  }
}

/** Sends a handler's answer, if it is no stream. */
export function send(reply: FastifyReply, result: Exclude<Answer, { readonly stream: unknown }>): FastifyReply {
  if ('response' in result) return reply.send(result.response)
  reply.code(result.status)
  if (result.headers !== undefined) reply.headers(result.headers)
  if ('json' in result) return reply.type('application/json; charset=utf-8').send(JSON.stringify(result.json))
  const { content, contentType, sent } = result
  if (sent !== undefined) reply.raw.once('finish', sent)
  return reply.type(contentType).send(typeof content === 'string' ? content : Buffer.from(content))
}

/** Sends a fault in the error envelope, or as an error of the protocol that the route speaks. */
export function sendFault(reply: FastifyReply, request: FastifyRequest, cause: Fault): FastifyReply {
  const { dialect } = (request.routeOptions?.config ?? {}) as Pick<Route, 'dialect'>
  if (dialect === 'json-rpc') return sendProtocolFault(reply, request, cause)
  const accept = request.headers.accept ?? ''
  const body = errorBody(cause, { requestId: request.id, accept, path: pathOf(request) })
  return reply
    .code(faultRow(cause.code).status)
    .headers(errorHeaders(cause))
    .type(errorType(accept))
    .send(JSON.stringify(body))
}

function sendProtocolFault(reply: FastifyReply, request: FastifyRequest, cause: Fault): FastifyReply {
  return reply
    .code(faultRow(cause.code).status)
    .headers(errorHeaders(cause))
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(failure(null, faultToJsonRpc(cause, request.id))))
}

/** JSON and raw bytes are read, nothing else; an empty JSON body is no body. */
export function bodyParsers(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parseJson(request, body as string, done)
  })
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
}

/** Opens a stream in place of an answer. It counts no longer as a request under way: streams have a bound of their own. */
export function openStream(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  begin: StreamBegin,
  { streams, settle }: { readonly streams: Streams; readonly settle: (request: FastifyRequest) => void },
): FastifyReply {
  if (request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send('')
  const place = { raw: reply.raw, address: request.ip, headers: reply.getHeaders() }
  const cause = streams.open(place, begin)
  if (cause !== null) return sendFault(reply, request, cause)
  reply.hijack()
  settle(request)
  return reply
}

/** Headers of every answer, the bound on requests at once, and what is told of each: by the function given back, or at its end. */
export function guards(
  app: FastifyInstance,
  { limits, onAnswer }: Pick<ServerOptions, 'limits' | 'onAnswer'>,
): (request: FastifyRequest) => void {
  let running = 0
  const under = new WeakMap<FastifyRequest, () => void>()
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    running += 1
    const startedMs = performance.now()
    const settle = (): void => {
      if (!under.delete(request)) return
      running -= 1
      const seconds = (performance.now() - startedMs) / 1_000
      const route = request.routeOptions.url ?? 'unknown'
      onAnswer({ requestId: request.id, method: request.method, route, status: reply.statusCode, seconds })
    }
    under.set(request, settle)
    // 'close' comes for answered and for abandoned requests alike.
    reply.raw.once('close', settle)
    if (running > limits.concurrentMax) sendFault(reply, request, fault('rpc/busy'))
    else done()
  })
  return (request) => under.get(request)?.()
}

/** Everything that goes wrong outside a handler becomes the same envelope; a bug is told and shows nothing of itself. */
export function failures(app: FastifyInstance, { onError, limits }: ServerOptions): void {
  app.setErrorHandler((error: FastifyError | Refusal, request, reply) => {
    const cause = faultOf(error, request, limits)
    if (cause.code === 'rpc/internal') onError(error, request.id)
    return sendFault(reply, request, cause)
  })
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request)
    const allowed = methodsAt(path)
    if (allowed.length === 0) return sendFault(reply, request, fault('rpc/not-found', { path: path.slice(0, 200) }))
    reply.header('allow', allowed.join(', '))
    return sendFault(
      reply,
      request,
      fault('rpc/method-not-allowed', { method: request.method, path: path.slice(0, 200) }),
    )
  })
}

function faultOf(error: FastifyError | Refusal, request: FastifyRequest, { bodyBytesMax }: HttpLimits): Fault {
  if (error instanceof Refusal) return error.fault
  switch (error.code) {
    case 'FST_ERR_VALIDATION':
      return fault('rpc/invalid-request', { fields: (error.validation ?? []).map(fieldText) })
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return fault('rpc/body-too-large', { limitBytes: bodyBytesMax })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return mediaTypeFault(request)
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return fault('rpc/malformed-json', { reason: 'its length is not the one announced' })
    default:
      return malformedOrBug(error)
  }
}

/** A body of a type that is not read here. */
export function mediaTypeFault({ headers }: FastifyRequest): Fault {
  return fault('rpc/media-type', { contentType: String(headers['content-type'] ?? 'none').slice(0, 100) })
}

/** Refuses a path that no route can be looked up for; hooks do not run for it. */
export function refuseUnroutable(_: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('x-request-id', request.id)
  return sendFault(reply, request, fault('rpc/invalid-request', { fields: ['the path'] }))
}

/** Errors of the JSON parser and of the router on bad bytes have a 4xx status; anything else is ours. */
function malformedOrBug(error: FastifyError): Fault {
  const { statusCode = 500 } = error
  if (statusCode >= 400 && statusCode < 500) return fault('rpc/malformed-json', { reason: error.message.slice(0, 120) })
  return fault('rpc/internal')
}

function fieldText({
  instancePath,
  message,
  params,
}: {
  instancePath: string
  message?: string | undefined
  params: Record<string, unknown>
}): string {
  const extra = typeof params.additionalProperty === 'string' ? ` (${params.additionalProperty.slice(0, 40)})` : ''
  return `${instancePath || '/'} ${message ?? 'is invalid'}${extra}`
}

/** Methods that are served at a path. */
function methodsAt(path: string): readonly string[] {
  const routes = Object.values(ROUTES) as readonly Route[]
  const matches = routes.filter((route) => patternOf(route.path).test(path))
  return [...new Set(matches.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0] as string
}
