import { BlockExecution, type ExecutionFrame } from '../../../consensus/chain/execution.ts'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import type { ReceiptOf } from '../../../consensus/ledger/receipt.ts'
import { REWARDS } from '../../../consensus/ledger/rewards.ts'
import { STAKING_POOL, SUPPLY } from '../../../consensus/ledger/supply.ts'
import { ZERO_HEX_32 } from '../../../consensus/primitives/bytes.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { Address, BlockId } from '../../../consensus/primitives/ids.ts'
import { runNow } from '../../../consensus/primitives/steps.ts'
import { NATIVE_ASSET } from '../../../consensus/state/table.ts'
import type { StateChange, StateView } from '../../../consensus/state/view.ts'
import { checkWitnessAgainst } from '../../../consensus/tx/check.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { checkStanding, mempoolEntry, nextBaseFee, nextHeight } from '../../../mempool/admission.ts'

/** What a transaction would do if it were alone in the next block. */
export interface Simulation {
  /** Why the next block cannot hold the transaction. Null if it can, provided that the signatures are valid. */
  readonly refusal: Fault | null
  readonly receipt: ReceiptOf<'transaction'> | null
  readonly changes: readonly StateChange[]
}

/** The state at the start of the next block, valid for one head. */
interface NextBlock {
  readonly head: BlockId
  readonly frame: ExecutionFrame
  readonly view: StateView
}

const NEXT_BLOCKS = new WeakMap<ChainReader, NextBlock>()

const NO_MINER = ZERO_HEX_32 as Address

/** Computed once for each head: a block can begin with many automatic effects. */
function nextBlock(chain: ChainReader): NextBlock {
  const known = NEXT_BLOCKS.get(chain)
  if (known?.head === chain.head.id) return known
  const frame = { height: nextHeight(chain), miner: NO_MINER, baseFee: nextBaseFee(chain) }
  const execution = new BlockExecution(chain.ruleBook, chain.database, frame)
  runNow(execution.begin())
  const next = { head: chain.head.id, frame, view: begun(chain, execution) }
  NEXT_BLOCKS.set(chain, next)
  return next
}

/**
 * The head's state with the writes of the block's beginning. The execution's own view keeps every record that was read, so
 * callers could fill the memory until the next block.
 */
function begun({ database }: ChainReader, execution: BlockExecution): StateView {
  const written = execution.writtenKeys()
  return { get: (table, id) => (written.has(table.key(id)) ? execution.view : database).get(table, id) }
}

/**
 * Executes a transaction as the only one of the next block, and keeps nothing. Signatures are not verified, only their
 * number, keys and lengths: a caller must not have to give away a valid signature to see the effect.
 */
export function simulate(chain: ChainReader, tx: Transaction): Simulation {
  const refusal = refusalOf(chain, tx)
  if (refusal !== null) return { refusal, receipt: null, changes: [] }
  const { frame, view } = nextBlock(chain)
  const execution = new BlockExecution(chain.ruleBook, view, frame)
  const unfit = execution.apply(tx)
  if (unfit !== null) return { refusal: unfit, receipt: null, changes: [] }
  const { receipts, changes } = runNow(execution.close())
  const receipt = receipts.find((one): one is ReceiptOf<'transaction'> => one.type === 'transaction')
  return { refusal: null, receipt: receipt ?? null, changes: changes.filter(isOwn) }
}

function refusalOf(chain: ChainReader, tx: Transaction): Fault | null {
  const unfit = checkStanding(mempoolEntry(tx, chain.ruleBook, nextHeight(chain), 0), chain)
  if (unfit !== null) return unfit
  const keys = chain.keys.keysFor(tx)
  return keys.ok ? checkWitnessAgainst(keys.value, tx.witness.signatures) : keys.fault
}

/** Whether a change counts as the transaction's. Every block writes its reward, the native supply and the accrual for stakers. */
function isOwn({ table, key }: StateChange): boolean {
  if (table.prefix === REWARDS.prefix || table.prefix === STAKING_POOL.prefix) return false
  return key !== SUPPLY.key(NATIVE_ASSET)
}
