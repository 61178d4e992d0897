import { ESCROWS } from '../../marketplace/ledger/escrow.ts'
import { NATIVE_SCHEME } from '../cashier/options.ts'
import { paymentInHeaders, readPayment } from '../cashier/payments.ts'
import type { NodeApi } from '../node.ts'

type Fields = Readonly<Record<string, unknown>>

/** Headers that carry a payment over HTTP, in both generations. */
const PAYMENT_HEADERS = ['payment-signature', 'x-payment'] as const

/** Whether the headers carry a payment; nothing is said of its worth. */
export function headersCarryPayment(headers: Fields): boolean {
  return PAYMENT_HEADERS.some((name) => headers[name] !== undefined)
}

/** Whether a body carries a payment in one of the places where doors look for it: plain calls, MCP tools, A2A messages. */
export function bodyCarriesPayment(body: unknown): boolean {
  const { payment, params } = fieldsOf(body)
  return payment !== undefined || (params !== undefined && inParams(params) !== undefined)
}

/**
 * Name of the payment that a call carries, if this node knows it already: it is claimed, or in an open escrow. Null for
 * anything else, whatever is wrong with it.
 */
export async function knownPaymentOf(
  { chain, market }: Pick<NodeApi, 'chain' | 'market'>,
  { headers, body }: { readonly headers: Readonly<Record<string, string | undefined>>; readonly body: unknown },
): Promise<string | null> {
  if (market === null) return null
  const inBody = paymentIn(body)
  const read = inBody === undefined ? paymentInHeaders(headers, market) : readPayment(inBody, 'body', market)
  if (!read.ok || read.value === null || read.value.rail !== 'native') return null
  const { txId } = read.value
  const isKnown = chain.database.get(ESCROWS, txId) !== undefined || (await market.store.get(txId)) !== undefined
  return isKnown ? txId : null
}

/** The payment in a body, in the words of x402; plain calls name the transaction alone. */
function paymentIn(body: unknown): unknown {
  const { payment, params } = fieldsOf(body)
  if (payment !== undefined) return { scheme: NATIVE_SCHEME, payload: payment }
  return inParams(params)
}

function inParams(params: unknown): unknown {
  const { _meta, message, arguments: given } = fieldsOf(params)
  if (fieldsOf(given).payment !== undefined) return true
  const { metadata } = fieldsOf(message)
  return fieldsOf(_meta)['x402/payment'] ?? fieldsOf(metadata)['x402.payment.payload']
}

function fieldsOf(value: unknown): Fields {
  return value !== null && typeof value === 'object' ? (value as Fields) : {}
}
