/**
 * What callers of the SDK see. This file imports nothing, so that the published types stand alone. Amounts are base units
 * as `bigint` unless their name says otherwise.
 */

/** Keys of an account: its scheme, how many of them must sign, and the keys in order. */
export interface SignerKeys {
  readonly scheme: number
  readonly threshold: number
  readonly keys: readonly { readonly scheme: number; readonly bytes: Uint8Array }[]
}

/** Whoever signs for one account: a key in memory (`farthing/client/wallet`), a browser extension, a device, a remote signer. */
export interface Signer {
  readonly keys: SignerKeys
  /** At least as many signatures as the threshold, by ascending key index, over the message under the context. */
  sign(
    message: Uint8Array,
    context: Uint8Array,
  ): Promise<readonly { readonly keyIndex: number; readonly bytes: Uint8Array }[]>
}

/** A price for one call, as a seller named it. It is a stranger's word: {@link Quote.usd} is the dearer of the ways it says it. */
export interface Quote {
  /** Made by this client; a quote is paid once. */
  readonly quoteId: string
  readonly serviceId: string
  /** Null where this client does not know what the seller takes for the request. */
  readonly request: string | null
  readonly agentId: string
  /** Address that the seller says it is paid at; the chain pays the agent's own payout address. */
  readonly payTo: string
  readonly amount: bigint
  /** The amount in coins of the network, decimal text. */
  readonly coins: string
  /** Null where the seller names no dollars. */
  readonly usd: number | null
  /** Dollars for one coin, null where the seller does not say. */
  readonly nativeUsd: number | null
  /** Blocks for which the payment would be held at most before the chain gives it back. */
  readonly term: number
  /** Last height that honours the price. */
  readonly validUntil: number
  readonly confirmations: number
  /** Genesis of the network that the seller wants to be paid on; null where it does not say. */
  readonly genesis: string | null
  readonly available: boolean
  readonly unavailableReason: string | null
  /** Why the request text is unusable; null where it is not. */
  readonly requestError: string | null
  /** What the seller says beside the reason, as it came (`example`, `requestFormat`); null where the request is not unusable. */
  readonly requestDetails: Readonly<Record<string, unknown>> | null
  /** Whether the payment commits to the request text: always where that is known. */
  readonly isCommitted: boolean
  /** Where it was asked for. */
  readonly url: string
  /** When it was asked for, milliseconds since 1970. */
  readonly askedAtMs: number
  /** The option of the 402 answer as it came. */
  readonly offer: Readonly<Record<string, unknown>>
}

/** A payment with all that redeems it. Whoever has the secret can have the work done: keep it until the answer is there. */
export interface Payment {
  readonly txId: string
  /** 32 bytes in hex. */
  readonly secret: string
  readonly serviceId: string
  /** Null where this client does not know it: such a payment commits to none, and buys whatever it is sent with. */
  readonly request: string | null
  readonly quoteId: string
  readonly amount: bigint
  /** The signed transaction in hex, to be sent again; null where it is not known any more. */
  readonly tx: string | null
  /** Last height at which it can be mined; 0 where it is not known. */
  readonly validUntil: number
}

/** How far a payment is, as far as this client knows. */
export type PaymentState = 'signed' | 'submitted' | 'refused' | 'settled' | 'refunded' | 'void'

/** A payment in the journal. */
export interface PaymentRecord extends Payment {
  readonly state: PaymentState
  readonly url: string
  readonly sender: string
  readonly nonce: bigint
  /** Most that its fee can be. */
  readonly feeMax: bigint
  /** Dollars of amount and fee by the dearest price that was heard; 0 where only coins were bounded. */
  readonly usd: number
  readonly atMs: number
}

/** Where payments are written down before they are sent. Every method may be asynchronous. */
export interface PaymentJournal {
  /** Writes a record, in place of an older one of the same txId. Durable when it resolves, or it must reject. */
  put(record: PaymentRecord): Promise<void> | void
  get(txId: string): Promise<PaymentRecord | undefined> | PaymentRecord | undefined
  /** Every record made at or after a moment, in any order. */
  since(atMs: number): Promise<readonly PaymentRecord[]> | readonly PaymentRecord[]
}

/** Receipt of a paid call; fields beyond those named are kept. */
export interface Receipt {
  readonly serviceId: string
  readonly caller: string
  /** Coins, for people. */
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

/** What was checked of a receipt, each by this client itself. */
export interface VerifiedReceipt {
  /** Everything that was checked held. */
  readonly ok: boolean
  /** Names of the checks that failed. */
  readonly failed: readonly string[]
  readonly checks: {
    /** The payment is in the block whose header came along. */
    readonly paymentInBlock: boolean
    /** That header is the block named, at its height, and its proof of work holds. */
    readonly headerWork: boolean
    /** The result is the one that the receipt names. */
    readonly resultHash: boolean
    /** Service, caller, amount and payment are those of this call. */
    readonly receiptMatches: boolean
    /** The request that the receipt names is the one that was sent; null where the payment commits to none. */
    readonly requestHash: boolean | null
    /** A second node has the same header at that height; null where none was asked. */
    readonly secondNode: boolean | null
  }
}

/** A call that was paid for and delivered. */
export interface CallResult<R = unknown> {
  readonly result: R
  readonly receipt: Receipt
  readonly payment: Payment
  /** Null where verification was switched off. */
  readonly verified: VerifiedReceipt | null
}

/** A service of the registry; fields beyond those named are kept. */
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

/** State of a paid call as its node tells it. */
export interface PaidCallStatus {
  /** Null until a payment in dollars is settled. */
  readonly txId: string | null
  readonly serviceId: string
  readonly status: string
  readonly refund: RefundState | null
  readonly receiptTxId: string | null
  readonly [more: string]: unknown
}

/** A refund as a node tells it. The chain pays it; `confirmed` means that it did. */
export interface RefundState {
  readonly status: string
  /** Coins. */
  readonly amount: number
  readonly asset: string
  readonly to: string
  readonly txId: string | null
  readonly reason: string
  readonly statusUrl: string
}

/** An event of a node. After a `reset` events may have been missed: read what you keep anew. */
export interface NodeEvent {
  /** `<blockId>.<index>`; give it as `lastEventId` to go on behind it. */
  readonly id: string
  /** `block`, `reorganisation`, `receipt`, `refund` or `reset`. */
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Names of the networks that every client knows. */
export type NetworkName = 'mainnet' | 'testnet' | 'devnet'

/** What a client must know of a network, so that no node can tell it another. */
export interface NetworkFacts {
  readonly name: string
  /** Id of the first block: no signature is ever given for a chain with another one. */
  readonly genesis: string
  readonly chainId: number
  readonly addressPrefix: string
  readonly ticker: string
  readonly decimals: number
  readonly epochBlocks: number
  /** Terms that a payment may have, in blocks, ascending. */
  readonly invokeTerms: readonly number[]
  /** What transactions weigh beyond their bytes. */
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
}

/** What may be spent; every bound is on unless it is said otherwise. */
export interface CeilingOptions {
  /** Dollars that one call may cost, its fee included; default 0.10. */
  readonly maxPerCallUsd?: number
  /** Dollars that the calls of any 24 hours may cost; default 5. */
  readonly maxPerDayUsd?: number
  /** Coins that one call may cost, decimal text; default 100. Dollars come from a node and can be lied about, coins cannot. */
  readonly maxPerCallCoins?: string
  /** Coins that the calls of any 24 hours may cost; default 1000. */
  readonly maxPerDayCoins?: string
  /** Coins of fee that one transaction may cost; default 0.1. */
  readonly maxFee?: string
}

/** Whom this client pays; what is absent is not bounded. */
export interface AllowList {
  /** Addresses or agents: what the seller names, and where the own node says that its agent is paid, must both be listed. */
  readonly payTo?: readonly string[]
  /** Agents of the registry: these the chain itself holds the seller to. */
  readonly agents?: readonly string[]
  readonly services?: readonly string[]
}

/** What is about to be paid, for `onPay`. */
export interface Intention {
  readonly quote: Quote
  /** Dollars by the dearest price that was heard; null where no node named any. */
  readonly usd: number | null
}

/** How a paid request carries its payment. */
export interface PaidFetchOptions {
  /**
   * `header` (default) is x402: `PAYMENT-SIGNATURE` or `X-PAYMENT` by the generation of the offer. `body` adds
   * `payment: {txId, secret}` to a JSON body, for servers of the plain interface.
   */
  readonly carrier?: 'header' | 'body'
  /** A payment that was made before for the very request: it is offered instead of a new one. For one request alone. */
  readonly payment?: Payment
}

/** What of an MCP client the helper takes; both official lines have it, each with further parameters of its own. */
export interface ToolCaller {
  callTool(...call: never[]): Promise<unknown>
}

/** Which events, and from where on. */
export interface EventOptions {
  /** Id of the last event that was seen: those behind it come first, as far as the node keeps them. */
  readonly lastEventId?: string
  /** Only these types; a `reset` always comes. */
  readonly types?: readonly string[]
  /** Ends the iteration. */
  readonly signal?: AbortSignal
  /** Times in a row that the node may be out of reach before the iteration fails; default without end. */
  readonly attemptsMax?: number
}
