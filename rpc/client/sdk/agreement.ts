import type { AgentId, ServiceId } from '../../../consensus/primitives/ids.ts'
import { reasonNotToPay } from '../pay.ts'
import { FarthingError, PaymentMismatchError, PaymentRequiredError, SpendLimitError } from './errors.ts'
import { paramsOf } from './networks.ts'
import type { AllowList, NetworkFacts, Quote } from './shapes.ts'

/**
 * Refuses a quote that must not be paid, whatever it costs: unavailable, unusable request, another network, a seller that is
 * not allowed, a term or a height that makes no sense. The quote comes from a stranger.
 */
export function checkAgreement(quote: Quote, { facts, allow, height }: AgreementBasis): void {
  const { serviceId, agentId, payTo, genesis } = quote
  if (!quote.available)
    throw new PaymentRequiredError(`${serviceId} is unavailable: ${quote.unavailableReason}`, {
      code: 'unavailable',
      quote,
    })
  if (quote.requestError !== null)
    throw new PaymentRequiredError(`the request is unusable: ${quote.requestError}`, {
      code: 'request_unusable',
      quote,
    })
  if (genesis !== null && genesis !== facts.genesis)
    throw new PaymentMismatchError(`the seller wants to be paid on another network than ${facts.name}`, {
      code: 'other_network',
    })
  if (!isAllowed(allow.agents, agentId) || !isAllowed(allow.payTo, payTo) || !isAllowed(allow.services, serviceId))
    throw new SpendLimitError(`not paid: ${agentId} (${payTo}) selling ${serviceId} is not on the allow-list`, {
      code: 'not_allowed',
    })
  const named = { ...quote, agentId: agentId as AgentId, serviceId: serviceId as ServiceId, raw: quote.offer }
  const reason = reasonNotToPay(named, paramsOf(facts), height)
  if (reason !== null)
    throw new PaymentMismatchError(`not paid: ${reason}`, { code: 'bad_terms', retryable: quote.validUntil <= height })
}

/** What a quote is held against. */
export interface AgreementBasis {
  readonly facts: NetworkFacts
  readonly allow: AllowList
  readonly height: number
}

/** Refuses a quote whose price is not that of a newer one. */
export function checkPriceStands(quote: Quote, newer: Quote): void {
  const { amount, agentId, serviceId } = quote
  if (newer.amount === amount && newer.agentId === agentId && newer.serviceId === serviceId) return
  throw new PaymentMismatchError(`the price of ${serviceId} moved from ${quote.coins} to ${newer.coins} coins`, {
    code: 'price_moved',
    retryable: true,
  })
}

/** A base address without the slash at its end. */
export function baseOf(url: string): string {
  if (!/^https?:\/\//.test(url))
    throw new FarthingError('a node is named by its http or https address', { code: 'invalid_option' })
  return url.replace(/\/+$/, '')
}

function isAllowed(list: readonly string[] | undefined, name: string): boolean {
  return list === undefined || list.includes(name)
}
