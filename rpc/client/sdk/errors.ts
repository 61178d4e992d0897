import type { Payment, Quote, Receipt, RefundState, VerifiedReceipt } from './shapes.ts'

/** Facts of every error of the SDK. */
export interface ErrorFacts {
  /** Stable code in snake case, from the node or from this client. */
  readonly code: string
  /** HTTP status. Null if no answer came. */
  readonly status?: number | null
  readonly requestId?: string | null
  /** Whether the same call may succeed later. */
  readonly retryable?: boolean
  /**
   * The payment that was recorded before the error, for `client.resume(error.payment)`. Null if there is none. With `payment_refused`
   * nothing was paid by the word of the node, but the payment still counts for the day.
   */
  readonly payment?: Payment | null
  /** The node's `details`, unchecked: `suggestions` for a name, `example` and `requestFormat` for a request. */
  readonly details?: Readonly<Record<string, unknown>> | null
  readonly cause?: unknown
}

/** Base class of all errors of the SDK. */
export class FarthingError extends Error {
  override readonly name: string = 'FarthingError'
  readonly code: string
  readonly status: number | null
  readonly requestId: string | null
  readonly retryable: boolean
  readonly payment: Payment | null
  readonly details: Readonly<Record<string, unknown>> | null

  constructor(
    message: string,
    { code, status = null, requestId = null, retryable = false, payment = null, details = null, cause }: ErrorFacts,
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.requestId = requestId
    this.retryable = retryable
    this.payment = payment
    this.details = details
  }
}

/** The call was not paid: no wallet, a dry run, no native offer, an unavailable service, or an unusable request. */
export class PaymentRequiredError extends FarthingError {
  override readonly name = 'PaymentRequiredError'
  readonly quote: Quote | null

  constructor(message: string, facts: ErrorFacts & { readonly quote?: Quote | null }) {
    super(message, facts)
    this.quote = facts.quote ?? null
  }
}

/** A ceiling, an allow-list or `onPay` forbids the payment. Nothing was sent. */
export class SpendLimitError extends FarthingError {
  override readonly name = 'SpendLimitError'
}

/**
 * The quote has another price, seller, network or asset than agreed, has terms that must not be signed, or was paid before. Or the seller
 * refuses the payment. Or the payment was never mined, or failed on chain.
 */
export class PaymentMismatchError extends FarthingError {
  override readonly name = 'PaymentMismatchError'
}

/** The service failed after payment. The chain gives the money back. */
export class RefundedError extends FarthingError {
  override readonly name = 'RefundedError'
  readonly refund: RefundState

  constructor(message: string, facts: ErrorFacts & { readonly refund: RefundState }) {
    super(message, facts)
    this.refund = facts.refund
  }
}

/** Too many requests. `retryAfter` is in seconds. */
export class RateLimitedError extends FarthingError {
  override readonly name = 'RateLimitedError'
  readonly retryAfter: number

  constructor(message: string, facts: ErrorFacts & { readonly retryAfter: number }) {
    super(message, facts)
    this.retryAfter = facts.retryAfter
  }
}

/** The node cannot be reached, or is busy. */
export class ServiceUnavailableError extends FarthingError {
  override readonly name = 'ServiceUnavailableError'
}

/** A payment was sent and its outcome is unknown. Do not pay again: `client.resume(error.payment)`. */
export class InterruptedPaymentError extends FarthingError {
  override readonly name = 'InterruptedPaymentError'
  override readonly payment: Payment

  constructor(message: string, facts: ErrorFacts & { readonly payment: Payment }) {
    super(message, facts)
    this.payment = facts.payment
  }
}

/** The paid answer does not verify. The error holds the result and the receipt. */
export class VerificationError extends FarthingError {
  override readonly name = 'VerificationError'
  readonly result: unknown
  readonly receipt: Receipt
  readonly verified: VerifiedReceipt

  constructor(
    message: string,
    facts: ErrorFacts & { readonly result: unknown; readonly receipt: Receipt; readonly verified: VerifiedReceipt },
  ) {
    super(message, facts)
    this.result = facts.result
    this.receipt = facts.receipt
    this.verified = facts.verified
  }
}
