import { fromHex, isHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { StablePayment } from '../../marketplace/till/rails/dollar/claim.ts'
import { readStablePayment } from '../../marketplace/till/rails/dollar/payment.ts'
import type { MarketApi } from '../node/node-api.ts'
import { NATIVE_SCHEME } from './options.ts'

/** A payment that came with a call, on one of the rails. */
export type OfferedPayment =
  | { readonly rail: 'native'; readonly txId: TxId; readonly secret: Uint8Array | null }
  | { readonly rail: 'stable'; readonly payment: StablePayment }

/** Carriers of a payment in HTTP, the newer generation first. */
const PAYMENT_HEADERS = ['payment-signature', 'x-payment'] as const
/** Standard base64 with padding, as the official clients write it. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const HEADER_CHARS_MAX = 16_384

type Headers = Readonly<Record<string, string | undefined>>

/** The payment in the headers of a call, null without one. Faults: `pay/unreadable`, `pay/no-offer`. */
export function paymentInHeaders(headers: Headers, market: MarketApi): Result<OfferedPayment | null> {
  const name = PAYMENT_HEADERS.find((header) => headers[header] !== undefined)
  if (name === undefined) return ok(null)
  const decoded = decodeHeader(name, headers[name] as string)
  return decoded.ok ? readPayment(decoded.value, name, market) : decoded
}

/** Reads a decoded payment of either rail and generation; `where` says where it was. */
export function readPayment(payment: unknown, where: string, { stable }: MarketApi): Result<OfferedPayment> {
  const { scheme, accepted, payload } = fieldsOf(payment)
  const named = scheme ?? fieldsOf(accepted).scheme
  if (named === NATIVE_SCHEME) return readNativePayload(fieldsOf(payload), where)
  if (named !== 'exact') return unreadable(where, `its scheme is neither ${NATIVE_SCHEME} nor exact`)
  if (stable === null) return fail(fault('pay/no-offer', { field: 'scheme', got: 'exact', expected: NATIVE_SCHEME }))
  const read = readStablePayment(payment, where, stable.terms)
  return read.ok ? ok({ rail: 'stable', payment: read.value }) : read
}

/** Reads the payload of a native payment; `where` says where it was. Faults: `pay/unreadable`. */
export function readNativePayload(
  { txId, secret }: Readonly<Record<string, unknown>>,
  where: string,
): Result<Extract<OfferedPayment, { rail: 'native' }>> {
  if (typeof txId !== 'string' || !isHex(txId, 32))
    return unreadable(where, 'payload.txId must be 64 lower-case hex digits')
  if (secret === undefined || secret === null) return ok({ rail: 'native', txId: txId as TxId, secret: null })
  if (typeof secret !== 'string' || !isHex(secret, 32))
    return unreadable(where, 'payload.secret must be 64 lower-case hex digits')
  return ok({ rail: 'native', txId: txId as TxId, secret: fromHex(secret) })
}

function decodeHeader(name: string, value: string): Result<unknown> {
  if (value.length > HEADER_CHARS_MAX || !BASE64.test(value)) return unreadable(name, 'it is not standard base64')
  try {
    return ok(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'base64'))))
  } catch {
    return unreadable(name, 'it is not base64 of JSON')
  }
}

function unreadable(where: string, reason: string): Result<never> {
  return fail(fault('pay/unreadable', { where, reason }))
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' ? (value as Readonly<Record<string, unknown>>) : {}
}
