import type { RateBucket } from '../contract/route.ts'
import type { StreamLimits } from './streams.ts'

/** Longest `Host` header of a request, if the node has no public address. */
export const HOST_CHARS_MAX = 255

/** Requests per minute and bucket, for each address (IPv6: each /64) or key that the operator made. */
export type RateLimits = Readonly<Record<RateBucket, number>>

/** Bounds of a JSON body: a megabyte of nothing but values takes as long to parse as a hundred usual requests. */
export interface BodyValues {
  readonly valuesMax: number
  readonly namesMax: number
}

/** Bounds for a plain request. The largest transaction has some 1,600 values. */
export const PLAIN_BODY: BodyValues = { valuesMax: 10_000, namesMax: 2_000 }
/** Bounds for a protocol message, which the node goes through more than once. */
export const MESSAGE_BODY: BodyValues = { valuesMax: 4_096, namesMax: 512 }

/** Bounds of the HTTP server. */
export interface HttpLimits {
  readonly bodyBytesMax: number
  /** Requests under way at once. More are refused, so that the node can answer the admitted ones in time. */
  readonly concurrentMax: number
  /**
   * Connections at once. More are closed on arrival. At most half may idle: one more idle connection closes the longest
   * idle one of the address with most idle ones, in the network with most.
   */
  readonly connectionsMax: number
  /** Idle connections of one address. One more closes the address's longest idle one. Trusted proxies have no such bound. */
  readonly idlePerAddressMax: number
  /** Time after an answer at which a connection without a new request is closed. */
  readonly idleMsMax: number
  /** Unanswered requests of one connection. One more closes the connection. */
  readonly unansweredMax: number
  /** A connection that takes no byte of a finished answer for this time is closed; of an unfinished one, for `streams.behindMsMax`. */
  readonly stuckMsMax: number
  readonly ratesPerMinute: RateLimits
  /** Time in which a request must arrive. */
  readonly receiveTimeoutMs: number
  /** Delay of the event loop above which the node refuses more and more work, if requests queue and the loop hardly rests. */
  readonly delayMsMax: number
  readonly streams: StreamLimits
}

/** Settles per minute with one payment that this node knows, for requests that would otherwise be refused. */
export const KNOWN_PAYMENT_RATE = 30

/** Default bounds. `settle` is well above what the chain mines, some 7,500 calls a minute. Calls on tabs wait for no block. */
export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  bodyBytesMax: 1_048_576,
  concurrentMax: 1_024,
  connectionsMax: 8_192,
  idlePerAddressMax: 512,
  idleMsMax: 72_000,
  unansweredMax: 8,
  stuckMsMax: 20_000,
  ratesPerMinute: {
    read: 3_000,
    // A page of a long list, or a whole block, takes up to some 25 ms of work.
    list: 600,
    transaction: 6_000,
    simulate: 1_200,
    quote: 9_000,
    settle: 15_000,
    tab: 120_000,
    mining: 1_200,
    health: 6_000,
    events: 300,
    mcp: 3_000,
    chat: 1_200,
    'sign-in': 20,
  },
  receiveTimeoutMs: 30_000,
  delayMsMax: 150,
  streams: {
    openMax: 256,
    openPerAddressMax: 16,
    operatorMax: 16,
    bufferBytesMax: 196_608,
    behindMsMax: 30_000,
    heartbeatMs: 10_000,
  },
}
