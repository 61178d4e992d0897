import type { Result } from '../../../consensus/primitives/result.ts'
import type { NodeAnswer } from '../http.ts'
import { fieldsOf, postJson, type Transport } from '../http.ts'
import { BURIED_BLOCKS, type NodeClient } from '../node-client.ts'
import {
  FarthingError,
  InterruptedPaymentError,
  PaymentMismatchError,
  RefundedError,
  VerificationError,
} from './errors.ts'
import { transactionOf } from './payer.ts'
import { errorOfAnswer, errorOfFault, isPassing, RETURNS, VOID } from './refusals.ts'
import type { Payment, PaymentRecord, PaymentState } from './shapes.ts'
import { isOver, type Patience, pause } from './waiting.ts'

/** Dependencies of settling. */
export interface SettlePlace {
  readonly client: NodeClient
  /** Genesis block id of the network that the payments are on. */
  readonly genesis: string
  readonly transport: Transport
}

const RETRY_MS = { least: 200, most: 10_000 }
/** A block takes seconds, so polling once a second is enough. */
const POLL_MS = { least: 100, most: 1_000 }

/**
 * Repeats the paid call until there is a final answer. Returns the paid answer and throws any other. If the node does not know
 * the transaction, it is sent again. Errors: `RefundedError`, `PaymentMismatchError`, `FarthingError` for other refusals, and when time is
 * up `InterruptedPaymentError` with the last answer as its cause.
 */
export async function settlePayment(
  place: SettlePlace,
  payment: Payment & { readonly request: string },
  patience: Patience,
): Promise<NodeAnswer['body']> {
  const path = `/api/x402/${encodeURIComponent(payment.serviceId)}`
  const body = { request: payment.request, payment: { txId: payment.txId, secret: payment.secret } }
  let waitMs = RETRY_MS.least
  for (;;) {
    const answer = await postJson(place.client.baseUrl, path, body, place.transport)
    if (answer.ok && answer.value.status === 200 && answer.value.body.paid === true) return answer.value.body
    // The block in which it failed may still be replaced.
    if (hasCode(answer, 'payment_failed')) await awaitMined(place, payment, { ...patience, confirmations: 1 })
    else if (answer.ok && !isPassing(answer.value)) throw errorOfAnswer(answer.value, payment)
    if (isOver(patience)) throw interrupted(payment, answer)
    if (hasCode(answer, 'payment_not_found')) await sendAgain(place, payment)
    const asked = answer.ok ? (answer.value.retryAfterMs ?? 0) : 0
    await pause(Math.min(Math.max(waitMs, asked), Math.max(0, patience.untilMs - Date.now())), patience.signal)
    waitMs = Math.min(2 * waitMs, RETRY_MS.most)
  }
}

/**
 * Waits for the confirmations that a seller wants, for sellers that do not wait themselves. Errors: `payment_failed` if it is mined but
 * moved no money; `payment_void` if it cannot be mined any more; `InterruptedPaymentError` when time is up.
 */
export async function awaitMined(
  place: SettlePlace,
  payment: Payment,
  { confirmations, ...patience }: Patience & { readonly confirmations: number },
): Promise<void> {
  for (let waitMs = POLL_MS.least; ; waitMs = Math.min(2 * waitMs, POLL_MS.most)) {
    const known = await place.client.transaction(payment.txId)
    if (known.ok && known.value.status === 'mined') {
      const { confirmations: depth = 0, receipt } = known.value
      // A failed transaction can be mined anew, and succeed, while its block may still be replaced.
      if (!hasFailed(receipt) && depth >= confirmations) return
      if (hasFailed(receipt) && depth >= Math.max(confirmations, BURIED_BLOCKS)) throw paidNothing(payment)
    }
    if (isOver(patience)) throw interrupted(payment, known)
    if (known.ok && known.value.status === 'unknown') await sendAgain(place, payment)
    await pause(waitMs, patience.signal)
  }
}

function hasFailed(receipt: unknown): boolean {
  return fieldsOf(receipt).success === false
}

function paidNothing(payment: Payment): PaymentMismatchError {
  return new PaymentMismatchError('the payment was mined and failed: no money but its fee was moved', {
    code: 'payment_failed',
    payment,
  })
}

/** Sends the transaction again. Errors: `payment_void` if it is too late for it to be mined. */
async function sendAgain({ client, genesis }: SettlePlace, payment: Payment): Promise<void> {
  const { txId, validUntil, sender, nonce } = payment as Payment & Partial<PaymentRecord>
  const sentBy = sender === undefined || nonce === undefined ? undefined : { sender, nonce }
  if ((await client.expiredAt({ txId, validUntil, genesis, sentBy })) !== null)
    throw new PaymentMismatchError('the payment was never mined and cannot be any more: nothing was spent', {
      code: VOID,
      payment,
    })
  // A refusal here is not final. The next answer to the call tells the state of the payment.
  if (payment.tx) await client.submit(transactionOf(payment))
}

function hasCode(answer: Result<NodeAnswer>, code: string): boolean {
  return answer.ok && answer.value.body.code === code
}

/** The error for a payment with an unknown outcome. */
export function interrupted(
  payment: Payment,
  heard: Result<NodeAnswer> | Result<unknown> | null = null,
): InterruptedPaymentError {
  const cause = causeOf(heard)
  const last = cause === undefined ? '' : ` (last heard: ${cause.message})`
  const message = `what became of the payment ${payment.txId} is not known yet${last}; do not pay again, resume it. ${RETURNS}`
  return new InterruptedPaymentError(message, { code: 'interrupted', retryable: true, payment, cause })
}

function causeOf(heard: Result<NodeAnswer> | Result<unknown> | null): FarthingError | undefined {
  if (heard === null) return undefined
  if (!heard.ok) return errorOfFault(heard.fault)
  return isAnswer(heard.value) ? errorOfAnswer(heard.value) : undefined
}

function isAnswer(value: unknown): value is NodeAnswer {
  return typeof (value as NodeAnswer | null)?.status === 'number'
}

/** The request that a payment is for. */
export function requestOf(payment: Payment): string {
  if (payment.request !== null) return payment.request
  const message =
    'the request of this payment is not known, and it would buy whatever is asked for: give the one it was made for, ' +
    'resume({ ...payment, request }); at a seller that is not this node, wrapFetch(fetch, { payment }) offers it again'
  throw new FarthingError(message, { code: 'request_unknown', payment })
}

const ENDS: ReadonlySet<unknown> = new Set(['completed', 'refunded', 'refund_pending'])
/** The payment was redeemed before. */
const REDEEMED: ReadonlySet<string> = new Set(['payment_already_redeemed', 'result_expired'])

/** Whether a paid call in this state is over. Its refund may still be under way. */
export function isEnd(status: unknown): boolean {
  return ENDS.has(status)
}

/** State of a payment after its call was refused. */
export function stateAfter(error: FarthingError): PaymentState {
  // For a payment that was refunded before, the node's details have `end`.
  if (error instanceof RefundedError || error.details?.end !== undefined) return 'refunded'
  if (error instanceof VerificationError || REDEEMED.has(error.code)) return 'settled'
  return error.code === VOID ? 'void' : 'submitted'
}
