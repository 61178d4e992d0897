import type { Fields } from '../../../../consensus/primitives/fields.ts'

/** A payment and this node's offer, in the payment's x402 version. */
export interface FacilitatorRequest {
  readonly x402Version: 1 | 2
  readonly paymentPayload: object
  readonly paymentRequirements: object
}

/**
 * What a facilitator said about a payment.
 * - `good`: `amount` is what it says to have moved. `extra` is what it adds for the scheme. Both are unchecked.
 * - `unknown`: it may have acted. `transaction` is the one that it named; `status` is the HTTP status of an answer without a verdict.
 * - `unreachable`: it did nothing. It was not reached, or it denied access with `status`.
 * - `busy`: it did nothing, and asks for a pause of `waitMs`, 0 if it names none.
 */
export type FacilitatorVerdict =
  | {
      readonly is: 'good'
      readonly payer: string | null
      readonly transaction: string | null
      readonly amount?: string
      readonly extra?: Fields
    }
  | { readonly is: 'refused'; readonly reason: string }
  | { readonly is: 'unknown'; readonly detail: string; readonly transaction: string | null; readonly status?: number }
  | { readonly is: 'unreachable'; readonly detail: string; readonly status?: number }
  | { readonly is: 'busy'; readonly detail: string; readonly waitMs: number }

/** HTTP statuses that blame the request. Any other status is about the server, or about this node's account there. */
const OF_PAYMENT: ReadonlySet<number> = new Set([400, 413, 422])

/** Whether the status of an answer without a verdict blames the payment. Then the same payment would get the same status again. */
export function isOfPayment(status: number): boolean {
  return OF_PAYMENT.has(status)
}

/** Words in the reasons of x402, from its specification and from facilitators in use. */
const REASON_WORDS: ReadonlySet<string> = new Set(
  `invalid insufficient unsupported unexpected missing exact evm x402 version scheme network payload payment requirements authorization
  signature signer nonce already used or canceled cancelled expired unsettled elsewhere transaction settlement settle verify verification
  simulation failed reverted pending timeout timed out error state valid after before value amount asset mismatch too low high recipient
  payer from to address token name domain eip712 eip3009 permit2 allowance funds balance undeployed smart wallet duplicate not found
  refused`.split(/\s+/),
)

/** The facilitator's own reason if it consists of words of x402, else `refused`. */
export function reasonInShort(reason: string): string {
  return reason.split('_').every((word) => REASON_WORDS.has(word)) ? reason : 'refused'
}

/** Reasons that blame the payment. Any other may be the facilitator's fault, such as no gas or a closed account. */
const OF_PAYER =
  /(^|_)(insufficient_(funds|balance|allowance)|nonce|already|used|duplicate|cancell?ed|expired|signature|signer|authorization|undeployed|valid_(before|after))(_|$)/

/** This node's own reason for an authorization that ran out while its settlement was unknown. It does not blame the payer. */
export const EXPIRED_UNSETTLED = 'authorization_expired_unsettled'

/** Words of reasons that are about the facilitator's own key, account or gas, although {@link OF_PAYER} matches them. */
const OF_FACILITATOR = /(^|_)(gas|facilitator|relayer|sponsor|api|key|account|fee)(_|$)/

/** Whether a settlement was refused for what the payer has signed or holds. `reason` is in lower case. */
export function isOfPayer(reason: string): boolean {
  return reason !== EXPIRED_UNSETTLED && OF_PAYER.test(reason) && !OF_FACILITATOR.test(reason)
}

/** Schemes of x402 that this node takes on EVM networks. */
export type EvmScheme = 'exact' | 'batch-settlement'

/** A facilitator of the x402 HTTP API. It never throws: every outcome is a verdict. */
export interface Facilitator {
  readonly url: string
  /** Its last words about a payment that are no reason of x402, for the operator alone. */
  readonly words?: string | null
  verify(request: FacilitatorRequest, deadlineMs: number): Promise<FacilitatorVerdict>
  settle(request: FacilitatorRequest, deadlineMs: number): Promise<FacilitatorVerdict>
  /** Whether it supports its scheme on the network, under either name, or what is wrong. */
  supports(network: { readonly word: string; readonly caip2: string }, deadlineMs: number): Promise<SupportVerdict>
}

/** What a facilitator supports. */
export interface SupportVerdict {
  readonly ok: boolean
  /** Whether it answered with a list. Without one it may still support the scheme. */
  readonly answered: boolean
  readonly isBusy?: boolean
  readonly detail: string
}

/** The state of an authorization on the token's chain. */
export type AuthorizationState =
  /** Unused in the newest block. `atSeconds` is that block's time since 1970, if the question named a time. */
  | { readonly is: 'unused'; readonly atSeconds?: number }
  | { readonly is: 'transferred'; readonly transaction: string }
  /** Used up without the transfer that was sought: cancelled, or for something else. */
  | { readonly is: 'cancelled' }
  /** The chain could not be asked, or its node cannot tell. */
  | { readonly is: 'unknown'; readonly detail: string }

/** Reads the token's chain, if the operator has an RPC node for it. */
export interface StableLedger {
  /** Whether an address is a contract, or a key's account with code; null if the chain cannot be asked. */
  hasCode(address: string): Promise<boolean | null>
  /** Units of an asset that an address holds; null if the chain cannot be asked. */
  balance(asset: string, address: string): Promise<bigint | null>
  authorization(of: {
    readonly asset: string
    readonly from: string
    readonly to: string
    /** Units of the asset; a use of the nonce that moved another amount is no payment. */
    readonly value: bigint
    readonly nonce: string
    /** Uses are looked for from this time on, in seconds since 1970. */
    readonly sinceSeconds: number
    /** Time in seconds that the newest block of the node must be past. Before that an unused authorization counts as `unknown`. */
    readonly untilSeconds?: number
    /** Transaction that is said to hold the transfer. It is looked at first, which costs one question. */
    readonly transaction?: string
  }): Promise<AuthorizationState>
}
