/**
 * Public types of tabs. This file imports nothing, so that the published types stand alone. Amounts in notes and receipts
 * are base units as decimal text, so that they are JSON as they are.
 */

/** A receipt as the seller signs it, in JSON. `outcome`: 0 delivered, 1 failed and not charged. */
export interface TabReceiptJson {
  readonly tabId: string
  readonly seq: number
  /** Number of this receipt among those of the tab, from 1. */
  readonly n: number
  readonly serviceId: string
  readonly context: string
  readonly resultHash: string
  readonly outcome: number
  readonly charged: string
  /** Sum of `charged` up to and with this receipt. */
  readonly cumulative: string
  readonly durationMs: number
  readonly timeMs: number
  /** By the receipt key of the tab. */
  readonly signature: string
}

/** Opening of a tab, noted before it is sent. */
export interface OpeningNote {
  readonly what: 'opening'
  readonly tabId: string
  readonly agentId: string
  readonly payer: string
  readonly payout: string
  readonly receiptKey: string
  readonly voucherKey: string
  /** Seed of the voucher key. Null if the wallet derives it from `nonce`. */
  readonly seed: string | null
  readonly nonce: string
  readonly deposit: string
  readonly term: number
  readonly closeDelay: number
  /** Prices of the agent's services by the chain. */
  readonly prices?: TabPrices
  /** The signed transaction in hex. Null for a tab that was found on the chain. */
  readonly tx: string | null
  readonly validUntil: number
  readonly atMs: number
}

/** Base units that services cost, by their ids. */
export type TabPrices = Readonly<Record<string, string>>

/** Prices by the chain that the note of the opening does not have. */
export interface PricesNote {
  readonly what: 'prices'
  readonly tabId: string
  readonly prices: TabPrices
}

/** A top-up or a close, noted before it is sent. */
export interface MoveNote {
  readonly what: 'fund' | 'close'
  readonly tabId: string
  readonly txId: string
  readonly amount: string
  readonly tx: string
  readonly validUntil: number
  readonly atMs: number
}

/** A call with its voucher, noted before it is sent. It is all that is needed to ask again with the same bytes. */
export interface CallNote {
  readonly what: 'call'
  readonly tabId: string
  readonly seq: number
  readonly ceiling: string
  /** The most that this call may be charged. */
  readonly amount: string
  readonly serviceId: string
  readonly request: string
  readonly requestHash: string
  readonly secret: string
  readonly context: string
  readonly signature: string
  /** The opening or top-up that the seller must see first. Null if it has. */
  readonly transaction: string | null
  /** The newest receipt that this client has, with the first call of a process: a seller that lost it must say so. */
  readonly lastReceipt?: TabReceiptJson
  readonly atMs: number
}

/** A receipt, noted before the call returns. */
export interface ReceiptNote {
  readonly what: 'receipt'
  readonly tabId: string
  readonly receipt: TabReceiptJson
}

/** A call that the seller refused: it was not served. Or a top-up that the node refused: `context` is its id. */
export interface RefusedNote {
  readonly what: 'refused'
  readonly tabId: string
  readonly context: string
  readonly code: string
}

/** Where a wallet without notes began: the seller's word, within what the wallet's own key had signed. */
export interface BaseNote {
  readonly what: 'base'
  readonly tabId: string
  readonly charged: string
  readonly receipts: number
  readonly nextSeq: number
  readonly ceiling: string
}

/** Nothing more is signed for this tab. `evidence` shows why. */
export interface StopNote {
  readonly what: 'stop'
  readonly tabId: string
  readonly code: string
  readonly reason: string
  readonly evidence: TabEvidence | null
  readonly atMs: number
}

/** The tab is over: the chain does not have it any more. */
export interface EndNote {
  readonly what: 'end'
  readonly tabId: string
  readonly atMs: number
}

/** One line of what a client knows of a tab. */
export type TabNote =
  | OpeningNote
  | PricesNote
  | MoveNote
  | CallNote
  | ReceiptNote
  | RefusedNote
  | BaseNote
  | StopNote
  | EndNote

/** Notes of tabs. Every method may be asynchronous. */
export interface TabJournal {
  /** Adds a note. It must be durable when this resolves, or else reject. */
  append(note: TabNote): Promise<void> | void
  /** The notes of a tab in the order in which they were added. */
  read(tabId: string): Promise<readonly TabNote[]> | readonly TabNote[]
  /** Ids of all tabs with notes. */
  list(): Promise<readonly string[]> | readonly string[]
}

/**
 * What shows that a seller did not keep to a tab: no honest one could have signed it, whatever was lost or late. Any reader can check it who has the record of the tab, or, after
 * its end, its opening: `receiptKey` signed the receipts, `voucherKey` the voucher.
 */
export interface TabEvidence {
  readonly kind:
    | 'two receipts for one number'
    | 'two receipts for one call'
    | 'sums that do not add up'
    | 'a claim that its receipts contradict'
    | 'a receipt that does not fit its call'
  readonly genesis: string
  readonly chainId: number
  readonly tabId: string
  readonly agentId: string
  readonly receiptKey: string
  readonly voucherKey: string
  readonly receipts: readonly TabReceiptJson[]
  /** What the seller said or claimed, as it came. */
  readonly said: Readonly<Record<string, unknown>> | null
}

/** Options of opening a tab. */
export interface TabOptions {
  /** Coins to lock, decimal text. */
  readonly deposit: string
  /** Blocks until the tab ends by itself. Default: a day. */
  readonly term?: number
  /** Blocks from asking the chain to close until the deposit is back. Default: the least that the agent takes. */
  readonly closeDelay?: number
}

/** Options of one call on a tab. */
export interface TabCallOptions {
  /** Coins, decimal text: agrees to a price up to this, also where it rose. The limits of the client hold as well. */
  readonly maxPrice?: string
}

/** Tabs that the client opens by itself. */
export interface AutomaticTabs {
  /** Most coins to lock in one tab, decimal text. */
  readonly maxDeposit: string
  /** How many calls a deposit is for. Default 50. */
  readonly callsAhead?: number
}

/** How a tab stands. Amounts in base units. */
export interface TabStanding {
  readonly tabId: string
  readonly agentId: string
  /**
   * `opening`: not mined yet. `closing`: the payer asked the chain to close. `stopped`: this client signs nothing more for it,
   * `reason` says why. `ended`: the chain gave back what was left. `void`: it was never opened, and nothing was locked.
   */
  readonly status: 'opening' | 'open' | 'closing' | 'stopped' | 'ended' | 'void'
  readonly reason: string | null
  readonly deposit: bigint
  /** What the seller took by claims. */
  readonly claimed: bigint
  /** What receipts charged. */
  readonly charged: bigint
  /** The most that calls without an answer may still be charged. */
  readonly unresolved: bigint
  /** What is left for calls. */
  readonly available: bigint
  /** Receipts that this client has, failed calls included. */
  readonly receipts: number
  readonly unanswered: number
  /** Height at which the chain gives back what is left. 0 if unknown. */
  readonly endsAt: number
  readonly height: number
}

/** A call on a tab, beside the result. */
export interface TabCallFacts {
  readonly tabId: string
  readonly seq: number
  readonly charged: bigint
  readonly receipt: TabReceiptJson
}

/** One claim of a tab in a check of its receipts. */
export interface CheckedClaim {
  readonly txId: string
  readonly height: number
  readonly receipts: number
  readonly claimed: bigint
  /** Whether its root is that of the receipts. Null if receipts are missing. */
  readonly root: boolean | null
}

/** Result of checking the receipts of a tab. */
export interface CheckedTab {
  readonly ok: boolean
  /** Names of the checks that failed. */
  readonly failed: readonly string[]
  readonly checks: {
    /** The receipt key signed every receipt. */
    readonly signatures: boolean
    /** Numbers and sums go on without a gap. */
    readonly sums: boolean
    /** Every claim has the root of the receipts that it covers. Null if receipts of a claim are missing. */
    readonly roots: boolean | null
    /** No claim takes more than the receipts charge. */
    readonly claims: boolean
    /** Every receipt is of a call of this client. Null if its notes do not have all calls of the tab. */
    readonly own: boolean | null
    /** Journal or seller have a signed receipt of everything that was claimed. */
    readonly complete: boolean
    /** The claims are all that there are, by the tab's record. Null if the chain does not have the tab. */
    readonly chain: boolean | null
  }
  readonly receipts: number
  /** Numbers of receipts that a claim covers and that neither journal nor seller have, the first 100,000 of them. */
  readonly missing: readonly number[]
  readonly claims: readonly CheckedClaim[]
  readonly evidence: TabEvidence | null
}

/** A tab that a wallet found. */
export interface RecoveredTab {
  readonly standing: TabStanding
  /** What this client did not know before, in base units: charges that it has no notes of. */
  readonly unnoted: bigint
}

/** How a tab was asked to close. */
export interface TabClosing {
  /** `seller`: it claims and closes. `chain`: by `tab_close`. */
  readonly by: 'seller' | 'chain'
  readonly txId: string | null
  /** Height at which the deposit is back at the latest. */
  readonly endsAt: number
}
