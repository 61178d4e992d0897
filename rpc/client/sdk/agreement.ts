import type { AgentId, ServiceId } from '../../../consensus/primitives/ids.ts'
import type { NodeClient } from '../node-client.ts'
import { reasonNotToPay, strangeAsset } from '../pay.ts'
import { PaymentMismatchError, PaymentRequiredError, SpendLimitError } from './errors.ts'
import { paramsOf } from './networks.ts'
import { invalid } from './options.ts'
import { must } from './refusals.ts'
import type { AllowList, NetworkFacts, Quote } from './shapes.ts'

/** Refuses a quote that must not be paid at any price. The seller is not trusted. */
export function checkAgreement(quote: Quote, { facts, allow, height }: AgreementBasis): void {
  const { serviceId, agentId, payTo, genesis } = quote
  checkOffered(quote)
  if ((genesis !== null && genesis !== facts.genesis) || !isNetwork(quote.offer.network, facts))
    throw new PaymentMismatchError(`the seller wants to be paid on another network than ${facts.name}`, {
      code: 'other_network',
    })
  const strange = strangeAsset(quote.offer, facts)
  if (strange !== null) throw new PaymentMismatchError(`not paid: ${strange}`, { code: 'other_asset' })
  checkAllowed('agents', allow.agents, [agentId])
  checkAllowed('payTo', allow.payTo, [payTo, agentId])
  checkAllowed('services', allow.services, [serviceId])
  const named = { ...quote, agentId: agentId as AgentId, serviceId: serviceId as ServiceId, raw: quote.offer }
  const reason = reasonNotToPay(named, paramsOf(facts), height)
  if (reason !== null)
    throw new PaymentMismatchError(`not paid: ${reason}`, { code: 'bad_terms', retryable: quote.validUntil <= height })
}

/** A closed service is reported first, since no other request would help. */
function checkOffered(quote: Quote): void {
  const { serviceId, requestError, requestDetails: details, available, unavailableReason } = quote
  if (!available)
    throw new PaymentRequiredError(`${serviceId} is unavailable: ${unavailableReason}`, { code: 'unavailable', quote })
  if (requestError === null) return
  throw new PaymentRequiredError(`the request is unusable: ${requestError}`, {
    ...{ code: 'request_unusable', quote, details },
  })
}

/** What a quote is checked against. */
export interface AgreementBasis {
  readonly facts: NetworkFacts
  readonly allow: AllowList
  readonly height: number
}

/**
 * Refuses an agent whose payout address is not on the allow-list. The caller's own node tells the address: the chain pays
 * there, whatever address the seller names.
 */
export async function checkPayee({ agentId }: Quote, { payTo }: AllowList, client: NodeClient): Promise<void> {
  if (payTo === undefined || payTo.includes(agentId)) return
  const payout = must(await client.payout(agentId))
  if (payTo.includes(payout)) return
  throw new SpendLimitError(`not paid: the chain pays ${agentId} at ${payout}, which allow.payTo does not list`, {
    code: 'not_allowed',
  })
}

/** Refuses a quote if a newer one cannot be paid, or has another price, agent or service. */
export function checkStands(quote: Quote, newer: Quote): void {
  checkOffered(newer)
  const { amount, agentId, serviceId } = quote
  if (newer.amount === amount && newer.agentId === agentId && newer.serviceId === serviceId) return
  throw new PaymentMismatchError(`the price of ${serviceId} moved from ${quote.coins} to ${newer.coins} coins`, {
    code: 'price_moved',
    retryable: true,
  })
}

/** A base address without trailing slashes. Errors: `invalid_option` if it is no http or https address. */
export function baseOf(url: string): string {
  if (!/^https?:\/\//.test(url)) throw invalid('a node is named by its http or https address')
  return url.replace(/\/+$/, '')
}

/** x402 version 1 has one word for the native network, version 2 one for each chain id. */
/** Whether x402 terms are for a network. */
export function isNetwork(network: unknown, { name, chainId }: NetworkFacts): boolean {
  return network === undefined || ['mainnet', name, `farthing:${chainId}`].includes(network as string)
}

/** Refuses what an allow-list does not name. Errors: `not_allowed`. */
export function checkAllowed(list: keyof AllowList, allowed: AllowList[typeof list], names: readonly string[]): void {
  if (allowed === undefined || names.some((name) => allowed.includes(name))) return
  throw new SpendLimitError(`not paid: allow.${list} does not list ${names.join(' or ')}`, { code: 'not_allowed' })
}
