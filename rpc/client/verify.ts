import { decodeHeader, type SealedHeader } from '../../consensus/block/header.ts'
import { meetsTarget, type PowHasher, powHash } from '../../consensus/block/pow.ts'
import type { PowRules } from '../../consensus/block/rules.ts'
import { taggedHashHex } from '../../consensus/crypto/hash.ts'
import { TRANSACTION_TREE, verifyMerkleProof } from '../../consensus/crypto/merkle.ts'
import { fromHex, isHex, isHexBytes } from '../../consensus/primitives/bytes.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import { requestHash } from '../../consensus/tx/request-hash.ts'

/**
 * What a client can check of a paid answer by itself. If any field is false, do not trust the answer. A header does not prove
 * that its block is on the best chain, or that the payment in it succeeded. For that, ask your own node or a second one.
 */
export interface Verification {
  /** The payment is in the block whose header came with the receipt. */
  readonly paymentInBlock: boolean
  /** That header has the receipt's block hash and height, and at least the minimum work of the network. */
  readonly headerWork: boolean
  /** The result has the hash that the receipt names. */
  readonly resultHash: boolean
  /** The receipt names the service, caller, amount and payment of this call. */
  readonly receiptMatches: boolean
  /** The receipt names the request that the payment commits to. Null if it commits to none. */
  readonly requestHash: boolean | null
}

/** A receipt as received, unchecked. */
export type ReceiptJson = Readonly<Record<string, unknown>>

/** The payment that a receipt is compared with. */
export interface PaidFacts {
  readonly txId: string
  readonly serviceId: string
  readonly caller: string
  readonly amountBaseUnits: string
  /** The text that the payment commits to. Null if it commits to none. */
  readonly request: string | null
}

/** Checks the result and the receipt of a paid call against its payment. */
export function verifyPaidAnswer(
  { result, receipt }: { readonly result: unknown; readonly receipt: ReceiptJson },
  paid: PaidFacts,
  pow: { readonly hasher: PowHasher; readonly cost: PowRules; readonly targetMax: bigint },
): Verification {
  const proof = receipt.proof as
    | {
        readonly header?: unknown
        readonly index?: number
        readonly count?: number
        readonly siblings?: readonly string[]
      }
    | undefined
  const header = readHeader(proof?.header)
  return {
    paymentInBlock: header !== null && inBlock(header, paid.txId, proof ?? {}),
    headerWork:
      header !== null &&
      header.id === receipt.blockHash &&
      header.header.height === receipt.blockHeight &&
      header.header.target <= pow.targetMax &&
      meetsTarget(powHash(pow.hasher, header.bytes, pow.cost), header.header.target),
    resultHash:
      result !== undefined && taggedHashHex('result', encodeText(JSON.stringify(result))) === receipt.resultHash,
    receiptMatches:
      receipt.txId === paid.txId &&
      receipt.serviceId === paid.serviceId &&
      receipt.caller === paid.caller &&
      receipt.amountBaseUnits === paid.amountBaseUnits,
    requestHash:
      paid.request === null ? null : receipt.requestHash === requestHash(paid.serviceId as ServiceId, paid.request),
  }
}

/** Names of the checks that failed. */
export function failedChecks(verification: Verification): readonly string[] {
  return Object.entries(verification).flatMap(([name, good]) => (good === false ? [name] : []))
}

function readHeader(hex: unknown): SealedHeader | null {
  if (typeof hex !== 'string' || !isHexBytes(hex)) return null
  const decoded = decodeHeader(fromHex(hex))
  return decoded.ok ? decoded.value : null
}

function inBlock(
  { header }: SealedHeader,
  txId: string,
  {
    index,
    count,
    siblings,
  }: { readonly index?: number; readonly count?: number; readonly siblings?: readonly string[] },
): boolean {
  if (typeof index !== 'number' || typeof count !== 'number' || !Array.isArray(siblings)) return false
  if (!siblings.every((sibling) => typeof sibling === 'string' && isHex(sibling, 32))) return false
  const proof = { index, count, siblings: siblings.map(fromHex) }
  return verifyMerkleProof(TRANSACTION_TREE, fromHex(header.transactionsRoot), fromHex(txId), proof)
}
