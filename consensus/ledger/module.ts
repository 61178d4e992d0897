import type { SignatureJob, SigningNetwork } from '../crypto/signing.ts'
import type { TabSignature } from '../crypto/tab-signing.ts'
import type { Amount } from '../primitives/amount.ts'
import type { Fault } from '../primitives/fault.ts'
import type { Overlay, ValueChange } from '../state/overlay.ts'
import type { AnyStateTable, StateKey } from '../state/table.ts'
import type { StateView } from '../state/view.ts'
import type { TxKind } from '../tx/kinds.ts'
import type { TxRules } from '../tx/rules.ts'
import type { Transaction, TxBody } from '../tx/transaction.ts'
import type { Receipt } from './receipt.ts'
import type { BridgeRules, CoinRules, GenesisLedgers, MarketRules, StakingRules, TokenRules } from './rules.ts'

/** The rules that ledgers use. */
export interface LedgerRules {
  readonly tx: TxRules
  readonly coin: CoinRules
  readonly market: MarketRules
  readonly token: TokenRules
  readonly staking: StakingRules
  readonly bridge: BridgeRules
}

/** What an automatic effect of a block can read and do. */
export interface BlockContext {
  readonly rules: LedgerRules
  /** If a rule step begins with this block, the rules of the block before; else null. */
  readonly endedRules: LedgerRules | null
  readonly height: number
  readonly overlay: Overlay
  readonly emit: (receipt: Receipt) => void
}

/** What a transaction can read and do. */
export interface TxContext {
  readonly rules: LedgerRules
  readonly height: number
  /** Place of the transaction in its block. */
  readonly index: number
  readonly overlay: Overlay
  /** For `agent_receipt` and `tab_claim`: sets the outcome number of each entry, for the receipt. */
  readonly reportEntries: (numbers: readonly number[]) => void
  /** Sets computed amounts for the receipt; at most `RECEIPT_AMOUNTS_MAX`. */
  readonly reportAmounts: (amounts: readonly Amount[]) => void
  /** Attestations are signed for this network. */
  readonly network: SigningNetwork
  /** Only for signatures that the transaction's weight has paid for. */
  readonly verifies: (job: SignatureJob) => boolean
  /** The same for the signature of a tab's key. Asked for those of {@link LedgerModule.signaturesIn}, it need not verify. */
  readonly verifiesTab: (job: TabSignature) => boolean
}

/** The fee is taken before `apply` runs, and the invariants are checked after it. */
export interface KindHandler<K extends TxKind> {
  /** After a failure its writes are undone. */
  readonly apply: (context: TxContext, tx: Transaction<K>) => Fault | null
  /** Most native coins that the payload can take from the sender, without the fee. */
  readonly spends: (body: TxBody<K>, rules: LedgerRules) => Amount
  /** Whether on this state the transaction would cost its fee and change nothing else. Absent: it is not told beforehand. */
  readonly isSpent?: (body: TxBody<K>, view: StateView) => boolean
}

/** A handler for every kind; a missing one does not compile. */
export type KindHandlers = { readonly [K in TxKind]: KindHandler<K> }

/** A state record and its key. */
export interface StateRecord {
  readonly key: StateKey
  readonly value: unknown
}

/** A ledger: its tables, the transaction kinds it executes, its automatic effects and its invariant. */
export interface LedgerModule {
  readonly name: string
  readonly tables: readonly AnyStateTable[]
  readonly handlers: Partial<KindHandlers>
  /** Whether the rules have this ledger. Absent: every network began with it. */
  readonly isIn?: (rules: LedgerRules) => boolean
  /** Effects due at the start of a block. They always run in full; the yields let the caller pause. */
  readonly beginBlock?: (context: BlockContext) => Iterable<void>
  /**
   * Derives the tables outside the state root, whose records a snapshot does not bring. Called several times, each time
   * with some of the ledger's records, until it was given all of them. The overlay always shows all records of the
   * snapshot, and what earlier calls derived. Yields, so that the caller can pause.
   */
  readonly derive?: (overlay: Overlay, records: Iterable<StateRecord>) => Iterable<void>
  /**
   * Signatures inside payloads whose keys are in the view, or in the transactions: they can be checked before these are
   * executed. Yields some at a time, so that the caller can pause.
   */
  readonly signaturesIn?: (
    transactions: readonly Transaction[],
    view: StateView,
    network: SigningNetwork,
  ) => Iterable<readonly TabSignature[]>
  readonly genesis?: (overlay: Overlay, rules: LedgerRules, ledgers: GenesisLedgers) => void
  /** Name of an invariant that the changes break, or null. Conservation is checked for all ledgers. */
  readonly invariant?: (changes: readonly ValueChange[], rules: LedgerRules) => string | null
}
