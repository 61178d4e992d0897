import type { Block } from '../consensus/block/block.ts'
import type { Fault } from '../consensus/primitives/fault.ts'
import type { FaultCode } from '../consensus/primitives/fault-table.ts'
import type { Mempool } from '../mempool/mempool.ts'
import type { Template } from './template.ts'

/** Own blocks refused on one head after which its templates stay empty: what is in them may be why. */
export const FULL_REFUSALS_MAX = 2

/** Why a candidate may be left out today and mined another day; for any other reason it never will be. */
const PASSING: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'tx/sender-unknown',
  'tx/nonce-too-high',
  'tx/fee-rate-below-base',
  'tx/fee-unpayable',
])

/** Takes candidates out of the mempool that no block will ever hold. */
export function dropHopeless(mempool: Mempool, { refused }: Template): void {
  for (const { tx, fault } of refused) if (!PASSING.has(fault.code)) mempool.drop(tx.txId)
}

/** Takes the transaction out that a block of our own was refused for, where the fault names one. */
export function dropGuilty(mempool: Mempool, { transactions }: Block, { code, detail }: Fault): void {
  const guilty = code === 'block/transaction' ? transactions[Number(detail.index)] : undefined
  if (guilty !== undefined) mempool.drop(guilty.txId)
}
