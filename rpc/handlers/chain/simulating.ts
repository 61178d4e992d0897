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

/** What a transaction would do in the next block, alone. */
export interface Simulation {
  /** Why no block could hold it, its signatures aside; null where one can. */
  readonly refusal: Fault | null
  /** What it would leave on chain; null where it is refused. */
  readonly receipt: ReceiptOf<'transaction'> | null
  /** Records that it would change, and those only. */
  readonly changes: readonly StateChange[]
}

/** The state at the start of the next block, for as long as the head stays. */
interface NextBlock {
  readonly head: BlockId
  readonly frame: ExecutionFrame
  readonly view: StateView
}

const NEXT_BLOCKS = new WeakMap<ChainReader, NextBlock>()

/** Miner of a block that is never mined. */
const NOBODY = ZERO_HEX_32 as Address

/** The automatic effects of a block may be many, so they are worked out once per head. */
function nextBlock(chain: ChainReader): NextBlock {
  const known = NEXT_BLOCKS.get(chain)
  if (known?.head === chain.head.id) return known
  const frame = { height: nextHeight(chain), miner: NOBODY, baseFee: nextBaseFee(chain) }
  const execution = new BlockExecution(chain.ruleBook, chain.database, frame)
  runNow(execution.begin())
  const next = { head: chain.head.id, frame, view: begun(chain, execution) }
  NEXT_BLOCKS.set(chain, next)
  return next
}

/**
 * The head's state with what the block's beginning wrote. The execution's own view remembers every record that it was ever
 * asked for: strangers could fill the memory for as long as no block comes.
 */
function begun({ database }: ChainReader, execution: BlockExecution): StateView {
  const written = execution.writtenKeys()
  return { get: (table, id) => (written.has(table.key(id)) ? execution.view : database).get(table, id) }
}

/**
 * Executes a transaction on the head as the next block's only one, and keeps nothing. Everything is checked but whether the
 * signatures verify: theirs may be any bytes of the right length, so that nobody has to hand out a good one to see an effect.
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

/** What the block itself writes, whoever is in it: its reward, the native supply, the accrual for stakers. */
function isOwn({ table, key }: StateChange): boolean {
  if (table.prefix === REWARDS.prefix || table.prefix === STAKING_POOL.prefix) return false
  return key !== SUPPLY.key(NATIVE_ASSET)
}
