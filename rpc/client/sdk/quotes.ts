import { formatAmount } from '../../../consensus/primitives/amount.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { AGENT_ID, type AgentId, SERVICE_ID, type ServiceId } from '../../../consensus/primitives/ids.ts'
import { fieldsOf, textOf } from '../http.ts'
import { PaymentRequiredError } from './errors.ts'
import type { NetworkFacts, Quote } from './shapes.ts'

type Fields = Readonly<Record<string, unknown>>

/** Scheme of the native rail in every x402 offer. */
export const NATIVE_SCHEME = 'native-x402'

/** The circumstances of a quote. */
export interface QuoteBasis {
  /** Decimals of the coin. They never come from the seller. */
  readonly facts: Pick<NetworkFacts, 'decimals'>
  /** Text that the payment will commit to. Null if it is unknown. */
  readonly request: string | null
  readonly url: string
  readonly nowMs: number
}

/**
 * The native option of x402 terms in version 1 or 2. Undefined if there is none. An option in `offers` alone must not be paid:
 * it is marked as unavailable, unless an unusable request is the reason.
 */
export function nativeOffer({ accepts, offers, requestValid }: Fields): Fields | undefined {
  const accepted = nativeIn(accepts)
  if (accepted !== undefined) return accepted
  const offer = nativeIn(offers)
  if (offer === undefined || requestValid === false) return offer
  const extra = fieldsOf(offer.extra)
  const unavailableReason = textOf(extra.unavailableReason, 'the seller offers it and does not accept payment now')
  return { ...offer, extra: { ...extra, available: false, unavailableReason } }
}

function nativeIn(list: unknown): Fields | undefined {
  return Array.isArray(list) ? list.map(fieldsOf).find(({ scheme }) => scheme === NATIVE_SCHEME) : undefined
}

/** Text of the base units of a price. */
export const UNITS = /^[1-9][0-9]{0,33}$/

/** The payment terms in `extra` of a native option. Undefined if one is missing or unusable. */
export function termsIn({ agentId, serviceId, term, validUntil, confirmations }: Fields) {
  if (typeof agentId !== 'string' || !AGENT_ID.test(agentId)) return undefined
  if (typeof serviceId !== 'string' || !SERVICE_ID.test(serviceId)) return undefined
  if (!isCount(term) || !isCount(validUntil) || !isCount(confirmations)) return undefined
  return { agentId: agentId as AgentId, serviceId: serviceId as ServiceId, term, validUntil, confirmations }
}

/** Reads a native option in x402 version 1 or 2. Undefined if this client does not understand it. */
export function readOffer(offer: Fields, basis: QuoteBasis): Quote | undefined {
  const { request, url, nowMs, facts } = basis
  const extra = fieldsOf(offer.extra)
  const [terms, amount] = [termsIn(extra), unitsIn(offer)]
  if (terms === undefined || !isCount(extra.decimals) || !UNITS.test(amount)) return undefined
  const { decimals } = facts
  const isOffered = extra.available !== false
  return {
    quoteId: randomHex(16),
    ...{ ...terms, request, url, offer },
    isCommitted: request !== null,
    payTo: textOf(offer.payTo, ''),
    amount: BigInt(amount),
    coins: formatAmount(BigInt(amount), decimals),
    nativeUsd: dollars(extra.nativeUsd),
    usd: dearest(dollars(extra.priceUsd), dollars(extra.nativeUsd), Number(amount) / 10 ** decimals),
    genesis: typeof extra.genesis === 'string' ? extra.genesis : null,
    available: isOffered,
    unavailableReason: isOffered ? null : textOf(extra.unavailableReason, 'no reason given'),
    ...{ requestError: null, requestDetails: null },
    askedAtMs: nowMs,
  }
}

/**
 * Base units of an offer as text. The x402 versions have different names for them. If both names are there and differ, the
 * result is empty: a caller could judge one price and pay the other.
 */
function unitsIn({ maxAmountRequired, amount }: Fields): string {
  const isTwofold = typeof maxAmountRequired === 'string' && typeof amount === 'string' && maxAmountRequired !== amount
  return isTwofold ? '' : textOf(maxAmountRequired, textOf(amount, ''))
}

/** Reads the 402 answer of a Farthing node. Errors: `no_native_offer`, and `unavailable` if the service is closed and has no offer. */
export function readQuote(body: Fields, serviceId: string, basis: QuoteBasis): Quote {
  const offer = nativeOffer(body)
  const quote = offer === undefined ? undefined : readOffer(offer, basis)
  if (quote === undefined || quote.serviceId !== serviceId) {
    if (body.available === false) {
      const reason = textOf(body.unavailableReason, 'no reason given')
      throw new PaymentRequiredError(`${serviceId} is unavailable: ${reason}`, { code: 'unavailable', status: 402 })
    }
    const message = `${serviceId} has no native offer that this client understands`
    throw new PaymentRequiredError(message, { code: 'no_native_offer', status: 402 })
  }
  return withWord(quote, body)
}

/** A quote, completed by what the 402 body says about the service and the request. */
export function withWord(quote: Quote, { available, unavailableReason, requestValid, requestError }: Fields): Quote {
  const closed = available === false
  const details = requestValid === false ? fieldsOf(requestError) : null
  return {
    ...quote,
    available: quote.available && !closed,
    unavailableReason: closed
      ? textOf(unavailableReason, quote.unavailableReason ?? 'no reason given')
      : quote.unavailableReason,
    requestError: details === null ? null : textOf(details.reason, 'unknown'),
    requestDetails: details,
  }
}

/** Random bytes in hex. */
export function randomHex(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)))
}

function dollars(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null
}

/** A seller states the price in dollars and in coins. Ceilings apply to the dearer one. */
function dearest(priceUsd: number | null, nativeUsd: number | null, coins: number): number | null {
  const byCoins = nativeUsd === null ? null : nativeUsd * coins
  return priceUsd === null || byCoins === null ? (priceUsd ?? byCoins) : Math.max(priceUsd, byCoins)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
