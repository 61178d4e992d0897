import { referencePowHasher } from '../../../consensus/block/pow.ts'
import { askNode, fieldsOf, type Transport } from '../http.ts'
import { isHeight } from '../node-client.ts'
import { failedChecks, type PaidFacts, verifyPaidAnswer } from '../verify.ts'
import type { NetworkFacts, Receipt, VerifiedReceipt } from './shapes.ts'
import { isOver, pause } from './waiting.ts'

/** How long a second node may be behind the block of a receipt. */
const BEHIND_MS = 10_000
/** A node that gives no answer so often in a row has none. */
const MISSED_MAX = 3

/** What receipts are checked with. */
export interface ReceiptBasis {
  readonly facts: NetworkFacts
  /** A second node whose header is compared; null without. */
  readonly secondNode: string | null
  readonly transport: Transport
}

/**
 * Checks result and receipt of a paid call: Merkle proof of the payment under the header, proof of work of the header, hash
 * of the result, and that service, request, caller, amount and payment are those expected. No node is believed for any of it; that the
 * block is on the best chain is what a second node is asked for.
 */
export async function checkReceipt(
  { result, receipt }: { readonly result: unknown; readonly receipt: Receipt },
  expected: PaidFacts,
  { facts, secondNode, transport }: ReceiptBasis,
): Promise<VerifiedReceipt> {
  const pow = { hasher: referencePowHasher, cost: facts.pow, targetMax: BigInt(`0x${facts.powLimit}`) }
  const verification = verifyPaidAnswer({ result, receipt }, expected, pow)
  const second = secondNode === null ? null : await isHeaderOf(secondNode, receipt, transport)
  const failed = [...failedChecks(verification), ...(second === false ? ['secondNode'] : [])]
  return { ok: failed.length === 0, failed, checks: { ...verification, secondNode: second } }
}

/** A receipt of an answer, as far as it is an object; every check looks at the types of what it reads. */
export function receiptOf(body: Readonly<Record<string, unknown>>): Receipt {
  return fieldsOf(body.receipt) as Receipt
}

/** Whether a node has the block of a receipt at its height; a node that gives no answer has not. One that is a moment behind is waited for. */
async function isHeaderOf(url: string, receipt: Receipt, transport: Transport): Promise<boolean> {
  const { blockHeight, blockHash } = receipt
  if (!isHeight(blockHeight) || typeof blockHash !== 'string') return false
  const untilMs = Date.now() + BEHIND_MS
  let missed = 0
  for (;;) {
    const answer = await askNode(url, `/api/v1/blocks?limit=1&cursor=${blockHeight}`, {}, transport)
    const isAnswered = answer.ok && answer.value.status === 200 && Array.isArray(answer.value.body.blocks)
    // One answer may be lost on the way, or come at a moment of many.
    missed = isAnswered ? 0 : missed + 1
    if (missed >= MISSED_MAX) return false
    const { height, id } = fieldsOf(isAnswered ? (answer.value.body.blocks as readonly unknown[])[0] : undefined)
    if (height === blockHeight) return id === blockHash
    if (isOver({ untilMs, ...transport })) return false
    await pause(BEHIND_MS / 20, transport.signal)
  }
}
