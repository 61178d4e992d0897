import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { OfferedPayment } from '../cashier/paid-call.ts'
import { hasPayment } from '../chat/tab/wants-tab.ts'
import type { RateBucket } from '../contract/route.ts'
import { Burdens } from '../edge/burdens.ts'
import { carriedPayment, knownPaymentOf } from '../edge/carried-payment.ts'
import { addressKey, holderOf, limitKeyOf } from '../edge/client-key.ts'
import { Overload, WORK_OF, type WorkKind } from '../edge/overload.ts'
import { type Guest, type NoPlace, Places } from '../edge/places.ts'
import { RateCounter, RateLimiter } from '../edge/rate-limiter.ts'
import { giveUp } from '../edge/unreadable.ts'
import type { NodeApi } from '../node/node-api.ts'
import { KNOWN_PAYMENT_RATE } from './limits.ts'
import { Refusal, type ServerOptions, sendFault } from './server-edges.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    bucket?: RateBucket
    /** Set if a plain call of the route may carry a payment. */
    isPaid?: true
    /** Set if the route speaks JSON-RPC, whose messages may carry a payment. */
    dialect?: 'json-rpc'
    isOpenAi?: true
    /** Set if a request of the route may carry a payment from a tab, in a header. */
    takesTabs?: true
    takesForm?: true
  }
  interface FastifyRequest {
    /** The body as it came, on routes that take tabs: a voucher commits to it. */
    bodyText?: string
  }
}

/** Reported status of a request whose caller left before the answer. nginx logs 499 for it. */
const GONE_STATUS = 499

interface Visit extends Guest {
  readonly startedMs: number
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly isOperator: boolean
  judged: boolean
  /** Whether the handler is running. Until the handler ends, the request keeps its place, even if its client leaves. */
  isWorkedFor: boolean
}

/**
 * Decides which requests are served: the bound on requests at once, what an overloaded node refuses, and the rate
 * limits. A request of a route that can be paid is judged after its body was read, because a payment in the body makes
 * a quote a settle.
 */
export class Gates {
  readonly #node: NodeApi
  readonly #options: ServerOptions
  readonly #overload: Overload
  readonly #burdens = new Burdens()
  /** Bytes of each connection that were counted already. */
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
      // The request is refused here or let in by `#lastResort`. In either case, `preValidation` must not judge it again.
      if (refusal !== null) visit.judged = true
      if (payment === null || refusal === null) return end(refusal)
      this.#lastResort(visit, payment, refusal).then(end, done)
    })
    app.addHook('preValidation', (request, _, done) => {
      const visit = this.#visits.get(request)
      // The client left, or the request lost its place. Without `done`, nothing more happens to it.
      if (visit === undefined) return
      this.#places.works(visit)
      if (visit.judged) return done()
      const payment = this.#paymentOf(request)
      const refusal = this.#judge(visit, this.#bucketWith(visit, payment))
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

  /** Judges a request whose body could not be read, unless it was judged before. */
  unread(request: FastifyRequest): Fault | null {
    const visit = this.#visits.get(request)
    if (visit === undefined || visit.judged) return null
    const refusal = this.#judge(visit, bucketOf(request))
    this.#tell(visit, refusal)
    return refusal
  }

  /** Marks that the handler runs. The request keeps its place at least until the returned function is called. */
  hold(request: FastifyRequest): () => void {
    const visit = this.#visits.get(request)
    if (visit === undefined) return () => {}
    visit.isWorkedFor = true
    return () => {
      visit.isWorkedFor = false
      if (!this.#visits.has(request)) this.#places.leave(visit)
    }
  }

  /** Stops counting a request as one under way, and reports it to `onAnswer`. */
  settle(request: FastifyRequest): void {
    const visit = this.#visits.get(request)
    if (visit === undefined) return
    this.#visits.delete(request)
    // A request that ended before its body was read cost the node time too, so it counts for the rate.
    if (!visit.judged) this.#rates.take(bucketOf(request), visit.holder, performance.now())
    if (!visit.isWorkedFor) this.#places.leave(visit)
    this.#countBytes(visit)
    // What the node drops after its answer counts, too.
    const { socket } = request.raw
    if (socket.writableEnded && !socket.destroyed) socket.once('close', () => this.#countBytes(visit))
    const seconds = (performance.now() - visit.startedMs) / 1_000
    const route = request.routeOptions.url ?? 'unknown'
    const { raw, statusCode } = visit.reply
    const status = raw.closed && !raw.headersSent ? GONE_STATUS : statusCode
    this.#options.onAnswer({ requestId: request.id, method: request.method, route, status, seconds })
  }

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

  /** Checks the places, but not the load: the request may turn out to be paid. */
  #roomUnread(visit: Visit): Fault | null {
    const lack = this.#places.judge(visit, visit.isOperator ? 'operator' : 'unread', performance.now())
    return lack === null ? null : this.#noRoom(lack)
  }

  /** Counts the bytes that the connection received since its last request ended. A `Content-Length` is not counted. */
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

  #giveUp({ request, reply }: Visit): void {
    giveUp(reply.raw, request.raw.socket, fault('rpc/busy', { seconds: 1 }))
    this.settle(request)
  }

  #tell({ kind, request }: Visit, refusal: Fault | null): void {
    if (refusal?.code === 'rpc/busy') this.#options.onShed?.(kind === 'unread' ? WORK_OF[bucketOf(request)] : kind)
  }

  #mayBePaid({ routeOptions, headers }: FastifyRequest): boolean {
    const { isPaid, dialect, takesTabs } = routeOptions.config ?? {}
    if (this.#node.market === null) return false
    return isPaid === true || dialect !== undefined || (takesTabs === true && hasPayment(headers))
  }

  #paymentOf(request: FastifyRequest): OfferedPayment | null {
    const { isPaid, dialect, takesTabs } = request.routeOptions.config ?? {}
    if (isPaid !== true && dialect === undefined && takesTabs !== true) return null
    const body = takesTabs === true ? undefined : request.body
    return carriedPayment(this.#node.market, { headers: textHeaders(request), body, door: dialect ?? 'plain' })
  }

  /** Ids of tabs are public: only a client whose vouchers for the tab were good lately has the rate of calls on tabs. */
  #bucketWith({ request }: Visit, payment: OfferedPayment | null): RateBucket {
    if (payment === null) return bucketOf(request)
    if (payment.rail !== 'tab') return 'settle'
    const { tabId } = payment.payment ?? payment.refund
    const isRegular = this.#node.market?.tabs?.isRegular(tabId, holderOf(addressKey(request.ip))) === true
    return isRegular ? 'tab' : 'settle'
  }

  /**
   * The last check before a refusal. A payment that this node knows, shown by its payer, has a rate of its own and is
   * not refused for load. With any other payment the refusal stands: the node has used nothing of it, or it was not shown
   * to be the caller's.
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

/** The headers as texts: Node joins repeated headers of the names that are read here. */
function textHeaders({ headers }: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return headers as Record<string, string | undefined>
}

/** Whether the node must wait for a body. */
function bringsBody({ headers, method }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Whether an answer is complete, so that the node waits only for its reader. */
function isWhole(payload: unknown): boolean {
  return payload === null || payload === undefined || typeof payload === 'string' || payload instanceof Uint8Array
}
