/** Confirmations that the payments in one block need, by the sum of their values. */
export interface ConfirmationStep {
  /** Exclusive bound of the sum, in millionths of a dollar. */
  readonly belowUsdMicros: bigint
  readonly confirmations: number
}

/** Where an operator stops quoting in the native coin; dollars in millionths. Null: no bound. */
export interface PriceBounds {
  readonly minPoolDepthMicros: bigint
  readonly nativeUsdMinMicros: bigint | null
  readonly nativeUsdMaxMicros: bigint | null
}

/** Numbers of the market. Operators cannot set the confirmations: they are the same on every node. */
export interface MarketSettings extends PriceBounds {
  readonly confirmationSteps: readonly ConfirmationStep[]
  /** Confirmations for sums at or above the last step's bound. */
  readonly confirmationsMax: number
  /** Longest wait within one call. */
  readonly settleWaitMs: number
  /** How long results are kept for a repeated call, and at most how many bytes of them. */
  readonly resultKeepMs: number
  readonly resultBytesMax: number
}

/** The confirmations, and the defaults of what operators can set. */
export const DEFAULT_MARKET_SETTINGS: MarketSettings = {
  confirmationSteps: [
    { belowUsdMicros: 100_000n, confirmations: 1 },
    { belowUsdMicros: 10_000_000n, confirmations: 6 },
    { belowUsdMicros: 1_000_000_000n, confirmations: 40 },
  ],
  confirmationsMax: 420,
  settleWaitMs: 30_000,
  resultKeepMs: 24 * 3_600_000,
  resultBytesMax: 256 * 1024 * 1024,
  minPoolDepthMicros: 10_000_000_000n,
  nativeUsdMinMicros: null,
  nativeUsdMaxMicros: null,
}

/** Blocks before the deadline that are kept free for the receipt. */
export const RECEIPT_MARGIN_BLOCKS = 40
/** Factor by which the base fee may rise while a transaction of the operator waits. */
export const FEE_ROOM = 4n
/** How often the work of a payment is begun at most: work that kills the node must not do so at every start. */
export const RUNS_MAX = 3
/** Depth at which a receipt counts as final. */
export const FINAL_DEPTH = 40

/** Confirmations that the payments in one block need if their values have this sum, in millionths of a dollar. */
export function confirmationsFor(sumUsdMicros: bigint, settings: MarketSettings): number {
  const step = settings.confirmationSteps.find(({ belowUsdMicros }) => sumUsdMicros < belowUsdMicros)
  return step?.confirmations ?? settings.confirmationsMax
}
