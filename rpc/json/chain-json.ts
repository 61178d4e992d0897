import { type Block, bodySize } from '../../consensus/block/block.ts'
import { HEADER_BYTES, type Header } from '../../consensus/block/header.ts'
import { workOfTarget } from '../../consensus/block/pow.ts'
import type { BlockEntry } from '../../consensus/chain/layout.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import type { MerkleProof } from '../../consensus/crypto/merkle.ts'
import { outcomeCode } from '../../consensus/ledger/outcome.ts'
import type { Receipt } from '../../consensus/ledger/receipt.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { toHex, uintBE } from '../../consensus/primitives/bytes.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { transactionToJson } from '../../consensus/tx/json.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import type { BLOCK, BLOCK_SUMMARY, TRANSACTION_JSON } from '../contract/chain.ts'
import type { Static } from '../contract/schema.ts'

/** JSON forms of chain objects. Amounts are base units as decimal text, but for {@link coinNumber} and {@link usdNumber}. */

/** A time as ISO text. */
export function moment(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

/** A transaction with its ids. */
export function transactionJson(prefix: string, tx: Transaction): Static<typeof TRANSACTION_JSON> {
  return transactionToJson(prefix, tx) as unknown as Static<typeof TRANSACTION_JSON>
}

/** A receipt, with addresses as text and the outcome by name. */
export function receiptToJson(prefix: string, receipt: Receipt): { readonly type: string } & Record<string, unknown> {
  const fields = Object.fromEntries(
    Object.entries(receipt).map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value]),
  ) as { type: string }
  switch (receipt.type) {
    case 'transaction':
      return {
        ...fields,
        success: receipt.code === 0,
        outcome: outcomeCode(receipt.code) ?? null,
        entries: [...receipt.entries],
        amounts: receipt.amounts.map(String),
      }
    case 'refund':
      return { ...fields, caller: formatAddress(prefix, receipt.caller) }
    case 'tab_return':
      return { ...fields, payer: formatAddress(prefix, receipt.payer) }
    default:
      return { ...fields, miner: formatAddress(prefix, receipt.miner) }
  }
}

/** A Merkle proof in hex. */
export function merkleProofToJson({ index, count, siblings }: MerkleProof): {
  index: number
  count: number
  siblings: string[]
} {
  return { index, count, siblings: siblings.map(toHex) }
}

/** `base` is the height of the snapshot that this node's chain began from, 0 without one. */
export function blockSummary(
  prefix: string,
  entry: BlockEntry,
  parent: BlockEntry | undefined,
  base: number,
): Static<typeof BLOCK_SUMMARY> {
  const { header, id, bodyBytes, totalTransactions } = entry
  // Up to the snapshot only headers are known.
  const known = header.height === 0 || header.height > base
  return {
    height: header.height,
    id,
    time: moment(header.timeMs),
    miner: formatAddress(prefix, header.miner),
    transactions: known ? totalTransactions - (parent?.totalTransactions ?? 0) : null,
    size: known ? HEADER_BYTES + bodyBytes : null,
    weightUsed: header.weightUsed,
    baseFee: header.baseFee.toString(),
  }
}

/** A block in full. */
export function blockToJson(
  prefix: string,
  block: Block,
  facts: {
    readonly entry: BlockEntry
    readonly canonical: boolean
    readonly confirmations: number
    /** Null if this node did not execute the block. */
    readonly receipts: readonly Receipt[] | null
  },
): Static<typeof BLOCK> {
  const { header, bytes, transactions } = block
  return {
    ...headerToJson(prefix, header),
    ...blockSummary(prefix, facts.entry, undefined, 0),
    size: HEADER_BYTES + bodySize(transactions),
    totalWork: facts.entry.totalWork.toString(),
    header: toHex(bytes),
    canonical: facts.canonical,
    confirmations: facts.confirmations,
    transactions: transactions.map(({ txId, body }) => ({
      txId,
      kind: body.kind,
      sender: formatAddress(prefix, body.sender),
    })),
    receipts: facts.receipts?.map((receipt) => receiptToJson(prefix, receipt)) ?? null,
  }
}

function headerToJson(prefix: string, header: Header) {
  return {
    ...header,
    miner: formatAddress(prefix, header.miner),
    target: toHex(uintBE(header.target, 32)),
    work: workOfTarget(header.target).toString(),
    baseFee: header.baseFee.toString(),
    extra: toHex(header.extra),
    nonce: header.nonce.toString(),
  }
}

/** An amount as a JSON number of coins, rounded to a double. Only for fields whose interface is a number. */
export function coinNumber(baseUnits: bigint, decimals: number): number {
  return Number(formatAmount(baseUnits, decimals))
}

/** Millionths of a dollar as a number of dollars. */
export function usdNumber(micros: bigint): number {
  return Number(formatAmount(micros, 6))
}

/** Text of an address given in hex. */
export function addressText(prefix: string, hex: string): string {
  return formatAddress(prefix, hex as Address)
}
