/** What an offer of ours looks like to a facilitator, in the generation of the payment. */
export interface FacilitatorRequest {
  readonly x402Version: 1 | 2
  readonly paymentPayload: object
  readonly paymentRequirements: object
}

/**
 * What a facilitator said of a payment. `refused` is a clear no. `unknown` may have happened or not: no answer, one that
 * cannot be read, or one that says so; `transaction` where it named one. `unreachable` never arrived there.
 */
export type FacilitatorVerdict =
  | { readonly is: 'good'; readonly payer: string | null; readonly transaction: string | null }
  | { readonly is: 'refused'; readonly reason: string }
  | { readonly is: 'unknown'; readonly detail: string; readonly transaction: string | null }
  | { readonly is: 'unreachable'; readonly detail: string }

/** A facilitator of the x402 HTTP API. Never throws: whatever happens is a verdict. */
export interface Facilitator {
  readonly url: string
  verify(request: FacilitatorRequest, deadlineMs: number): Promise<FacilitatorVerdict>
  settle(request: FacilitatorRequest, deadlineMs: number): Promise<FacilitatorVerdict>
  /** Whether it takes scheme `exact` on the network given by either name, or what is wrong. */
  supports(network: { readonly word: string; readonly caip2: string }, deadlineMs: number): Promise<SupportVerdict>
}

/** What a facilitator said of itself. */
export interface SupportVerdict {
  readonly ok: boolean
  /** Whether it answered at all: what does not answer may still take the scheme. */
  readonly answered: boolean
  readonly detail: string
}

/** How an authorization stands on its chain. */
export type AuthorizationState =
  | { readonly is: 'unused' }
  /** Used for a transfer, which the transaction holds. */
  | { readonly is: 'transferred'; readonly transaction: string }
  /** Used up without the transfer that was sought: cancelled, or for something else. */
  | { readonly is: 'cancelled' }
  /** The chain could not be asked. */
  | { readonly is: 'unknown'; readonly detail: string }

/** Reads the token's chain, where the operator has an RPC node for it. */
export interface StableLedger {
  authorization(of: {
    readonly asset: string
    readonly from: string
    readonly to: string
    /** Units of the asset; a use of the nonce that moved another amount is no payment. */
    readonly value: bigint
    readonly nonce: string
    /** Since when it can have been used, in seconds since 1970. */
    readonly sinceSeconds: number
    /** Transaction that is said to hold the transfer: looked at first, as it costs one question. */
    readonly transaction?: string
  }): Promise<AuthorizationState>
}
