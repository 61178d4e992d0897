import type { Block } from '../consensus/block/block.ts'
import type { Fault } from '../consensus/primitives/fault.ts'
import type { FaultCode } from '../consensus/primitives/fault-table.ts'
import type { Mempool } from '../mempool/mempool.ts'
import type { Template } from './template.ts'

/** After this many refused blocks on one head, templates stay empty: a transaction may be the cause. */
export const FULL_REFUSALS_MAX = 2

/** Reasons for which a candidate cannot be mined now but may be later. Any other reason is final. */
const PASSING: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'tx/sender-unknown',
  'tx/nonce-too-high',
  'tx/fee-rate-below-base',
  'tx/fee-unpayable',
])

/** Removes candidates that no block will ever hold. */
export function dropHopeless(mempool: Mempool, { refused }: Template): void {
  for (const { tx, fault } of refused) if (!PASSING.has(fault.code)) mempool.drop(tx.txId)
}

/** Removes the transaction that the chain's fault names, if any. */
export function dropGuilty(mempool: Mempool, { transactions }: Block, { code, detail }: Fault): void {
  const guilty = code === 'block/transaction' ? transactions[Number(detail.index)] : undefined
  if (guilty !== undefined) mempool.drop(guilty.txId)
}
