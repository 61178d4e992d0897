import { referencePowHasher } from '../../../consensus/block/pow.ts'
import { askNode, fieldsOf, type Transport } from '../http.ts'
import { isHeight } from '../node-client.ts'
import { failedChecks, type PaidFacts, verifyPaidAnswer } from '../verify.ts'
import type { NetworkFacts, Receipt, VerifiedReceipt } from './shapes.ts'
import { isOver, pause } from './waiting.ts'

/** How long to wait for a second node that is behind the receipt's block. */
const BEHIND_MS = 10_000
/** After this many failures in a row, a second node counts as unable to answer. */
const MISSED_MAX = 3

/** Dependencies of checking a receipt. */
export interface ReceiptBasis {
  readonly facts: NetworkFacts
  readonly secondNode: string | null
  readonly transport: Transport
}

/**
 * Checks a result and its receipt against what was paid, without trusting a node. A second node, if there is one, tells whether the block
 * is on the best chain.
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

/** The receipt in an answer, unchecked. Each check looks at the types of the members that it reads. */
export function receiptOf(body: Readonly<Record<string, unknown>>): Receipt {
  return fieldsOf(body.receipt) as Receipt
}

/** Whether a node has the receipt's block at its height. Waits for a node that is behind. No answer counts as no. */
async function isHeaderOf(url: string, receipt: Receipt, transport: Transport): Promise<boolean> {
  const { blockHeight, blockHash } = receipt
  if (!isHeight(blockHeight) || typeof blockHash !== 'string') return false
  const untilMs = Date.now() + BEHIND_MS
  let missed = 0
  for (;;) {
    const answer = await askNode(url, `/api/v1/blocks?limit=1&cursor=${blockHeight}`, {}, transport)
    const isAnswered = answer.ok && answer.value.status === 200 && Array.isArray(answer.value.body.blocks)
    // One answer may be lost on the way, or be a refusal of a busy node.
    missed = isAnswered ? 0 : missed + 1
    if (missed >= MISSED_MAX) return false
    const { height, id } = fieldsOf(isAnswered ? (answer.value.body.blocks as readonly unknown[])[0] : undefined)
    if (height === blockHeight) return id === blockHash
    if (isOver({ untilMs, ...transport })) return false
    await pause(BEHIND_MS / 20, transport.signal)
  }
}
