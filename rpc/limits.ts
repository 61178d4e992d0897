import type { RateBucket } from './contract/route.ts'
import type { StreamLimits } from './streams.ts'

/** Requests per minute and address, by bucket. */
export type RateLimits = Readonly<Record<RateBucket, number>>

/** Bounds of the HTTP server. */
export interface HttpLimits {
  readonly bodyBytesMax: number
  /** Requests answered at once; more are refused, so that the node stays responsive to those it has. */
  readonly concurrentMax: number
  readonly ratesPerMinute: RateLimits
  /** A request that takes longer to arrive is cut off. */
  readonly receiveTimeoutMs: number
  readonly streams: StreamLimits
}

/** Reads that a page of a long list, at its worst some 25 ms of work, counts as. */
export const LIST_COST = 5

/** Bounds unless the operator sets others. Paid settles count as quotes and stay above the chain's own speed. */
export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  bodyBytesMax: 1_048_576,
  concurrentMax: 1_024,
  ratesPerMinute: {
    read: 3_000,
    list: 3_000 / LIST_COST,
    transaction: 6_000,
    simulate: 1_200,
    quote: 9_000,
    mining: 1_200,
    health: 6_000,
  },
  receiveTimeoutMs: 30_000,
  streams: { openMax: 256, openPerAddressMax: 16, bufferBytesMax: 65_536, heartbeatMs: 10_000 },
}
