import { type Block, sizeInBlock } from '../block/block.ts'
import { ACCOUNTS } from '../ledger/account.ts'
import { Balance, conserves } from '../ledger/conservation.ts'
import type { BlockContext, KindHandler, TxContext } from '../ledger/module.ts'
import { OUTCOME_NUMBERS, OUTCOME_OK, type OutcomeCode } from '../ledger/outcome.ts'
import { encodeReceipt, type Receipt, type ReceiptOf, receiptsRoot } from '../ledger/receipt.ts'
import { closeBlock } from '../ledger/rewards.ts'
import { type Amount, add, amount, formatAmount, subtract, subtractProven, ZERO } from '../primitives/amount.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, Hash } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { Overlay } from '../state/overlay.ts'
import type { StateKey } from '../state/table.ts'
import type { StateChange, StateView } from '../state/view.ts'
import { checkTransaction } from '../tx/check.ts'
import type { TxKind } from '../tx/kinds.ts'
import type { Transaction } from '../tx/transaction.ts'
import { declaredWrites, rateOf, weightOf } from '../tx/weight.ts'
import type { Rules } from './params.ts'
import type { RuleBook } from './rule-book.ts'

/** A consensus invariant broke at block level: a bug of this program. The node stops before it commits the block. */
export class InvariantError extends Error {
  override name = 'InvariantError'
}

const RECORDS_PER_STEP = 256

/** What the effects of a block depend on, beside its transactions and the state before it. */
export interface ExecutionFrame {
  readonly height: number
  readonly miner: Address
  readonly baseFee: bigint
}

/** The results of executing a block. */
export interface ExecutedBlock {
  readonly changes: readonly StateChange[]
  readonly receipts: readonly Receipt[]
  readonly encodedReceipts: readonly Uint8Array[]
  readonly receiptsRoot: Hash
  readonly weightUsed: number
  /** Public keys by address, from transactions with nonce 0. */
  readonly keys: ReadonlyMap<Address, Uint8Array>
}

interface PayloadOutcome {
  readonly entries: readonly number[]
  readonly amounts: readonly Amount[]
  readonly failure: Fault | null
}

/**
 * Executes one block over a view, which is only read: automatic effects first, then each transaction, then the closing
 * step.
 */
export class BlockExecution {
  readonly #ruleBook: RuleBook
  readonly #rules: Rules
  readonly #frame: ExecutionFrame
  readonly #overlay: Overlay
  readonly #receipts: Receipt[] = []
  readonly #keys = new Map<Address, Uint8Array>()
  #count = 0
  #weight = 0
  #burned: Amount = ZERO
  #tips: Amount = ZERO

  constructor(ruleBook: RuleBook, view: StateView, frame: ExecutionFrame) {
    this.#ruleBook = ruleBook
    this.#rules = ruleBook.at(frame.height)
    this.#frame = frame
    this.#overlay = new Overlay(view)
  }

  /** Runs the automatic effects. Yields, so that the caller can pause. */
  *begin(): Generator<void> {
    for (const module of this.#ruleBook.modules) {
      if (module.beginBlock !== undefined) yield* module.beginBlock(this.#context())
    }
  }

  /** The state after what was executed so far. */
  get view(): StateView {
    return this.#overlay
  }

  writtenKeys(): ReadonlySet<StateKey> {
    return new Set(this.#overlay.changesSince(0).map(({ key }) => key))
  }

  /**
   * A fault means that the transaction cannot be in this block; nothing has changed then. A payload that fails is no
   * fault: it uses up nonce and fee, and its receipt has the code.
   */
  apply(tx: Transaction): Fault | null {
    const weight = weightOf(tx, this.#rules.tx)
    const charged = this.#chargeFee(tx, weight)
    if (!charged.ok) return charged.fault
    const { entries, amounts, failure } = this.#runPayload(tx)
    const code = failure === null ? OUTCOME_OK : OUTCOME_NUMBERS[failure.code as OutcomeCode]
    if (code === undefined)
      throw new InvariantError(`a payload failed with ${failure?.code}, which has no outcome number`)
    this.#receipts.push({ type: 'transaction', txId: tx.txId, code, weight, entries, amounts, ...charged.value })
    if (tx.body.nonce === 0n) this.#keys.set(tx.body.sender, tx.witness.keys)
    this.#weight += weight
    this.#count += 1
    return null
  }

  /** The execution cannot be used afterwards. */
  *close(): Generator<void, ExecutedBlock> {
    closeBlock(this.#context(), { miner: this.#frame.miner, burned: this.#burned, tips: this.#tips })
    yield* this.#checkConservation()
    const changes = yield* this.#overlay.diff()
    const encodedReceipts: Uint8Array[] = []
    for (const receipt of this.#receipts) {
      encodedReceipts.push(encodeReceipt(receipt))
      if (encodedReceipts.length % RECORDS_PER_STEP === 0) yield
    }
    return {
      changes,
      receipts: this.#receipts,
      encodedReceipts,
      receiptsRoot: receiptsRoot(encodedReceipts),
      weightUsed: this.#weight,
      keys: this.#keys,
    }
  }

  #coinText(units: bigint): string {
    const { decimals, ticker } = this.#ruleBook.params
    return `${formatAmount(units, decimals)} ${ticker}`
  }

  *#checkConservation(): Generator<void> {
    const balance = new Balance()
    for (const [i, { table, key, before, after }] of this.#overlay.changesSince(0).entries()) {
      balance.count(table, key, before, -1n)
      balance.count(table, key, after, 1n)
      if (i % RECORDS_PER_STEP === 0) yield
    }
    if (balance.broken().length > 0) throw new InvariantError('the block creates or loses coins')
  }

  #chargeFee(tx: Transaction, weight: number): Result<Pick<ReceiptOf<'transaction'>, 'rate' | 'fee' | 'burned'>> {
    const { body } = tx
    const { baseFee, height } = this.#frame
    const account = this.#overlay.get(ACCOUNTS, body.sender)
    if (account === undefined) return fail(fault('tx/sender-unknown'))
    if (body.nonce !== account.nonce) return fail(nonceFault(body.nonce, account.nonce))
    if (body.validUntil !== 0 && body.validUntil < height) {
      return fail(fault('tx/expired', { validUntil: body.validUntil, height }))
    }
    if (body.maxFeeRate < baseFee) {
      const feeText = (each: bigint): string => this.#coinText(BigInt(weight) * each)
      const rates = { maxFeeRate: body.maxFeeRate.toString(), baseFee: baseFee.toString() }
      const texts = { feeText: feeText(body.maxFeeRate), leastText: feeText(baseFee) }
      return fail(fault('tx/fee-rate-below-base', { ...rates, ...texts }))
    }
    const rate = rateOf(body, baseFee)
    const fee = amount(BigInt(weight) * rate)
    const burned = amount(BigInt(weight) * baseFee)
    const balance = subtract(account.balance, fee)
    if (balance === undefined) {
      const texts = { balanceText: this.#coinText(account.balance), feeText: this.#coinText(fee) }
      return fail(fault('tx/fee-unpayable', { balance: account.balance.toString(), fee: fee.toString(), ...texts }))
    }
    this.#overlay.put(ACCOUNTS, body.sender, { ...account, nonce: account.nonce + 1n, balance })
    this.#burned = add(this.#burned, burned)
    this.#tips = add(this.#tips, subtractProven(fee, burned))
    return ok({ rate, fee, burned })
  }

  #runPayload(tx: Transaction): PayloadOutcome {
    const mark = this.#overlay.mark()
    let entries: readonly number[] = []
    let amounts: readonly Amount[] = []
    const context: TxContext = {
      rules: this.#rules,
      height: this.#frame.height,
      index: this.#count,
      overlay: this.#overlay,
      reportEntries: (numbers) => {
        entries = numbers
      },
      reportAmounts: (reported) => {
        amounts = reported
      },
      network: this.#ruleBook.network,
      verifies: this.#ruleBook.verifies,
      verifiesTab: (job) => this.#ruleBook.tabVerdicts.on(job),
    }
    const handler = this.#ruleBook.handlers[tx.body.kind] as unknown as KindHandler<TxKind>
    const failure = handler.apply(context, tx) ?? this.#brokenInvariant(mark)
    if (failure === null) return { entries, amounts, failure }
    this.#overlay.revert(mark)
    return { entries: [], amounts: [], failure }
  }

  #brokenInvariant(mark: number): Fault | null {
    const changes = this.#overlay.changesSince(mark)
    if (!conserves(changes)) return fault('ledger/invariant', { name: 'conservation' })
    for (const module of this.#ruleBook.modules) {
      const name = module.invariant?.(changes, this.#rules) ?? null
      if (name !== null) return fault('ledger/invariant', { name })
    }
    return null
  }

  #context(): BlockContext {
    const { height } = this.#frame
    return {
      rules: this.#rules,
      endedRules: this.#ruleBook.endedAt(height),
      height,
      overlay: this.#overlay,
      emit: (receipt) => this.#receipts.push(receipt),
    }
  }
}

/** The state transition: what a block does to a state, or why it is invalid. The caller compares the state roots. */
export function* executeBlock(
  ruleBook: RuleBook,
  view: StateView,
  block: Block,
): Generator<void, Result<ExecutedBlock>> {
  const { height, miner, baseFee } = block.header
  const execution = new BlockExecution(ruleBook, view, { height, miner, baseFee })
  yield* execution.begin()
  for (const [index, tx] of block.transactions.entries()) {
    const refusal = execution.apply(tx)
    if (refusal !== null) return fail(fault('block/transaction', { index, reason: refusal.code }))
    yield
  }
  const executed = yield* execution.close()
  return executed.receiptsRoot === block.header.receiptsRoot ? ok(executed) : fail(fault('block/receipts-root'))
}

/** A block filled with candidates, and the candidates that are invalid in it. */
export interface FilledBlock {
  readonly executed: ExecutedBlock
  readonly transactions: readonly Transaction[]
  readonly refused: readonly Refusal[]
}

/** Candidates that only do not fit are not refused. */
export interface Refusal {
  readonly tx: Transaction
  readonly fault: Fault
}

/** Executes candidates, as many as fit into a block, between its automatic effects and its closing step. */
export function* fillBlock(
  execution: BlockExecution,
  rules: Rules,
  candidates: Iterable<Transaction>,
): Generator<void, FilledBlock> {
  const filling = new Filling(execution, rules)
  yield* execution.begin()
  yield* filling.steps(candidates)
  const executed = yield* execution.close()
  return { executed, transactions: filling.transactions, refused: filling.refused }
}

class Filling {
  readonly transactions: Transaction[] = []
  readonly refused: Refusal[] = []
  readonly #execution: BlockExecution
  readonly #rules: Rules
  readonly #skipped = new Set<Address>()
  #bytes = 0
  #weight = 0
  #writes = 0

  constructor(execution: BlockExecution, rules: Rules) {
    this.#execution = execution
    this.#rules = rules
  }

  *steps(candidates: Iterable<Transaction>): Generator<void> {
    for (const tx of candidates) {
      // After a skipped transaction, the account's next nonces cannot follow. Other accounts are still tried.
      if (this.#skipped.has(tx.body.sender)) continue
      if (!this.#take(tx)) this.#skipped.add(tx.body.sender)
      yield
    }
  }

  #take(tx: Transaction): boolean {
    const { bytesMax, weightMax, writesMax } = this.#rules.block
    const bytes = this.#bytes + sizeInBlock(tx)
    const weight = this.#weight + weightOf(tx, this.#rules.tx)
    const writes = this.#writes + declaredWrites(tx.body)
    if (bytes > bytesMax || weight > weightMax || writes > writesMax) return false
    // The caller may have checked the transaction by the rules of another height.
    const fault = checkTransaction(tx, this.#rules.tx) ?? this.#execution.apply(tx)
    if (fault !== null) {
      this.refused.push({ tx, fault })
      return false
    }
    this.#bytes = bytes
    this.#weight = weight
    this.#writes = writes
    this.transactions.push(tx)
    return true
  }
}

function nonceFault(nonce: bigint, next: bigint): Fault {
  const code = nonce < next ? 'tx/nonce-too-low' : 'tx/nonce-too-high'
  return fault(code, { nonce: nonce.toString(), next: next.toString() })
}
