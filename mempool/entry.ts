import { sizeInBlock } from '../consensus/block/block.ts'
import type { RuleBook } from '../consensus/chain/rule-book.ts'
import type { KindHandler } from '../consensus/ledger/module.ts'
import type { TxKind } from '../consensus/tx/kinds.ts'
import type { Transaction } from '../consensus/tx/transaction.ts'
import { rateOf, weightOf } from '../consensus/tx/weight.ts'

/** A transaction in the mempool. */
export interface MempoolEntry {
  readonly tx: Transaction
  readonly weight: number
  readonly bytes: number
  /** The most that can leave the sender: what the payload spends, and the fee at its highest rate. */
  readonly needs: bigint
  /** Order of arrival; lower came earlier. */
  readonly sequence: number
}

/** The mempool entry of a transaction. */
export function mempoolEntry(tx: Transaction, ruleBook: RuleBook, height: number, sequence: number): MempoolEntry {
  const rules = ruleBook.at(height)
  const weight = weightOf(tx, rules.tx)
  const handler = ruleBook.handlers[tx.body.kind] as unknown as KindHandler<TxKind>
  const needs = handler.spends(tx.body, rules) + BigInt(weight) * tx.body.maxFeeRate
  return { tx, weight, bytes: sizeInBlock(tx), needs, sequence }
}

/** Rate that the entry pays at a base fee that it can pay. */
export function effectiveRate({ tx }: Pick<MempoolEntry, 'tx'>, baseFee: bigint): bigint {
  return rateOf(tx.body, baseFee)
}
