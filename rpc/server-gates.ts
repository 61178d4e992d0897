import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Fault, fault } from '../consensus/primitives/fault.ts'
import type { RateBucket } from './contract/route.ts'
import { bodyCarriesPayment, headersCarryPayment, knownPaymentOf } from './edge/carried-payment.ts'
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
  }
}

/** Buckets whose requests are told apart from settles by what they carry. */
const MAY_BE_PAID: ReadonlySet<RateBucket> = new Set(['quote', 'mcp'])

/** A request under way. */
interface Visit {
  readonly startedMs: number
  readonly reply: FastifyReply
  judged: boolean
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
      const visit = { startedMs: performance.now(), reply, judged: !mayBePaid(request) }
      this.#visits.set(request, visit)
      // 'close' comes for answered and for abandoned requests alike.
      reply.raw.once('close', () => this.settle(request))
      const refusal = visit.judged ? this.#judge(request, visit, bucketOf(request)) : this.#room('kept')
      if (refusal === null) done()
      else sendFault(reply, request, refusal)
    })
    app.addHook('preValidation', (request, _, done) => {
      const visit = this.#visits.get(request)
      if (visit === undefined || visit.judged) return done()
      const isPaid = headersCarryPayment(request.headers) || bodyCarriesPayment(request.body)
      const refusal = this.#judge(request, visit, isPaid ? 'settle' : bucketOf(request))
      if (!isPaid || refusal?.code !== 'rpc/rate-limited') return done(raised(refusal))
      this.#lastResort(request, refusal).then((last) => done(raised(last)), done)
    })
    app.addHook('onClose', async () => this.#overload.close())
  }

  /** Counts a request whose body could not be read; a fault where it is one too many. */
  unread(request: FastifyRequest): Fault | null {
    const visit = this.#visits.get(request)
    return visit === undefined || visit.judged ? null : this.#judge(request, visit, bucketOf(request))
  }

  /** A request is under way no longer: it is told of, with what has become of it. */
  settle(request: FastifyRequest): void {
    const visit = this.#visits.get(request)
    if (visit === undefined) return
    this.#visits.delete(request)
    this.#running -= 1
    const seconds = (performance.now() - visit.startedMs) / 1_000
    const route = request.routeOptions.url ?? 'unknown'
    const { statusCode: status } = visit.reply
    this.#options.onAnswer({ requestId: request.id, method: request.method, route, status, seconds })
  }

  #judge(request: FastifyRequest, visit: Visit, bucket: RateBucket): Fault | null {
    visit.judged = true
    const { key, isOperator } = limitKeyOf(this.#node, {
      authorization: request.headers.authorization,
      address: request.ip,
    })
    const refusal = this.#room(isOperator ? 'kept' : WORK_OF[bucket])
    if (refusal !== null) return refusal
    const { allowed, policy, limit, seconds } = this.#rates.take(bucket, key, performance.now())
    visit.reply.header('ratelimit-policy', policy)
    visit.reply.header('ratelimit', limit)
    return allowed ? null : fault('rpc/rate-limited', { seconds })
  }

  #room(kind: WorkKind): Fault | null {
    if (this.#overload.admits(kind, this.#running, performance.now())) return null
    this.#options.onShed?.(kind)
    return fault('rpc/busy', { seconds: this.#overload.retrySeconds })
  }

  /** Who paid is not turned away for coming back often: a payment that is known here has some calls of its own. */
  async #lastResort({ headers, body }: FastifyRequest, refusal: Fault): Promise<Fault | null> {
    const name = await knownPaymentOf(this.#node, { headers: headers as Record<string, string | undefined>, body })
    return name !== null && this.#known.take(name, performance.now()).allowed ? null : refusal
  }
}

function bucketOf({ routeOptions }: FastifyRequest): RateBucket {
  return routeOptions.config?.bucket ?? 'read'
}

function mayBePaid(request: FastifyRequest): boolean {
  return MAY_BE_PAID.has(bucketOf(request))
}

function raised(refusal: Fault | null): Refusal | undefined {
  return refusal === null ? undefined : new Refusal(refusal)
}
