import { PAYMENT_HEADERS } from '../../cashier/cashier.ts'

/**
 * Maximum bytes of a chat that is paid from a tab. Its text takes no room that a key would have to answer for, and all its tokens can be
 * counted.
 */
export const TAB_BODY_BYTES_MAX = 131_072

/** The parts of a request that tell how a chat is paid. */
export interface TabWish {
  readonly headers: Readonly<Record<string, unknown>>
  readonly query: unknown
}

/** Whether a chat brings a payment, or asks what it costs on a tab. Then its API key is not looked at. */
export function wantsTab({ headers, query }: TabWish): boolean {
  return hasPayment(headers) || (query as { readonly rail?: unknown } | undefined)?.rail === 'tab'
}

/** Whether a request brings a payment. */
export function hasPayment(headers: TabWish['headers']): boolean {
  return PAYMENT_HEADERS.some((name) => headers[name] !== undefined)
}
