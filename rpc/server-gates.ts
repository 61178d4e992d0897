import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Fault, fault } from '../consensus/primitives/fault.ts'
import type { OfferedPayment } from './cashier/payments.ts'
import type { RateBucket } from './contract/route.ts'
import { carriedPayment, knownPaymentOf } from './edge/carried-payment.ts'
import { limitKeyOf } from './edge/client-key.ts'
import { Overload, WORK_OF, type WorkKind } from './edge/overload.ts'
import { RateCounter, RateLimiter } from './edge/rate-limiter.ts'
import { KNOWN_PAYMENT_RATE } from './limits.ts'
import type { NodeApi } from './node.ts'
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
  }
}

/** Buckets whose requests are told apart from settles by what they carry. */
const MAY_BE_PAID: ReadonlySet<RateBucket> = new Set(['quote', 'mcp'])

/** What is told of requests whose asker went away before the answer: servers of the web have long logged it so. */
const GONE_STATUS = 499

/** A request under way. */
interface Visit {
  readonly startedMs: number
  readonly reply: FastifyReply
  judged: boolean
  /** What it was last judged as. */
  kind: WorkKind
}

/**
 * Who comes in: the bound on requests at once, what an overloaded node gives up, and the rate limits. A route that may be paid
 * is judged when its body was read, since only that tells a settle from a quote.
 */
export class Gates {
  readonly #node: NodeApi
  readonly #options: ServerOptions
  readonly #overload: Overload
  readonly #rates: RateLimiter
  readonly #known = new RateCounter('settle', KNOWN_PAYMENT_RATE)
  readonly #visits = new WeakMap<FastifyRequest, Visit>()
  #running = 0

  constructor(node: NodeApi, options: ServerOptions) {
    this.#node = node
    this.#options = options
    this.#overload = new Overload(options.limits)
    this.#rates = new RateLimiter(options.limits.ratesPerMinute)
  }

  /** Stands before every route. */
  attach(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      this.#running += 1
      this.#overload.arrived()
      const visit: Visit = { startedMs: performance.now(), reply, judged: !mayBePaid(request), kind: 'kept' }
      this.#visits.set(request, visit)
      // 'close' comes for answered and for abandoned requests alike.
      reply.raw.once('close', () => this.settle(request))
      const refusal = visit.judged ? this.#judge(request, visit, bucketOf(request)) : this.#room(visit, 'kept')
      this.#tell(visit, refusal)
      if (refusal === null) done()
      else sendFault(reply, request, refusal)
    })
    app.addHook('preValidation', (request, _, done) => {
      const visit = this.#visits.get(request)
      if (visit === undefined || visit.judged) return done()
      const payment = this.#paymentOf(request)
      const refusal = this.#judge(request, visit, payment === null ? bucketOf(request) : 'settle')
      const end = (last: Fault | null): void => {
        this.#tell(visit, last)
        done(last === null ? undefined : new Refusal(last))
      }
      if (payment === null || refusal === null) return end(refusal)
      this.#lastResort(visit, payment, refusal).then(end, done)
    })
    app.addHook('onClose', async () => this.#overload.close())
  }

  /** Counts a request whose body could not be read; a fault where it is one too many. */
  unread(request: FastifyRequest): Fault | null {
    const visit = this.#visits.get(request)
    if (visit === undefined || visit.judged) return null
    const refusal = this.#judge(request, visit, bucketOf(request))
    this.#tell(visit, refusal)
    return refusal
  }

  /** A request is under way no longer: it is told of, with what has become of it. */
  settle(request: FastifyRequest): void {
    const visit = this.#visits.get(request)
    if (visit === undefined) return
    this.#visits.delete(request)
    this.#running -= 1
    const seconds = (performance.now() - visit.startedMs) / 1_000
    const route = request.routeOptions.url ?? 'unknown'
    const { raw, statusCode } = visit.reply
    // Who went away was answered nothing.
    const status = raw.closed && !raw.headersSent ? GONE_STATUS : statusCode
    this.#options.onAnswer({ requestId: request.id, method: request.method, route, status, seconds })
  }

  #judge(request: FastifyRequest, visit: Visit, bucket: RateBucket): Fault | null {
    visit.judged = true
    const { key, isOperator } = limitKeyOf(this.#node, {
      authorization: request.headers.authorization,
      address: request.ip,
    })
    const refusal = this.#room(visit, isOperator ? 'kept' : WORK_OF[bucket])
    if (refusal !== null) return refusal
    const { allowed, policy, limit, seconds } = this.#rates.take(bucket, key, performance.now())
    visit.reply.header('ratelimit-policy', policy)
    visit.reply.header('ratelimit', limit)
    return allowed ? null : fault('rpc/rate-limited', { seconds })
  }

  #room(visit: Visit, kind: WorkKind): Fault | null {
    visit.kind = kind
    if (this.#overload.admits(kind, this.#running, performance.now())) return null
    return fault('rpc/busy', { seconds: this.#overload.retrySeconds })
  }

  #tell({ kind }: Visit, refusal: Fault | null): void {
    if (refusal?.code === 'rpc/busy') this.#options.onShed?.(kind)
  }

  #paymentOf({ routeOptions, headers, body }: FastifyRequest): OfferedPayment | null {
    const { isPaid, dialect } = routeOptions.config ?? {}
    if (isPaid !== true && dialect === undefined) return null
    const named = headers as Record<string, string | undefined>
    return carriedPayment(this.#node.market, { headers: named, body, door: dialect ?? 'plain' })
  }

  /**
   * Who paid is turned away neither for lack of time nor for coming back often: a payment that is known here has some calls of
   * its own. Of one that is not, nothing is lost yet.
   */
  async #lastResort(visit: Visit, payment: OfferedPayment, refusal: Fault): Promise<Fault | null> {
    const name = await knownPaymentOf(this.#node, payment)
    return name !== null && this.#known.take(name, performance.now()).allowed ? this.#room(visit, 'kept') : refusal
  }
}

function bucketOf({ routeOptions }: FastifyRequest): RateBucket {
  return routeOptions.config?.bucket ?? 'read'
}

function mayBePaid(request: FastifyRequest): boolean {
  return MAY_BE_PAID.has(bucketOf(request))
}
