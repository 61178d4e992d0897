import { fieldsOf } from '../http.ts'
import type { Payment, Quote } from './shapes.ts'

type Fields = Readonly<Record<string, unknown>>

/** The terms of a 402 answer, and the x402 version to pay in. */
export interface NativeTerms {
  readonly version: 1 | 2
  /** All of the terms. In version 2 the payment repeats their resource and extensions. */
  readonly terms: Fields
}

/** Decodes the header `PAYMENT-REQUIRED`: standard base64 of JSON. Undefined for anything else. */
export function decodeTerms(header: string | null): Fields | undefined {
  if (header === null) return undefined
  try {
    const bytes = Uint8Array.from(atob(header), (letter) => letter.charCodeAt(0))
    return fieldsOf(JSON.parse(new TextDecoder().decode(bytes)))
  } catch {
    return undefined
  }
}

/** The payload that proves a native payment, in its x402 version. */
export function paymentPayload(payment: Payment, { offer }: Quote, { version, terms }: NativeTerms): Fields {
  const payload = { txId: payment.txId, secret: payment.secret }
  if (version === 1) return { x402Version: 1, scheme: offer.scheme, network: offer.network, payload }
  const { resource, extensions } = terms
  return {
    x402Version: 2,
    ...(resource === undefined ? {} : { resource }),
    accepted: offer,
    payload,
    ...(extensions === undefined ? {} : { extensions }),
  }
}

/** The header that carries a payment, by its x402 version. */
export function paymentHeader(payload: Fields): readonly [name: string, value: string] {
  // One by one: a request can be longer than a list of arguments.
  const text = Array.from(new TextEncoder().encode(JSON.stringify(payload)), (byte) => String.fromCharCode(byte)).join(
    '',
  )
  return [payload.x402Version === 1 ? 'x-payment' : 'payment-signature', btoa(text)]
}
