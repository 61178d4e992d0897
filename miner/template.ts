import { baseFeeAfter } from '../consensus/block/base-fee.ts'
import { type Block, transactionsRoot, witnessRoot } from '../consensus/block/block.ts'
import { HEADER_VERSION, sealHeader } from '../consensus/block/header.ts'
import { BlockExecution, type ExecutedBlock, fillBlock, type Refusal } from '../consensus/chain/execution.ts'
import type { BlockEntry } from '../consensus/chain/layout.ts'
import type { Pacer } from '../consensus/chain/ports.ts'
import type { ChainReader } from '../consensus/chain/reader.ts'
import type { Address, Hash } from '../consensus/primitives/ids.ts'
import { updateTree } from '../consensus/state/tree.ts'
import type { Transaction } from '../consensus/tx/transaction.ts'

/** `candidates` come best first, each account's in nonce order. */
export interface TemplateRequest {
  readonly miner: Address
  readonly nowMs: number
  readonly candidates: Iterable<Transaction>
  readonly extra: Uint8Array
}

/** A block that lacks only its nonce. */
export interface Template {
  readonly block: Block
  readonly parent: BlockEntry
  /** The miner's part of the fees. */
  readonly tips: bigint
  /** All that the block earns its miner: the subsidy without the stakers' share, and the tips. */
  readonly reward: bigint
  readonly refused: readonly Refusal[]
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
  const filled = await runWhile(fillBlock(execution, rules, request.candidates), slices)
  if (filled === undefined) return undefined
  const { executed, transactions, refused } = filled
  const tree = await runWhile(updateTree(chain.database, executed.changes), slices)
  if (tree === undefined) return undefined
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

interface Slices {
  readonly pacer: Pacer
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
