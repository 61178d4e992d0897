import type { RateBucket } from '../contract/route.ts'
import type { StreamLimits } from './streams.ts'

/** Longest host that a request may name, if the node has no public address. */
export const HOST_CHARS_MAX = 255

/** Requests per minute by bucket, of an address (of IPv6 its /64) or of a key that the operator made. */
export type RateLimits = Readonly<Record<RateBucket, number>>

/** What a body of JSON may hold: to parse a megabyte that is nothing but values takes as long as a hundred requests. */
export interface BodyValues {
  readonly valuesMax: number
  /** Names of members that are not the same. */
  readonly namesMax: number
}

/** Of a plain request: the largest transaction has some 1,600 values. */
export const PLAIN_BODY: BodyValues = { valuesMax: 10_000, namesMax: 2_000 }
/** Of a message of a protocol, which is gone over more than once. */
export const MESSAGE_BODY: BodyValues = { valuesMax: 4_096, namesMax: 512 }

/** Bounds of the HTTP server. */
export interface HttpLimits {
  readonly bodyBytesMax: number
  /** Requests answered at once; more are refused, so that the node stays responsive to those it has. */
  readonly concurrentMax: number
  /** Connections at once; more are closed as they come. Half of them may idle, then those that do longest make room. */
  readonly connectionsMax: number
  /** Connections of an address that may idle; the one that does longest makes room. Those of a proxy in front are not counted. */
  readonly idlePerAddressMax: number
  /** An idle connection is closed after so long. */
  readonly idleMsMax: number
  /** Requests of a connection that are not answered yet; one more closes it. */
  readonly unansweredMax: number
  /** A connection that takes nothing of an answer for so long is closed. */
  readonly stuckMsMax: number
  readonly ratesPerMinute: RateLimits
  /** A request that takes longer to arrive is cut off. */
  readonly receiveTimeoutMs: number
  /** Delay of the event loop from which on more and more work is refused, while the loop never rests. */
  readonly delayMsMax: number
  readonly streams: StreamLimits
}

/** Further settles per minute of one payment that this node knows already, for who has used up his own. */
export const KNOWN_PAYMENT_RATE = 30

/** Bounds unless the operator sets others. Paid settles stay well above what the chain mines: some 7,500 calls a minute. */
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
    // A page of a long list, or a whole block, is at its worst some 25 ms of work.
    list: 600,
    transaction: 6_000,
    simulate: 1_200,
    quote: 9_000,
    settle: 15_000,
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
