import { taggedHashHex } from '../../../../consensus/crypto/hash.ts'
import type { SigningNetwork } from '../../../../consensus/crypto/signing.ts'
import { amount } from '../../../../consensus/primitives/amount.ts'
import { isHex } from '../../../../consensus/primitives/bytes.ts'
import { type Hash, SERVICE_ID, type ServiceId, type TxId } from '../../../../consensus/primitives/ids.ts'
import { encodeTabReceipt, tabReceiptMessage } from '../../../../consensus/tx/tab-messages.ts'
import { fieldsOf } from '../../http.ts'
import { isSignedBy } from './tab-key.ts'
import type { TabReceiptJson } from './tab-types.ts'

const UNITS = /^(0|[1-9][0-9]{0,33})$/
const UINT_32_MAX = 0xffff_ffff
/** The last moment that a date can show. */
const TIME_MS_MAX = 8_640_000_000_000_000

/** Whether a value is text of base units. */
export function isUnits(value: unknown): value is string {
  return typeof value === 'string' && UNITS.test(value)
}

/** Whether a value fits into 32 bits. */
export function isUint32(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= UINT_32_MAX
}

/** A receipt in an answer. Undefined if it is not one that could be signed. */
export function readReceipt(value: unknown): TabReceiptJson | undefined {
  const { tabId, seq, n, serviceId, context, resultHash, outcome, charged, cumulative, durationMs, timeMs, signature } =
    fieldsOf(value) as Readonly<Record<keyof TabReceiptJson, unknown>>
  const hashes = [tabId, context, resultHash].every((each) => typeof each === 'string' && isHex(each, 32))
  const counts = [seq, n, durationMs].every(isUint32)
  const isWhole = hashes && counts && isUnits(charged) && isUnits(cumulative) && Number.isSafeInteger(timeMs)
  if (!isWhole || (timeMs as number) < 0 || (timeMs as number) > TIME_MS_MAX || (outcome !== 0 && outcome !== 1))
    return undefined
  if (typeof serviceId !== 'string' || !SERVICE_ID.test(serviceId)) return undefined
  if (typeof signature !== 'string' || !isHex(signature, 64)) return undefined
  const numbers = { seq, n, durationMs, timeMs } as { seq: number; n: number; durationMs: number; timeMs: number }
  const texts = { tabId, context, resultHash } as { tabId: string; context: string; resultHash: string }
  return { ...texts, ...numbers, serviceId, outcome, charged, cumulative, signature }
}

/** The item of a receipt in the tree of a claim. */
export function receiptItem(receipt: TabReceiptJson): Uint8Array {
  const { tabId, seq, n, serviceId, context, resultHash, outcome, charged, cumulative, durationMs, timeMs } = receipt
  return encodeTabReceipt({
    ...{ tabId: tabId as TxId, seq, n, serviceId: serviceId as ServiceId, outcome, durationMs, timeMs },
    ...{ context: context as Hash, resultHash: resultHash as Hash },
    ...{ charged: amount(BigInt(charged)), cumulative: amount(BigInt(cumulative)) },
  })
}

/** Whether the receipt key signed a receipt. */
export function isReceiptOf(network: SigningNetwork, receiptKey: string, receipt: TabReceiptJson): Promise<boolean> {
  return isSignedBy(receiptKey, tabReceiptMessage(network, receiptItem(receipt)), receipt.signature)
}

/** Whether two receipts say the same. Signatures are not compared: one text has one. */
export function isSameReceipt(a: TabReceiptJson, b: TabReceiptJson): boolean {
  return leafOf(a) === leafOf(b)
}

function leafOf(receipt: TabReceiptJson): string {
  return taggedHashHex('tabReceiptLeaf', receiptItem(receipt))
}
