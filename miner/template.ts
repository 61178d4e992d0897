import { baseFeeAfter } from '../consensus/block/base-fee.ts'
import { type Block, sizeInBlock, transactionsRoot, witnessRoot } from '../consensus/block/block.ts'
import { HEADER_VERSION, sealHeader } from '../consensus/block/header.ts'
import { BlockExecution, type ExecutedBlock } from '../consensus/chain/execution.ts'
import type { BlockEntry } from '../consensus/chain/layout.ts'
import type { Rules } from '../consensus/chain/params.ts'
import type { Pacer } from '../consensus/chain/ports.ts'
import type { ChainReader } from '../consensus/chain/reader.ts'
import type { Fault } from '../consensus/primitives/fault.ts'
import type { Address, Hash } from '../consensus/primitives/ids.ts'
import { updateTree } from '../consensus/state/tree.ts'
import { checkTransaction } from '../consensus/tx/check.ts'
import type { Transaction } from '../consensus/tx/transaction.ts'
import { declaredWrites, weightOf } from '../consensus/tx/weight.ts'

/** What a template is built from. `candidates` come best first, each account's in nonce order. */
export interface TemplateRequest {
  readonly miner: Address
  readonly nowMs: number
  readonly candidates: Iterable<Transaction>
  readonly extra: Uint8Array
}

/** A block that lacks only its nonce, and the refused candidates. */
export interface Template {
  readonly block: Block
  readonly parent: BlockEntry
  /** The miner's part of the fees. */
  readonly tips: bigint
  /** All that the block earns its miner: the subsidy without the stakers' share, and the tips. */
  readonly reward: bigint
  readonly refused: readonly Refusal[]
}

/** A candidate that the block cannot hold. */
export interface Refusal {
  readonly tx: Transaction
  readonly fault: Fault
}

/** Executes candidates on the head and assembles a block, in slices. Undefined if the head moved meanwhile. */
export async function buildTemplate(
  chain: ChainReader,
  pacer: Pacer,
  request: TemplateRequest,
): Promise<Template | undefined> {
  const parent = chain.head
  const height = parent.header.height + 1
  const rules = chain.ruleBook.at(height)
  const baseFee = baseFeeAfter(parent.header, rules.block)
  const slices: Slices = { pacer, current: () => chain.head === parent && !chain.moving }
  if (!slices.current()) return undefined
  const execution = new BlockExecution(chain.ruleBook, chain.database, { height, miner: request.miner, baseFee })
  if ((await runWhile(execution.begin(), slices)) === undefined) return undefined
  const filling = new Filling(execution, rules)
  if ((await runWhile(filling.steps(request.candidates), slices)) === undefined) return undefined
  const executed = await runWhile(execution.close(), slices)
  if (executed === undefined) return undefined
  const tree = await runWhile(updateTree(chain.database, executed.changes), slices)
  if (tree === undefined) return undefined
  const { transactions, refused } = filling
  const header = {
    version: HEADER_VERSION,
    height,
    parent: parent.id,
    timeMs: Math.max(request.nowMs, parent.header.timeMs + 1),
    target: chain.childOf(parent).target,
    transactionsRoot: transactionsRoot(transactions),
    witnessRoot: witnessRoot(transactions),
    receiptsRoot: executed.receiptsRoot,
    stateRoot: tree.root,
    historyRoot: chain.childOf(parent).historyRoot as Hash,
    miner: request.miner,
    baseFee,
    weightUsed: executed.weightUsed,
    extra: request.extra,
    nonce: 0n,
  }
  const earned = { tips: tipsOf(executed), reward: rewardOf(executed) }
  return { block: { ...sealHeader(header), transactions }, parent, ...earned, refused }
}

/** Takes candidates while they fit. After one that is too large, smaller ones of other accounts are still tried. */
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

  *steps(candidates: Iterable<Transaction>): Generator<void, true> {
    for (const tx of candidates) {
      // After a skipped transaction, the account's next nonces cannot follow.
      if (this.#skipped.has(tx.body.sender)) continue
      if (!this.#take(tx)) this.#skipped.add(tx.body.sender)
      yield
    }
    return true
  }

  #take(tx: Transaction): boolean {
    const { bytesMax, weightMax, writesMax } = this.#rules.block
    const bytes = this.#bytes + sizeInBlock(tx)
    const weight = this.#weight + weightOf(tx, this.#rules.tx)
    const writes = this.#writes + declaredWrites(tx.body)
    if (bytes > bytesMax || weight > weightMax || writes > writesMax) return false
    // The caller may have checked it by the rules of another height.
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

interface Slices {
  readonly pacer: Pacer
  /** Whether the work still builds on the head. */
  readonly current: () => boolean
}

async function runWhile<T>(steps: Generator<void, T>, { pacer, current }: Slices): Promise<T | undefined> {
  // Other code may have run since the last slice.
  if (!current()) return undefined
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (!pacer.due()) continue
    await pacer.pause()
    if (!current()) return undefined
  }
}

function tipsOf({ receipts }: ExecutedBlock): bigint {
  return receipts.reduce(
    (sum, receipt) => (receipt.type === 'transaction' ? sum + receipt.fee - receipt.burned : sum),
    0n,
  )
}

function rewardOf({ receipts }: ExecutedBlock): bigint {
  return receipts.reduce((sum, receipt) => (receipt.type === 'close' ? sum + receipt.reward : sum), 0n)
}
