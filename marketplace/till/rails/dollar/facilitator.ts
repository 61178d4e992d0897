/** What an offer of ours looks like to a facilitator, in the generation of the payment. */
export interface FacilitatorRequest {
  readonly x402Version: 1 | 2
  readonly paymentPayload: object
  readonly paymentRequirements: object
}

/**
 * What a facilitator said of a payment. `refused` is a clear no. `unknown` may have happened or not: no answer, one that
 * cannot be read, or one that says so; `transaction` where it named one, and the HTTP `status` of one without a verdict. `unreachable` did
 * nothing: it was not reached, or did not let us in, with that `status`. `busy` did nothing and wants to be asked later: `waitMs` is the
 * pause that it names, 0 where it names none.
 */
export type FacilitatorVerdict =
  | { readonly is: 'good'; readonly payer: string | null; readonly transaction: string | null }
  | { readonly is: 'refused'; readonly reason: string }
  | { readonly is: 'unknown'; readonly detail: string; readonly transaction: string | null; readonly status?: number }
  | { readonly is: 'unreachable'; readonly detail: string; readonly status?: number }
  | { readonly is: 'busy'; readonly detail: string; readonly waitMs: number }

/** Statuses by which a server says that what it was sent is wrong: any other is about itself, or about the account there. */
const OF_PAYMENT: ReadonlySet<number> = new Set([400, 413, 422])

/** Whether an answer without a verdict is about the payment by its status: the same payment is answered so again. */
export function isOfPayment(status: number): boolean {
  return OF_PAYMENT.has(status)
}

/** Words of which the reasons of x402 are made, by its specification and by facilitators that are in use. */
const REASON_WORDS: ReadonlySet<string> = new Set(
  `invalid insufficient unsupported unexpected missing exact evm x402 version scheme network payload payment requirements authorization
  signature signer nonce already used or canceled cancelled expired unsettled elsewhere transaction settlement settle verify verification
  simulation failed reverted pending timeout timed out error state valid after before value amount asset mismatch too low high recipient
  payer from to address token name domain eip712 eip3009 permit2 allowance funds balance undeployed smart wallet duplicate not found
  refused`.split(/\s+/),
)

/** The reason of a refusal as payers are told it: that of x402, or that it was refused. */
export function reasonInShort(reason: string): string {
  return reason.split('_').every((word) => REASON_WORDS.has(word)) ? reason : 'refused'
}

/** Reasons of a refused settlement by which the payment is wrong. Any other may be the facilitator's: no gas, an account that is closed. */
const OF_PAYER =
  /(^|_)(insufficient_(funds|balance|allowance)|nonce|already|used|duplicate|cancell?ed|expired|signature|signer|authorization|undeployed|valid_(before|after))(_|$)/

/** Reason of ours of a settlement whose outcome was not known until its authorization ran out: nothing is known of the payer either. */
export const EXPIRED_UNSETTLED = 'authorization_expired_unsettled'

/** Words by which the same reasons are about the facilitator's own key, account or gas. */
const OF_FACILITATOR = /(^|_)(gas|facilitator|relayer|sponsor|api|key|account|fee)(_|$)/

/** Whether a settlement was refused for what the payer has signed or holds. `reason` is in lower case. */
export function isOfPayer(reason: string): boolean {
  return reason !== EXPIRED_UNSETTLED && OF_PAYER.test(reason) && !OF_FACILITATOR.test(reason)
}

/** A facilitator of the x402 HTTP API. Never throws: whatever happens is a verdict. */
export interface Facilitator {
  readonly url: string
  /** What it said last of a payment in words other than those of x402, for the operator alone; absent or null while all is well. */
  readonly words?: string | null
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
  /** Whether it wants to be asked later. */
  readonly isBusy?: boolean
  readonly detail: string
}

/** How an authorization stands on its chain. */
export type AuthorizationState =
  /** Unused in the newest block, whose time, in seconds since 1970, is known where a time was asked about. */
  | { readonly is: 'unused'; readonly atSeconds?: number }
  /** Used for a transfer, which the transaction holds. */
  | { readonly is: 'transferred'; readonly transaction: string }
  /** Used up without the transfer that was sought: cancelled, or for something else. */
  | { readonly is: 'cancelled' }
  /** The chain could not be asked. */
  | { readonly is: 'unknown'; readonly detail: string }

/** Reads the token's chain, where the operator has an RPC node for it. */
export interface StableLedger {
  /** Whether an address is a contract's, or of a key that has given itself code; null where the chain cannot be asked. */
  hasCode(address: string): Promise<boolean | null>
  /** Units of an asset that an address holds; null where the chain cannot be asked. */
  balance(asset: string, address: string): Promise<bigint | null>
  authorization(of: {
    readonly asset: string
    readonly from: string
    readonly to: string
    /** Units of the asset; a use of the nonce that moved another amount is no payment. */
    readonly value: bigint
    readonly nonce: string
    /** Since when it can have been used, in seconds since 1970. */
    readonly sinceSeconds: number
    /** Until when it can be used: what a node that has not come that far shows as unused is not known. */
    readonly untilSeconds?: number
    /** Transaction that is said to hold the transfer: looked at first, as it costs one question. */
    readonly transaction?: string
  }): Promise<AuthorizationState>
}
