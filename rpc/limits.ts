import type { RateBucket } from './contract/route.ts'
import type { StreamLimits } from './streams.ts'

/** Requests per minute by bucket, of an address (of IPv6 its /64) or of a key that the node knows. */
export type RateLimits = Readonly<Record<RateBucket, number>>

/** Bounds of the HTTP server. */
export interface HttpLimits {
  readonly bodyBytesMax: number
  /** Requests answered at once; more are refused, so that the node stays responsive to those it has. */
  readonly concurrentMax: number
  readonly ratesPerMinute: RateLimits
  /** A request that takes longer to arrive is cut off. */
  readonly receiveTimeoutMs: number
  /** Delay of the event loop from which on work is refused; below a third of it work is taken again. */
  readonly delayMsMax: number
  readonly streams: StreamLimits
}

/** Further settles per minute of one payment that this node knows already, for who has used up his own. */
export const KNOWN_PAYMENT_RATE = 30

/** Bounds unless the operator sets others. Paid settles stay well above what the chain mines: some 7,500 calls a minute. */
export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  bodyBytesMax: 1_048_576,
  concurrentMax: 1_024,
  ratesPerMinute: {
    read: 3_000,
    // A page of a long list is at its worst some 25 ms of work.
    list: 600,
    transaction: 6_000,
    simulate: 1_200,
    quote: 9_000,
    settle: 15_000,
    mining: 1_200,
    health: 6_000,
    events: 300,
    mcp: 3_000,
  },
  receiveTimeoutMs: 30_000,
  delayMsMax: 150,
  streams: { openMax: 256, openPerAddressMax: 16, bufferBytesMax: 196_608, behindMsMax: 30_000, heartbeatMs: 10_000 },
}
