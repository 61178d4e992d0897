import { type Fault, fault } from '../primitives/fault.ts'
import type { BlockId } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { checkTransaction } from '../tx/check.ts'
import type { TxRules } from '../tx/rules.ts'
import type { Transaction } from '../tx/transaction.ts'
import { declaredWrites, weightOf } from '../tx/weight.ts'
import { baseFeeAfter } from './base-fee.ts'
import { type Block, bodySize, transactionsRoot, witnessRoot } from './block.ts'
import { HEADER_VERSION, type Header, headerVersion, type SealedHeader } from './header.ts'
import { meetsTarget, type PowHasher, powHash } from './pow.ts'
import type { BlockRules } from './rules.ts'

/** What the parent's branch requires of a header. */
export interface HeaderExpectation {
  readonly parent: Header
  readonly target: bigint
  readonly historyRoot: string
}

/** Cheapest check first. Clock and proof of work are checked separately. */
export function checkHeader({ header }: SealedHeader, expected: HeaderExpectation, rules: BlockRules): Fault | null {
  const { parent } = expected
  if (headerVersion(header) !== HEADER_VERSION) return fault('block/version', { version: headerVersion(header) })
  if (header.height !== parent.height + 1)
    return fault('block/height', { height: header.height, expected: parent.height + 1 })
  if (header.target !== expected.target) return fault('block/target')
  if (header.timeMs <= parent.timeMs) {
    return fault('block/time-not-after-parent', { time: header.timeMs, parentTime: parent.timeMs })
  }
  const baseFee = baseFeeAfter(parent, rules)
  if (header.baseFee !== baseFee)
    return fault('block/base-fee', { baseFee: header.baseFee.toString(), expected: baseFee.toString() })
  return header.historyRoot === expected.historyRoot ? null : fault('block/history-root')
}

/** Milliseconds until the local clock allows a header; 0 if it does. */
export function earlyMs({ header }: Pick<SealedHeader, 'header'>, nowMs: number, rules: BlockRules): number {
  return Math.max(0, header.timeMs - rules.futureMsMax - nowMs)
}

/** Clocks differ, so the fault blames no sender. */
export function checkHeaderClock(sealed: SealedHeader, nowMs: number, rules: BlockRules): Fault | null {
  if (earlyMs(sealed, nowMs, rules) === 0) return null
  return fault('block/time-too-new', { time: sealed.header.timeMs, aheadMsMax: rules.futureMsMax })
}

/** The most expensive check of a header, so callers make it last. */
export function checkProofOfWork({ header, bytes }: SealedHeader, hasher: PowHasher, rules: BlockRules): Fault | null {
  return meetsTarget(powHash(hasher, bytes, rules.pow), header.target) ? null : fault('block/proof-of-work')
}

class Matched implements Block {
  /** Makes the type nominal: another object cannot pass for a block whose roots were checked. */
  declare protected readonly matched: true
  readonly header: Header
  readonly bytes: Uint8Array
  readonly id: BlockId
  readonly transactions: readonly Transaction[]

  constructor({ header, bytes, id }: SealedHeader, transactions: readonly Transaction[]) {
    this.header = header
    this.bytes = bytes
    this.id = id
    this.transactions = transactions
    Object.freeze(this)
  }
}

/** A block whose body has the roots in its header. Only {@link matchBody} makes one. */
export type MatchedBlock = Matched

/** Joins a header and its body, or says why the body does not match. */
export function matchBody(sealed: SealedHeader, transactions: readonly Transaction[]): Result<MatchedBlock> {
  const { header } = sealed
  if (transactionsRoot(transactions) !== header.transactionsRoot) return fail(fault('block/transactions-root'))
  if (witnessRoot(transactions) !== header.witnessRoot) return fail(fault('block/witness-root'))
  return ok(new Matched(sealed, transactions))
}

/** Wrong roots are the fault of the body's sender; they never condemn the header. */
export function checkBody(block: Block, rules: { readonly block: BlockRules; readonly tx: TxRules }): Fault | null {
  const { transactions } = block
  const matched = block instanceof Matched ? ok(block) : matchBody(block, transactions)
  if (!matched.ok) return matched.fault
  const bytes = bodySize(transactions)
  if (bytes > rules.block.bytesMax) return fault('block/too-large', { bytes, bytesMax: rules.block.bytesMax })
  return checkTransactions(block, rules) ?? checkTotals(block, rules)
}

function checkTransactions({ transactions }: Block, rules: { readonly tx: TxRules }): Fault | null {
  const seen = new Set<string>()
  for (const [index, tx] of transactions.entries()) {
    if (seen.has(tx.txId)) return fault('block/duplicate-transaction', { txId: tx.txId })
    seen.add(tx.txId)
    const malformed = checkTransaction(tx, rules.tx)
    if (malformed !== null) return fault('block/transaction', { index, reason: malformed.code })
  }
  return null
}

function checkTotals(
  { header, transactions }: Block,
  rules: { readonly block: BlockRules; readonly tx: TxRules },
): Fault | null {
  const { weightMax, writesMax } = rules.block
  const weight = transactions.reduce((sum, tx) => sum + weightOf(tx, rules.tx), 0)
  if (weight !== header.weightUsed) return fault('block/weight-used', { said: header.weightUsed, weight })
  if (weight > weightMax) return fault('block/weight-limit', { weight, weightMax })
  const writes = transactions.reduce((sum, tx) => sum + declaredWrites(tx.body), 0)
  return writes > writesMax ? fault('block/writes-limit', { writes, writesMax }) : null
}
