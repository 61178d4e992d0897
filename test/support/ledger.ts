import { BlockExecution, type ExecutedBlock } from '../../consensus/chain/execution.ts'
import type { Rules } from '../../consensus/chain/params.ts'
import { createRuleBook, type RuleBook } from '../../consensus/chain/rule-book.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { Balance } from '../../consensus/ledger/conservation.ts'
import { outcomeCode } from '../../consensus/ledger/outcome.ts'
import type { ReceiptOf } from '../../consensus/ledger/receipt.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { runNow } from '../../consensus/primitives/steps.ts'
import type { StateTable } from '../../consensus/state/table.ts'
import { MemoryState } from '../../consensus/state/view.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { testParams } from './network.ts'
import { type EnvelopeChange, filled, unsigned } from './unsigned.ts'

/** Genesis balance of every funded account of a test ledger, in base units. */
export const FUNDS = 1_000_000_000_000n
/** The miner of a test ledger's blocks. */
export const MINER = filled<Address>(0x99)

/** How a sent transaction ended. `code` is the code of its fault, or `success`. */
export interface SentOutcome {
  readonly code: string
  readonly receipt: ReceiptOf<'transaction'>
  readonly block: ExecutedBlock
  readonly tx: Transaction
}

/** A rule book whose genesis funds the accounts `filled(1)` to `filled(count)`. `change` replaces rules. */
export function fundedRuleBook(count = 6, protocol = PROTOCOL, change: Partial<Rules> = {}): RuleBook {
  const params = testParams(change)
  const allocations = Array.from({ length: count }, (_, i) => ({ address: filled<Address>(i + 1), amount: FUNDS }))
  return createRuleBook({ ...params, genesis: { ...params.genesis, allocations } }, protocol)
}

/** The ledgers alone: transactions are executed on a state in memory, without signatures or a store. */
export class TestLedger {
  readonly state = new MemoryState()
  readonly ruleBook: RuleBook
  /** Height of the next block. */
  height = 1

  constructor(ruleBook: RuleBook = fundedRuleBook()) {
    this.ruleBook = ruleBook
    this.state.apply(ruleBook.genesis.changes)
  }

  get<Id, T>(table: StateTable<Id, T>, id: Id): T | undefined {
    return this.state.get(table, id)
  }

  balance(address: Address): bigint {
    return this.state.get(ACCOUNTS, address)?.balance ?? -1n
  }

  /** An unsigned transaction with the sender's next nonce. */
  tx<K extends TxKind>(sender: Address, kind: K, payload: PayloadOf<K>, change: EnvelopeChange = {}): Transaction {
    const nonce = this.state.get(ACCOUNTS, sender)?.nonce ?? 0n
    return unsigned(kind, payload, { sender, nonce, ...change })
  }

  /** Begins the next block without ending it. */
  open(baseFee = 32n): BlockExecution {
    const execution = new BlockExecution(this.ruleBook, this.state, { height: this.height, miner: MINER, baseFee })
    runNow(execution.begin())
    return execution
  }

  /** Executes the next block. Throws if a transaction cannot be in it. */
  block(transactions: readonly Transaction[] = [], baseFee = 32n): ExecutedBlock {
    const execution = this.open(baseFee)
    for (const tx of transactions) {
      const fault = execution.apply(tx)
      if (fault !== null) throw new Error(JSON.stringify(fault))
    }
    const executed = runNow(execution.close())
    this.state.apply(executed.changes)
    this.height++
    return executed
  }

  /** Executes empty blocks until the next one has this height. */
  advanceTo(height: number): void {
    while (this.height < height) this.block()
  }

  /** Why a transaction cannot be in the next block, or null. */
  refusal(tx: Transaction, baseFee = 32n): Fault | null {
    return this.open(baseFee).apply(tx)
  }

  /** Executes the next block with one transaction. */
  send<K extends TxKind>(sender: Address, kind: K, payload: PayloadOf<K>, change: EnvelopeChange = {}): SentOutcome {
    const tx = this.tx(sender, kind, payload, change)
    const block = this.block([tx])
    const receipt = block.receipts.find((one): one is ReceiptOf<'transaction'> => one.type === 'transaction')
    if (receipt === undefined) throw new Error('no receipt')
    return { code: receipt.code === 0 ? 'success' : String(outcomeCode(receipt.code)), receipt, block, tx }
  }

  /** Assets whose totals in the whole state do not balance. */
  broken(): readonly unknown[] {
    const balance = new Balance()
    for (const { table, key, value } of this.state.records()) {
      balance.count(table, key, table.codec.deserialize(value), 1n)
    }
    return balance.broken()
  }
}
