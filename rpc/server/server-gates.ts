import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { OfferedPayment } from '../cashier/cashier.ts'
import type { RateBucket } from '../contract/route.ts'
import { Burdens } from '../edge/burdens.ts'
import { carriedPayment, knownPaymentOf } from '../edge/carried-payment.ts'
import { holderOf, limitKeyOf } from '../edge/client-key.ts'
import { Overload, WORK_OF, type WorkKind } from '../edge/overload.ts'
import { type Guest, type NoPlace, Places } from '../edge/places.ts'
import { RateCounter, RateLimiter } from '../edge/rate-limiter.ts'
import { giveUp } from '../edge/unreadable.ts'
import type { NodeApi } from '../node/node-api.ts'
import { KNOWN_PAYMENT_RATE } from './limits.ts'
import { Refusal, type ServerOptions, sendFault } from './server-edges.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a route's requests count as. */
    bucket?: RateBucket
    /** Whether a plain call of it may bring a payment. */
    isPaid?: true
    /** Set where it speaks a protocol whose messages may bring one. */
    dialect?: 'json-rpc'
    /** Set where it speaks the OpenAI interface. */
    isOpenAi?: true
    /** Set where it takes a form of a page. */
    takesForm?: true
  }
}

/** What is told of requests whose asker went away before the answer: servers of the web have long logged it so. */
const GONE_STATUS = 499

/** A request under way. */
interface Visit extends Guest {
  readonly startedMs: number
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly isOperator: boolean
  judged: boolean
  /** Whether its handler has begun and not ended: it holds its place as long, also where its client went away. */
  isWorkedFor: boolean
}

/**
 * Who comes in: the bound on requests at once, what an overloaded node gives up, and the rate limits. A route that may be paid
 * is judged when its body was read, since only that tells a settle from a quote; until then it is the first to make room.
 */
export class Gates {
  readonly #node: NodeApi
  readonly #options: ServerOptions
  readonly #overload: Overload
  readonly #burdens = new Burdens()
  /** Bytes of a connection that are counted. */
  readonly #counted = new WeakMap<Socket, number>()
  readonly #places: Places
  readonly #rates: RateLimiter
  readonly #known = new RateCounter('settle', KNOWN_PAYMENT_RATE)
  readonly #visits = new WeakMap<FastifyRequest, Visit>()

  constructor(node: NodeApi, options: ServerOptions) {
    this.#node = node
    this.#options = options
    this.#overload = new Overload(options.limits)
    this.#places = new Places(options.limits.concurrentMax, (guest) => this.#giveUp(guest as Visit))
    this.#rates = new RateLimiter(options.limits.ratesPerMinute)
  }

  /** Stands before every route. */
  attach(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      this.#overload.arrived()
      const visit = this.#visit(request, reply)
      const refusal = visit.judged ? this.#judge(visit, bucketOf(request)) : this.#roomUnread(visit)
      const end = (last: Fault | null): void => {
        if (!this.#visits.has(request)) return
        this.#tell(visit, last)
        if (last === null) done()
        else sendFault(reply, request, last)
      }
      const payment = visit.judged || refusal === null ? null : this.#paymentOf(request)
      // Whatever comes of it, nothing is left to be judged.
      if (refusal !== null) visit.judged = true
      if (payment === null || refusal === null) return end(refusal)
      this.#lastResort(visit, payment, refusal).then(end, done)
    })
    app.addHook('preValidation', (request, _, done) => {
      const visit = this.#visits.get(request)
      // Its client has gone, or its place went to another: without a place nothing is done.
      if (visit === undefined) return
      this.#places.works(visit)
      if (visit.judged) return done()
      const payment = this.#paymentOf(request)
      const refusal = this.#judge(visit, payment === null ? bucketOf(request) : 'settle')
      const end = (last: Fault | null): void => {
        if (!this.#visits.has(request)) return
        this.#tell(visit, last)
        done(last === null ? undefined : new Refusal(last))
      }
      if (payment === null || refusal === null) return end(refusal)
      this.#lastResort(visit, payment, refusal).then(end, done)
    })
    app.addHook('onSend', (request, _, payload, done) => {
      const visit = this.#visits.get(request)
      if (visit !== undefined && isWhole(payload)) this.#places.waits(visit, performance.now())
      done(null, payload)
    })
    app.addHook('onClose', async () => this.#overload.close())
  }

  /** Counts a request whose body could not be read; a fault where it is one too many. */
  unread(request: FastifyRequest): Fault | null {
    const visit = this.#visits.get(request)
    if (visit === undefined || visit.judged) return null
    const refusal = this.#judge(visit, bucketOf(request))
    this.#tell(visit, refusal)
    return refusal
  }

  /** Notes that a request is worked for: it holds its place until the returned function is called, also if its client goes away. */
  hold(request: FastifyRequest): () => void {
    const visit = this.#visits.get(request)
    if (visit === undefined) return () => {}
    visit.isWorkedFor = true
    return () => {
      visit.isWorkedFor = false
      if (!this.#visits.has(request)) this.#places.leave(visit)
    }
  }

  /** A request is under way no longer: it is told of, with what has become of it. */
  settle(request: FastifyRequest): void {
    const visit = this.#visits.get(request)
    if (visit === undefined) return
    this.#visits.delete(request)
    // What was given up before its body came has taken its time as much as what came.
    if (!visit.judged) this.#rates.take(bucketOf(request), visit.holder, performance.now())
    if (!visit.isWorkedFor) this.#places.leave(visit)
    this.#countBytes(visit)
    const seconds = (performance.now() - visit.startedMs) / 1_000
    const route = request.routeOptions.url ?? 'unknown'
    const { raw, statusCode } = visit.reply
    // A caller who left got no answer.
    const status = raw.closed && !raw.headersSent ? GONE_STATUS : statusCode
    this.#options.onAnswer({ requestId: request.id, method: request.method, route, status, seconds })
  }

  /** A request that has its place, and is not judged yet. */
  #visit(request: FastifyRequest, reply: FastifyReply): Visit {
    const { key, isOperator } = limitKeyOf(this.#node, {
      authorization: request.headers.authorization,
      address: request.ip,
    })
    const startedMs = performance.now()
    const visit: Visit = {
      ...{ startedMs, request, reply, isOperator },
      holder: holderOf(key),
      kind: isOperator ? 'operator' : 'unread',
      judged: !this.#mayBePaid(request),
      isWorkedFor: false,
      waitsFor: bringsBody(request) ? 'body' : null,
      waitsSinceMs: startedMs,
    }
    this.#visits.set(request, visit)
    this.#places.enter(visit)
    // 'close' comes for answered and for abandoned requests alike.
    reply.raw.once('close', () => this.settle(request))
    return visit
  }

  #judge(visit: Visit, bucket: RateBucket): Fault | null {
    visit.judged = true
    const refusal = this.#room(visit, WORK_OF[bucket]) ?? this.#rate(visit, bucket)
    const { network } = visit.holder
    if (refusal !== null) this.#burdens.refused(network, performance.now())
    else this.#burdens.worked(network, visit.isOperator ? 'operator' : WORK_OF[bucket], performance.now())
    return refusal
  }

  #rate(visit: Visit, bucket: RateBucket): Fault | null {
    const { allowed, policy, limit, seconds } = this.#rates.take(bucket, visit.holder, performance.now())
    visit.reply.header('ratelimit-policy', policy)
    visit.reply.header('ratelimit', limit)
    return allowed ? null : fault('rpc/rate-limited', { seconds })
  }

  #room(visit: Visit, asked: WorkKind): Fault | null {
    const kind = visit.isOperator ? 'operator' : asked
    const nowMs = performance.now()
    const lack = this.#places.judge(visit, kind, nowMs)
    const weight = this.#burdens.weightOf(visit.holder.network, nowMs)
    return lack === null && this.#overload.admits(kind, nowMs, weight) ? null : this.#noRoom(lack)
  }

  /** For lack of time nothing is refused that may turn out to be paid. */
  #roomUnread(visit: Visit): Fault | null {
    const lack = this.#places.judge(visit, visit.isOperator ? 'operator' : 'unread', performance.now())
    return lack === null ? null : this.#noRoom(lack)
  }

  /** What a connection has brought since the last of its requests ended; what a client only announces costs nothing. */
  #countBytes({ holder, request }: Visit): void {
    const { socket } = request.raw
    const { bytesRead } = socket
    this.#burdens.read(holder.network, bytesRead - (this.#counted.get(socket) ?? 0), performance.now())
    this.#counted.set(socket, bytesRead)
  }

  #noRoom(lack: NoPlace | null): Fault {
    return lack === null || lack === 'full'
      ? fault('rpc/busy', { seconds: this.#overload.retrySeconds })
      : fault('rpc/too-many-at-once', { seconds: 1 })
  }

  /** Ends a request whose client is waited for, since its place is needed. */
  #giveUp({ request, reply }: Visit): void {
    giveUp(reply.raw, request.raw.socket, fault('rpc/busy', { seconds: 1 }))
    this.settle(request)
  }

  #tell({ kind, request }: Visit, refusal: Fault | null): void {
    if (refusal?.code === 'rpc/busy') this.#options.onShed?.(kind === 'unread' ? WORK_OF[bucketOf(request)] : kind)
  }

  #mayBePaid({ routeOptions }: FastifyRequest): boolean {
    const { isPaid, dialect } = routeOptions.config ?? {}
    return this.#node.market !== null && (isPaid === true || dialect !== undefined)
  }

  #paymentOf(request: FastifyRequest): OfferedPayment | null {
    const { isPaid, dialect } = request.routeOptions.config ?? {}
    if (isPaid !== true && dialect === undefined) return null
    const { body } = request
    return carriedPayment(this.#node.market, { headers: textHeaders(request), body, door: dialect ?? 'plain' })
  }

  /**
   * Who paid is turned away neither for lack of time nor for coming back often: a payment that is known here, shown by its payer,
   * has some calls of its own. Of one that is not, nothing is lost yet.
   */
  async #lastResort(visit: Visit, payment: OfferedPayment, refusal: Fault): Promise<Fault | null> {
    const idempotencyKey = textHeaders(visit.request)['idempotency-key'] ?? null
    const name = await knownPaymentOf(this.#node, { payment, idempotencyKey })
    if (name === null || !this.#visits.has(visit.request)) return refusal
    return this.#known.take(name, performance.now()).allowed ? this.#room(visit, 'kept') : refusal
  }
}

function bucketOf({ routeOptions }: FastifyRequest): RateBucket {
  return routeOptions.config?.bucket ?? 'read'
}

/** Of what is read here none comes more than once: Node joins those. */
function textHeaders({ headers }: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return headers as Record<string, string | undefined>
}

/** Whether a request may have a body, which the node waits for. */
function bringsBody({ headers, method }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Whether an answer is all there, so that only its client can be waited for. */
function isWhole(payload: unknown): boolean {
  return payload === null || payload === undefined || typeof payload === 'string' || payload instanceof Uint8Array
}
