import type { SignatureJob, SigningNetwork } from '../crypto/signing.ts'
import type { Amount } from '../primitives/amount.ts'
import type { Fault } from '../primitives/fault.ts'
import type { Overlay, ValueChange } from '../state/overlay.ts'
import type { AnyStateTable, StateKey } from '../state/table.ts'
import type { TxKind } from '../tx/kinds.ts'
import type { TxRules } from '../tx/rules.ts'
import type { Transaction, TxBody } from '../tx/transaction.ts'
import type { Receipt } from './receipt.ts'
import type { BridgeRules, CoinRules, GenesisLedgers, MarketRules, StakingRules, TokenRules } from './rules.ts'

/** The rules a ledger may ask for. */
export interface LedgerRules {
  readonly tx: TxRules
  readonly coin: CoinRules
  readonly market: MarketRules
  readonly token: TokenRules
  readonly staking: StakingRules
  readonly bridge: BridgeRules
}

/** What an automatic effect of a block may know and do. */
export interface BlockContext {
  readonly rules: LedgerRules
  /** Rules of the block before, where a rule step begins with this block; else null. */
  readonly endedRules: LedgerRules | null
  readonly height: number
  readonly overlay: Overlay
  readonly emit: (receipt: Receipt) => void
}

/** What a transaction may know and do. */
export interface TxContext {
  readonly rules: LedgerRules
  readonly height: number
  /** Place of the transaction in its block. */
  readonly index: number
  readonly overlay: Overlay
  /** Outcome numbers of a transaction that consists of independent entries. */
  readonly reportEntries: (numbers: readonly number[]) => void
  /** What the chain worked out, for the receipt; at most `RECEIPT_AMOUNTS_MAX`. */
  readonly reportAmounts: (amounts: readonly Amount[]) => void
  /** Network that attestations are signed for. */
  readonly network: SigningNetwork
  /** Whether a witness over something else than the transaction verifies; only for what the transaction paid. */
  readonly verifies: (job: SignatureJob) => boolean
}

/** What a transaction kind does. The fee is taken before, the invariants are checked after. */
export interface KindHandler<K extends TxKind> {
  /** Executes the payload on the overlay, or says why it fails; what it wrote before failing is taken back. */
  readonly apply: (context: TxContext, tx: Transaction<K>) => Fault | null
  /** Native coins that leave the sender beside the fee: what a mempool must see covered. */
  readonly spends: (body: TxBody<K>, rules: LedgerRules) => Amount
}

/** A handler for every kind: a kind without one does not compile. */
export type KindHandlers = { readonly [K in TxKind]: KindHandler<K> }

/** A record of the state with its key. */
export interface StateRecord {
  readonly key: StateKey
  readonly value: unknown
}

/** A ledger: the records it owns, the kinds it executes, its automatic effects and its own invariant. */
export interface LedgerModule {
  readonly name: string
  readonly tables: readonly AnyStateTable[]
  readonly handlers: Partial<KindHandlers>
  /** Effects that are due at the start of a block; always run in full, with yields on the way. */
  readonly beginBlock?: (context: BlockContext) => Iterable<void>
  /**
   * What records inside the state root say of the tables outside it: after a snapshot, which brings the former alone, this is
   * called with all of them, many at a time. The overlay shows all of them, and what was derived so far. It yields on the way.
   */
  readonly derive?: (overlay: Overlay, records: Iterable<StateRecord>) => Iterable<void>
  /** Records that a network begins with. */
  readonly genesis?: (overlay: Overlay, rules: LedgerRules, ledgers: GenesisLedgers) => void
  /** Name of an invariant of this ledger that the changes break, or null. Conservation is checked for all. */
  readonly invariant?: (changes: readonly ValueChange[], rules: LedgerRules) => string | null
}
