import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { fieldsOf, type NodeAnswer, textOf } from '../http.ts'
import { isOwnWord } from '../node-client.ts'
import {
  FarthingError,
  PaymentMismatchError,
  PaymentRequiredError,
  RateLimitedError,
  RefundedError,
  ServiceUnavailableError,
  SpendLimitError,
} from './errors.ts'
import type { Payment, RefundState } from './shapes.ts'

/** What happens to the money of a payment that buys nothing. */
export const RETURNS = 'What is not redeemed of it, the chain gives back when its term is over.'

/** Code of a payment that can never be mined. */
export const VOID = 'payment_void'
/** Codes that only this client gives to a payment, after a look at the chain. A seller that uses one could make a caller pay twice. */
const OWN_WORDS: ReadonlySet<string> = new Set([VOID, 'payment_refused', 'payment_failed'])

const RETRY_AFTER_MS_DEFAULT = 1_000

/** Codes of 402 answers that pass by waiting: the payment is not deep enough in the chain yet. */
const PASSING_PAYMENTS: ReadonlySet<unknown> = new Set(['payment_unconfirmed', 'payment_not_found'])

/** The SDK error for an answer. */
export function errorOfAnswer(answer: NodeAnswer, payment: Payment | null = null): FarthingError {
  const { status, body } = answer
  const named = textOf(body.code, `http_${status}`)
  const code = payment !== null && OWN_WORDS.has(named) ? `http_${status}` : named
  const said = textOf(body.error, `the answer has the status ${status}`)
  const message = payment !== null && code === 'service_unavailable' ? `${said}. ${RETURNS}` : said
  const facts = {
    ...{ code, status, requestId: typeof body.requestId === 'string' ? body.requestId : null, payment },
    details: body.details === undefined ? null : fieldsOf(body.details),
  }
  const refund = refundIn(answer)
  if (refund !== null)
    return new RefundedError(`${message.replace(/\.?$/, '.')} The refund is ${refund.status}.`, { ...facts, refund })
  if (status === 429) {
    const retryAfter = (answer.retryAfterMs ?? RETRY_AFTER_MS_DEFAULT) / 1_000
    return new RateLimitedError(message, { ...facts, retryable: true, retryAfter })
  }
  if (status === 402 && payment === null) return new PaymentRequiredError(message, facts)
  if (status === 402) return new PaymentMismatchError(message, { ...facts, retryable: PASSING_PAYMENTS.has(code) })
  if (status === 409) return new PaymentMismatchError(message, facts)
  if (isPassing(answer)) return new ServiceUnavailableError(message, { ...facts, retryable: true })
  return new FarthingError(message, facts)
}

/** The SDK error for a fault. */
export function errorOfFault(cause: Fault, payment: Payment | null = null): FarthingError {
  const { url, fee, limit, message } = cause.detail
  switch (cause.code) {
    case 'cli/ended':
      return new FarthingError('the client was ended', { code: 'ended', payment })
    case 'cli/node-unreachable':
      return new ServiceUnavailableError(`no node answers at ${url}`, {
        code: 'node_unreachable',
        retryable: true,
        payment,
      })
    case 'cli/fee-too-high':
      return new SpendLimitError(`not paid: the fee could come to ${fee}, maxFee is ${limit}`, {
        code: 'fee_too_high',
        payment,
      })
    case 'cli/refused':
      return new FarthingError(`the node refused: ${message}`, { code: 'node_refused', payment })
    default:
      return new FarthingError(`${cause.code} ${JSON.stringify(cause.detail)}`, { code: 'node_refused', payment })
  }
}

/** Throws a fault as an SDK error. */
export function must<T>(result: Result<T>): T {
  if (!result.ok) throw errorOfFault(result.fault)
  return result.value
}

/** Whether another try of a paid call may help. A proxy's 5xx counts, since a proxy knows nothing about the payment. */
export function isPassing(answer: NodeAnswer): boolean {
  const { status, body } = answer
  if (refundIn(answer) !== null) return false
  if (status === 402) return PASSING_PAYMENTS.has(body.code)
  if (status === 429 || status === 503) return true
  if (status === 200) return body.paid !== true
  return status >= 500 && !isOwnWord(answer)
}

function refundIn({ body }: NodeAnswer): RefundState | null {
  const { status, amount, asset, to, txId, reason, statusUrl } = fieldsOf(body.refund)
  if (typeof status !== 'string') return null
  return {
    status,
    amount: typeof amount === 'number' ? amount : 0,
    asset: textOf(asset, ''),
    to: textOf(to, ''),
    txId: typeof txId === 'string' ? txId : null,
    reason: textOf(reason, ''),
    statusUrl: textOf(statusUrl, ''),
  }
}
