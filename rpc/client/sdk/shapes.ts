import type { TabCallFacts, TabJournal } from './tabs/tab-types.ts'

/**
 * Public types of the SDK. This file imports only types of its kind, so that the published types stand alone. Amounts are base units as
 * `bigint` unless their name says otherwise.
 */

/** Keys of an account in order, and how many of them must sign. */
export interface SignerKeys {
  readonly scheme: number
  readonly threshold: number
  readonly keys: readonly { readonly scheme: number; readonly bytes: Uint8Array }[]
}

/** Signs for one account: a key in memory (`farthing/client/wallet`), a browser extension, a device or a remote signer. */
export interface Signer {
  readonly keys: SignerKeys
  /** Signatures over the message under the context, by ascending key index: at least as many as the threshold. */
  sign(
    message: Uint8Array,
    context: Uint8Array,
  ): Promise<readonly { readonly keyIndex: number; readonly bytes: Uint8Array }[]>
  /**
   * Seed of the voucher key of the tab that this account opens with the transaction of a nonce: 32 bytes, always the same. A
   * signer without this gets a random key, which only the journal knows.
   */
  voucherSeed?(genesis: string, nonce: bigint): Uint8Array | Promise<Uint8Array>
}

/** A seller's price for one call. The seller is not trusted: {@link Quote.usd} is the dearest price that it states. */
export interface Quote {
  readonly quoteId: string
  readonly serviceId: string
  /** Null if this client does not know which text the seller takes as the request. */
  readonly request: string | null
  readonly agentId: string
  /** Address that the seller names. The chain pays the agent's payout address instead. */
  readonly payTo: string
  readonly amount: bigint
  /** The amount in coins of the network, decimal text. */
  readonly coins: string
  /** Dollars. Null if the seller states none. */
  readonly usd: number | null
  /** Dollars for one coin. Null if the seller states none. */
  readonly nativeUsd: number | null
  /** Maximum blocks for which the payment is held before the chain gives it back. */
  readonly term: number
  /** Last height at which the price is honoured. */
  readonly validUntil: number
  readonly confirmations: number
  /** Genesis of the seller's network. Null if the seller does not state it. */
  readonly genesis: string | null
  readonly available: boolean
  readonly unavailableReason: string | null
  /** Why the request text is unusable. Null if it is usable. */
  readonly requestError: string | null
  /** The seller's unchecked details about an unusable request (`example`, `requestFormat`). Otherwise null. */
  readonly requestDetails: Readonly<Record<string, unknown>> | null
  /** Whether the payment will commit to the request text. True if that text is known. */
  readonly isCommitted: boolean
  readonly url: string
  readonly askedAtMs: number
  /** The option of the 402 answer, unchecked. */
  readonly offer: Readonly<Record<string, unknown>>
}

/** A payment and the secret that redeems it. The holder of the secret gets the work, so keep it until the answer is there. */
export interface Payment {
  readonly txId: string
  /** 32 bytes in hex. */
  readonly secret: string
  readonly serviceId: string
  /** Null if unknown. Such a payment commits to no request, and buys the one that it is sent with. */
  readonly request: string | null
  readonly quoteId: string
  readonly amount: bigint
  /** The signed transaction in hex, for sending it again. Null if unknown. */
  readonly tx: string | null
  /** Last height at which it can be mined. 0 if unknown. */
  readonly validUntil: number
}

/** State of a payment, by the knowledge of this client. */
export type PaymentState = 'signed' | 'submitted' | 'refused' | 'settled' | 'refunded' | 'void'

/** A payment in the journal. */
export interface PaymentRecord extends Payment {
  readonly state: PaymentState
  readonly url: string
  readonly sender: string
  readonly nonce: bigint
  readonly feeMax: bigint
  /** Dollars of amount and fee by the dearest known price. 0 if no price was known. */
  readonly usd: number
  readonly atMs: number
}

/** Records payments before they are sent. Every method may be asynchronous. */
export interface PaymentJournal {
  /** Writes a record and replaces an older one of the same txId. It must be durable when this resolves, or else reject. */
  put(record: PaymentRecord): Promise<void> | void
  get(txId: string): Promise<PaymentRecord | undefined> | PaymentRecord | undefined
  /** All records made at or after a time, in any order. */
  since(atMs: number): Promise<readonly PaymentRecord[]> | readonly PaymentRecord[]
  /** Notes of tabs. A journal without them serves single payments only. */
  readonly tabs?: TabJournal
}

/** Receipt of a paid call. Further fields are kept. */
export interface Receipt {
  readonly serviceId: string
  readonly caller: string
  /** Coins, for display. */
  readonly amount: number
  readonly txId: string
  readonly amountBaseUnits: string
  readonly blockHeight?: number
  readonly blockHash?: string
  readonly resultHash: string
  readonly requestHash: string
  readonly durationMs: number
  readonly completedAt: string
  readonly proof?: {
    readonly header: string
    readonly index: number
    readonly count: number
    readonly siblings: readonly string[]
  }
  readonly [more: string]: unknown
}

/** Checks of a receipt, made by this client itself. */
export interface VerifiedReceipt {
  readonly ok: boolean
  /** Names of the checks that failed. */
  readonly failed: readonly string[]
  readonly checks: {
    /** The payment is in the block of the given header. Null on a tab: a later claim commits to the receipt. */
    readonly paymentInBlock: boolean | null
    /** That header has the named block id and height, and its proof of work is valid. Null on a tab. */
    readonly headerWork: boolean | null
    /** The result has the hash that the receipt names. */
    readonly resultHash: boolean
    /** The receipt names the service, caller, amount and payment of this call. */
    readonly receiptMatches: boolean
    /** The receipt names the request that was sent. Null if the payment commits to none. */
    readonly requestHash: boolean | null
    /** A second node has the same header at that height. Null if none was asked. */
    readonly secondNode: boolean | null
  }
}

/** A paid call that was delivered. */
export interface CallResult<R = unknown> {
  readonly result: R
  readonly receipt: Receipt
  readonly payment: Payment
  /** Null if verification is off. */
  readonly verified: VerifiedReceipt | null
  /** If the call was paid from a tab. */
  readonly tab?: TabCallFacts
}

/** A service of the registry. Further fields are kept. */
export interface ServiceEntry {
  readonly serviceId: string
  readonly name: string
  readonly description: string
  readonly capability: string
  readonly priceNative: number
  readonly priceUsd: number
  readonly provenCalls: number
  readonly agentId: string
  readonly agentName: string
  readonly endpoint: string
  readonly requestFormat: string
  readonly available: boolean
  readonly unavailableReason?: string
  readonly example?: string
  readonly [more: string]: unknown
}

/** State of a paid call, by the word of its node. */
export interface PaidCallStatus {
  /** Null until a payment in dollars is settled. */
  readonly txId: string | null
  readonly serviceId: string
  readonly status: string
  readonly refund: RefundState | null
  readonly receiptTxId: string | null
  readonly [more: string]: unknown
}

/** A refund, by the word of a node. The chain pays it, or for a payment in dollars the seller. With `confirmed` it was paid. */
export interface RefundState {
  readonly status: string
  /** Whole units of `asset`. */
  readonly amount: number
  readonly asset: string
  readonly to: string
  readonly txId: string | null
  readonly reason: string
  readonly statusUrl: string
}

/** An event of a node. With `reset`, events may have been missed: read your data again. */
export interface NodeEvent {
  /** `<blockId>.<index>`. Pass it as `lastEventId` to continue after this event. */
  readonly id: string
  /** `block`, `reorganisation`, `receipt`, `refund` or `reset`. */
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Networks that every client knows. */
export type NetworkName = 'mainnet' | 'testnet' | 'devnet'

/** Facts of a network that a client must not learn from a node. */
export interface NetworkFacts {
  readonly name: string
  /** Id of the first block. Nothing is signed for a chain with another first block. */
  readonly genesis: string
  readonly chainId: number
  readonly addressPrefix: string
  readonly ticker: string
  readonly decimals: number
  readonly epochBlocks: number
  /** Allowed terms of a payment in blocks, ascending. */
  readonly invokeTerms: readonly number[]
  /** Weight of transactions in addition to their bytes. */
  readonly weight: {
    readonly perSignature: number
    readonly perStateWrite: number
    readonly createAccount: number
    readonly registerAgent: number
    readonly publishService: number
    readonly invokeRefund: number
    readonly createMarket: number
    readonly bridgeRecord: number
    readonly bridgeRotation: number
  }
  /** Cost of the proof of work (Argon2id). */
  readonly pow: { readonly memoryKiB: number; readonly passes: number; readonly lanes: number }
  /** Easiest target of a block, hex. */
  readonly powLimit: string
  /** Absent: the network has no tabs. */
  readonly tabs?: TabNetworkFacts
}

/** The rules about tabs that a client needs. */
export interface TabNetworkFacts {
  /** Least deposit in base units, decimal text. */
  readonly depositMin: string
  /** Allowed terms in blocks, ascending. */
  readonly terms: readonly number[]
  /** Allowed close delays in blocks, ascending. */
  readonly closeDelays: readonly number[]
  readonly perVoucher: number
  readonly openReturn: number
  readonly closeMove: number
}

/** Spending limits. Every limit has a default. */
export interface CeilingOptions {
  /** Maximum dollars of one call with its fee. Default 0.10. */
  readonly maxPerCallUsd?: number
  /** Maximum dollars in any 24 hours. Default 5. */
  readonly maxPerDayUsd?: number
  /** Maximum coins of one call with its fee, decimal text. Default 100. A node can lie about dollars, but not about coins. */
  readonly maxPerCallCoins?: string
  /** Maximum coins in any 24 hours, decimal text. Default 1000. */
  readonly maxPerDayCoins?: string
  /** Maximum dollars that one tab locks. Default 1. What is locked counts for the day. */
  readonly maxPerTabUsd?: number
  /** Maximum coins that one tab locks, decimal text. Default 100. */
  readonly maxPerTabCoins?: string
  /** Maximum fee of one transaction in coins, decimal text. Default 0.1. */
  readonly maxFee?: string
}

/** Sellers that this client pays. An absent list allows all. */
export interface AllowList {
  /**
   * Addresses or agents. The address that the seller names and the payout address that the client's node tells must both be listed, unless
   * the agent is listed.
   */
  readonly payTo?: readonly string[]
  /** Agents of the registry. The chain itself pays only the agent in the payment. */
  readonly agents?: readonly string[]
  readonly services?: readonly string[]
}

/** A payment that is about to be made, for `onPay`. */
export interface Intention {
  readonly quote: Quote
  /** Dollars of the amount, without the fee, by the dearest known price. Null if none is known. */
  readonly usd: number | null
}

/** Options of `wrapFetch`. */
export interface PaidFetchOptions {
  /**
   * How the request carries its payment. `header` (default): in `PAYMENT-SIGNATURE` or `X-PAYMENT`, by the offer's x402 version.
   * `body`: as `payment: {txId, secret}` in a JSON body, for servers of the plain interface.
   */
  readonly carrier?: 'header' | 'body'
  /** An earlier payment for the same request, which is offered instead of a new one. Use such a `fetch` for one request only. */
  readonly payment?: Payment
}

/** The part of an MCP client that `mcp` uses. The official clients have further parameters. */
export interface ToolCaller {
  callTool(...call: never[]): Promise<unknown>
}

/** Options of `mcp`. */
export interface PaidToolsOptions {
  /** Address of the MCP server. */
  readonly url?: string
}

/** Options of `events`. */
export interface EventOptions {
  /** Id of the last event that was seen. The stream begins with the events after it, if the node still has them. */
  readonly lastEventId?: string
  /** Only events of these types, and `reset`, which always comes. */
  readonly types?: readonly string[]
  /** Ends the iteration. */
  readonly signal?: AbortSignal
  /** Failed connections in a row after which the iteration fails. Default: no limit. */
  readonly attemptsMax?: number
}
