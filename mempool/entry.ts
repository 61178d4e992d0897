import { sizeInBlock } from '../consensus/block/block.ts'
import type { RuleBook } from '../consensus/chain/rule-book.ts'
import type { KindHandler } from '../consensus/ledger/module.ts'
import type { TxKind } from '../consensus/tx/kinds.ts'
import type { Transaction } from '../consensus/tx/transaction.ts'
import { rateOf, weightOf } from '../consensus/tx/weight.ts'

/** A transaction as the mempool holds it. */
export interface MempoolEntry {
  readonly tx: Transaction
  readonly weight: number
  readonly bytes: number
  /** The most that leaves the sender: its payload's amount and its fee at the highest rate it allows. */
  readonly needs: bigint
  /** Order of arrival. */
  readonly sequence: number
}

/** Measures a transaction for the pool. */
export function mempoolEntry(tx: Transaction, ruleBook: RuleBook, height: number, sequence: number): MempoolEntry {
  const rules = ruleBook.at(height)
  const weight = weightOf(tx, rules.tx)
  const handler = ruleBook.handlers[tx.body.kind] as unknown as KindHandler<TxKind>
  const needs = handler.spends(tx.body, rules) + BigInt(weight) * tx.body.maxFeeRate
  return { tx, weight, bytes: sizeInBlock(tx), needs, sequence }
}

/** Rate that the entry pays at a base fee, if a block can take it. */
export function effectiveRate({ tx }: Pick<MempoolEntry, 'tx'>, baseFee: bigint): bigint {
  return rateOf(tx.body, baseFee)
}
