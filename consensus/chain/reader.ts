import type { AccountKeys } from '../crypto/account-keys.ts'
import type { SigningNetwork } from '../crypto/signing.ts'
import type { Address } from '../primitives/ids.ts'
import type { Result } from '../primitives/result.ts'
import type { Transaction } from '../tx/transaction.ts'
import type { ChainDatabase } from './database.ts'
import type { HeadFollower, HeadListener } from './events.ts'
import type { SideBranches } from './fork-choice.ts'
import type { KeyRegistry } from './key-registry.ts'
import type { BlockEntry } from './layout.ts'
import type { RuleBook } from './rule-book.ts'

/** The stored chain for readers: no methods that write. */
export interface DatabaseReader
  extends Pick<
    ChainDatabase,
    | 'head'
    | 'base'
    | 'held'
    | 'indexedFrom'
    | 'get'
    | 'page'
    | 'stateRecords'
    | 'stateRange'
    | 'entry'
    | 'idAt'
    | 'isCanonical'
    | 'transactions'
    | 'encodedTransactions'
    | 'transactionAt'
    | 'transactionIds'
    | 'bodyAt'
    | 'block'
    | 'receipts'
    | 'location'
    | 'keysOf'
    | 'indexed'
    | 'indexRange'
    | 'indexPage'
    | 'historyNode'
    | 'peaksThrough'
  > {
  readonly side: Pick<SideBranches, 'size' | 'has' | 'ids'>
}

/** The public keys that the chain has seen. */
export interface KeyReader {
  keysOf(address: Address): AccountKeys | undefined
  /** A transaction's own keys at nonce 0, else those in `pending` or seen before. */
  keysFor(tx: Transaction, pending?: ReadonlyMap<Address, AccountKeys>): Result<AccountKeys>
  /** See {@link KeyRegistry.jobsFor}. */
  readonly jobsFor: KeyRegistry['jobsFor']
}

/** The best chain for code that only reads it. */
export interface ChainReader {
  readonly database: DatabaseReader
  readonly ruleBook: RuleBook
  readonly network: SigningNetwork
  readonly keys: KeyReader
  readonly head: BlockEntry
  /** Whether the head is temporary: a reorganisation or an adoption is under way, or one has failed for good. */
  readonly moving: boolean
  onHeadChange(listener: HeadListener): void
  childOf(parent: BlockEntry): { readonly target: bigint; readonly historyRoot: string }
}

/** The best chain for code that must prepare for a move before listeners hear of it. */
export interface ChainFollower extends ChainReader {
  /** See {@link HeadFollower}. */
  onMove(follower: HeadFollower): void
}
