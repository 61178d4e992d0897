import type { Payment, Quote, Receipt, RefundState, VerifiedReceipt } from './shapes.ts'

/** What every error of the SDK says. */
export interface ErrorFacts {
  /** Stable, in snake case: the node's own code, or one of this client. */
  readonly code: string
  /** HTTP status, null where no answer came. */
  readonly status?: number | null
  readonly requestId?: string | null
  /** Whether the same call may succeed later. */
  readonly retryable?: boolean
  /**
   * The payment that was signed before it went wrong: `client.resume(error.payment)` takes it up. Null where nothing was signed. Of one
   * that a node refused (`payment_refused`) nothing was paid as far as its word goes, and it counts for the day all the same.
   */
  readonly payment?: Payment | null
  /** What the node said beside its refusal, as it came: `suggestions` for a name, `example` and `requestFormat` for a request. */
  readonly details?: Readonly<Record<string, unknown>> | null
  readonly cause?: unknown
}

/** Every error that the SDK throws. */
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

/** The call must be paid, and this client will not or cannot: no wallet, a dry run, an unavailable service, an unusable request. */
export class PaymentRequiredError extends FarthingError {
  override readonly name = 'PaymentRequiredError'
  /** What it would have cost. */
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

/** What is asked for is not what was agreed: another price, network or payee; or the seller does not take what was paid. */
export class PaymentMismatchError extends FarthingError {
  override readonly name = 'PaymentMismatchError'
}

/** The service failed after payment, and the money goes back on chain. */
export class RefundedError extends FarthingError {
  override readonly name = 'RefundedError'
  readonly refund: RefundState

  constructor(message: string, facts: ErrorFacts & { readonly refund: RefundState }) {
    super(message, facts)
    this.refund = facts.refund
  }
}

/** Too many requests. */
export class RateLimitedError extends FarthingError {
  override readonly name = 'RateLimitedError'
  /** Seconds after which it makes sense to ask again. */
  readonly retryAfter: number

  constructor(message: string, facts: ErrorFacts & { readonly retryAfter: number }) {
    super(message, facts)
    this.retryAfter = facts.retryAfter
  }
}

/** The node cannot be reached, or cannot answer now. */
export class ServiceUnavailableError extends FarthingError {
  override readonly name = 'ServiceUnavailableError'
}

/** Something was paid and what came of it is not known yet. Do not pay again: `client.resume(error.payment)`. */
export class InterruptedPaymentError extends FarthingError {
  override readonly name = 'InterruptedPaymentError'
  override readonly payment: Payment

  constructor(message: string, facts: ErrorFacts & { readonly payment: Payment }) {
    super(message, facts)
    this.payment = facts.payment
  }
}

/** The answer does not verify. Result and receipt are in the error, for whoever wants to look at them. */
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
