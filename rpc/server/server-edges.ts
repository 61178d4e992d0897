import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { ClaimsAway } from '../../marketplace/till/claim-store.ts'
import { isQuickToParse } from '../chat/body-values.ts'
import { chatError, isOpenAiPath, retryHeaders } from '../chat/errors.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { Route } from '../contract/route.ts'
import { type Checked, sentences } from '../contract/sentences.ts'
import { addressKey, holderOf } from '../edge/client-key.ts'
import { FORM_TYPE, readForm } from '../edge/form.ts'
import { meantPath, methodsAt } from '../edge/near-path.ts'
import type { WorkKind } from '../edge/overload.ts'
import type { TrustedProxies } from '../edge/proxies.ts'
import type { Feed, StreamBegin } from './answer.ts'
import { errorBody, errorHeaders, errorType } from './faults.ts'
import { writeFeed } from './feeds.ts'
import { failure, faultToJsonRpc, type JsonRpcId } from './json-rpc.ts'
import { type HttpLimits, MESSAGE_BODY, PLAIN_BODY } from './limits.ts'
import type { StreamLimits, Streams } from './streams.ts'

/** What a server is made with. */
export interface ServerOptions {
  readonly limits: HttpLimits
  /** The proxies whose X-Forwarded-For and X-Forwarded-Proto are believed. */
  readonly trustProxy: TrustedProxies
  /** Gets errors that are bugs. */
  readonly onError: (error: unknown, requestId: string) => void
  /** Gets the facts of every request that is no longer under way, for logs and metrics. */
  readonly onAnswer: (facts: AnswerFacts) => void
  /** Called when a request is refused because the node has no time or no place for its kind of work. */
  readonly onShed?: (kind: WorkKind) => void
}

/**
 * One request that is no longer under way: it was answered, its stream or feed has begun, its client left, or it lost its
 * place to another request.
 */
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

/** Sends a fault in the error envelope, or as an error of the protocol that the route speaks. */
export function sendFault(reply: FastifyReply, request: FastifyRequest, cause: Fault): FastifyReply {
  const { dialect, isOpenAi } = (request.routeOptions?.config ?? {}) as Pick<Route, 'dialect' | 'isOpenAi'>
  if (dialect === 'json-rpc') return sendProtocolFault(reply, request, cause)
  // An OpenAI client expects OpenAI errors at unknown paths too.
  if (isOpenAi ?? (request.routeOptions?.url === undefined && isOpenAiPath(pathOf(request))))
    return sendChatFault(reply, cause)
  const accept = request.headers.accept ?? ''
  const body = errorBody(cause, { requestId: request.id, accept, path: pathOf(request) })
  return reply
    .code(httpFault(cause.code).status)
    .headers(errorHeaders(cause))
    .type(errorType(accept))
    .send(JSON.stringify(body))
}

function sendProtocolFault(reply: FastifyReply, request: FastifyRequest, cause: Fault): FastifyReply {
  return reply
    .code(httpFault(cause.code).status)
    .headers(errorHeaders(cause))
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(failure(messageIdOf(request), faultToJsonRpc(cause, request.id))))
}

function sendChatFault(reply: FastifyReply, cause: Fault): FastifyReply {
  return reply
    .code(httpFault(cause.code).status)
    .headers({ ...errorHeaders(cause), ...retryHeaders(cause) })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(chatError(cause)))
}

/** The id of the refused message; null if none could be read. */
function messageIdOf({ body }: FastifyRequest): JsonRpcId {
  const { id } = (body ?? {}) as { readonly id?: unknown }
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/** Adds the parsers: JSON, raw bytes and forms, nothing else. An empty JSON body counts as none. */
export function bodyParsers(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else {
      if (request.routeOptions.config.takesTabs === true) request.bodyText = body as string
      const refusal = tooManyValues(request, body as string)
      if (refusal === null) void parseJson(request, body as string, done)
      else done(new Refusal(refusal))
    }
  })
  app.addContentTypeParser(FORM_TYPE, { parseAs: 'string' }, (request, body, done) => {
    // A route that takes no form refuses the type later, in `preValidation`.
    if (request.routeOptions.config?.takesForm !== true) return done(null, body)
    const fields = readForm(body as string)
    if (fields === undefined)
      return done(
        new Refusal(
          fault('rpc/invalid-request', { fields: ['the fields of the form cannot be read, or one stands twice'] }),
        ),
      )
    done(null, fields)
  })
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
}

/** Refuses JSON that would take long to parse: it exceeds the bounds of the protocol that the route speaks. */
function tooManyValues({ routeOptions }: FastifyRequest, body: string): Fault | null {
  const { isOpenAi, dialect } = routeOptions.config
  if (isOpenAi === true)
    return isQuickToParse(body)
      ? null
      : fault('chat/invalid-request', {
          param: 'body',
          reason: 'it has too many values or names, or a name of more than 1024 characters',
        })
  const { valuesMax, namesMax } = dialect === undefined ? PLAIN_BODY : MESSAGE_BODY
  return isQuickToParse(body, valuesMax, namesMax) ? null : fault('rpc/too-many-values', { valuesMax, namesMax })
}

/** A request and its reply. */
export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** What opening a stream or feed needs. */
export interface StreamRoom extends Pick<ServerOptions, 'onError'> {
  readonly streams: Streams
  readonly limits: StreamLimits
  /** Stops counting a request as one under way. */
  readonly settle: (request: FastifyRequest) => void
  readonly isOperator: (authorization: string | undefined) => boolean
}

/** The request stops counting as one under way: streams have a separate bound. */
export function openStream(
  { request, reply }: Exchange,
  begin: StreamBegin,
  { streams, settle, onError, isOperator }: StreamRoom,
): FastifyReply {
  if (request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send('')
  const holder = isOperator(request.headers.authorization) ? null : holderOf(addressKey(request.ip))
  const place = { raw: reply.raw, holder, headers: reply.getHeaders() }
  const failed = (error: unknown): void => onError(error, request.id)
  const cause = streams.open({ ...place, onError: failed }, begin)
  if (cause !== null) return sendFault(reply, request, cause)
  reply.hijack()
  settle(request)
  return reply
}

/** The request stops counting as one under way: chat and voice have separate bounds. */
export function openFeed({ request, reply }: Exchange, feed: Feed, room: StreamRoom): FastifyReply {
  const { limits, settle } = room
  const onError = (error: unknown): void => room.onError(error, request.id)
  reply.hijack()
  void writeFeed({ raw: reply.raw, headers: reply.getHeaders(), limits, onError }, feed)
  settle(request)
  return reply
}

/** Answers errors and unknown paths with faults. A bug goes to `onError`, and its answer has no details. */
export function failures(
  app: FastifyInstance,
  { onError, limits }: ServerOptions,
  unread: (request: FastifyRequest) => Fault | null,
): void {
  app.setErrorHandler((error: FastifyError | Refusal, request, reply) => {
    const refusal = unread(request)
    // At an unknown path no handler reads the body, so the answer is 404 and not the error of the body.
    if (refusal === null && request.is404) return sendNothingHere(request, reply)
    const cause = refusal ?? faultOf(error, request, limits)
    if (cause.code === 'rpc/internal') onError(error, request.id)
    return sendFault(reply, request, cause)
  })
  app.setNotFoundHandler(sendNothingHere)
}

function sendNothingHere(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { method } = request
  const path = pathOf(request)
  const shown = path.slice(0, 200)
  const allowed = methodsAt(path)
  if (allowed.length > 0) {
    reply.header('allow', allowed.join(', '))
    return sendFault(reply, request, fault('rpc/method-not-allowed', { method, path: shown, allowed }))
  }
  const meant = meantPath(path)
  const cause =
    meant === undefined ? fault('rpc/not-found', { path: shown }) : fault('rpc/near-path', { path: shown, meant })
  return sendFault(reply, request, cause)
}

function faultOf(error: FastifyError | Refusal, request: FastifyRequest, limits: HttpLimits): Fault {
  if (error instanceof Refusal || error instanceof ClaimsAway) return error.fault
  switch (error.code) {
    case 'FST_ERR_VALIDATION':
      return fault('rpc/invalid-request', { fields: misfitsIn(error, request) })
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return fault('rpc/body-too-large', { limitBytes: request.routeOptions.bodyLimit ?? limits.bodyBytesMax })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return mediaTypeFault(request)
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return fault('rpc/malformed-json', { reason: 'it cannot be parsed' })
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return fault('rpc/malformed-json', { reason: 'there is none' })
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return fault('rpc/malformed-json', { reason: 'its length is not the one announced' })
    default:
      return malformedOrBug(error)
  }
}

/** The fault of a body whose type the route does not take. */
export function mediaTypeFault({ headers }: FastifyRequest): Fault {
  return fault('rpc/media-type', { contentType: String(headers['content-type'] ?? 'none').slice(0, 100) })
}

/** Refuses a path that the router cannot read. Fastify runs no hooks for it, so the headers are set here. */
export function refuseUnroutable(_: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('x-request-id', request.id)
  reply.header('access-control-allow-origin', '*')
  return sendFault(reply, request, fault('rpc/invalid-request', { fields: ['the path cannot be read'] }))
}

/** The JSON parser and the router give bad bytes a 4xx status. Any other error is a bug. */
function malformedOrBug(error: FastifyError): Fault {
  const { statusCode = 500 } = error
  if (statusCode >= 400 && statusCode < 500) return fault('rpc/malformed-json', { reason: error.message.slice(0, 120) })
  return fault('rpc/internal')
}

/** By the validator's name of each part of a request, the words for the part in an error text. */
const PARTS: Readonly<Record<string, Omit<Checked, 'schema'>>> = {
  body: { whole: 'the body', member: 'member' },
  querystring: { whole: 'the query', member: 'query word' },
  params: { whole: 'the path', member: 'part of the path' },
}

function misfitsIn({ validation = [], validationContext = 'body' }: FastifyError, request: FastifyRequest) {
  const schemas = request.routeOptions.schema as Readonly<Record<string, object>> | undefined
  const part = PARTS[validationContext] as Omit<Checked, 'schema'>
  return sentences(validation, { schema: schemas?.[validationContext] ?? {}, ...part })
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0] as string
}
