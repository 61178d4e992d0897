import type { DollarClaim } from './claim.ts'
import type { FacilitatorRequest } from './facilitator.ts'
import type { DollarTerms } from './terms.ts'

/** What clients repeat of a service's offer beside its terms. */
export interface OwnOffer {
  readonly resource: Readonly<Record<string, unknown>> & { readonly url: string }
  /** Extensions of x402 by name. */
  readonly extensions: Readonly<Record<string, object>>
}

/** This node as the seller. */
export interface Seller {
  readonly terms: DollarTerms
  readonly offerOf: (serviceId: string) => OwnOffer
}

interface Payload {
  readonly resource?: object
  readonly extensions?: Readonly<Record<string, object>>
}

type Asked = Pick<DollarClaim, 'serviceId' | 'amount' | 'version'> & { readonly payload: object }

/** A question about a payment, in its x402 version, with this node's own offer. */
export function facilitatorRequest({ terms, offerOf }: Seller, claim: Asked): FacilitatorRequest {
  const own = offerOf(claim.serviceId)
  const { network, asset, payTo, maxTimeoutSeconds } = terms
  const paid = { asset: asset.contract, payTo, maxTimeoutSeconds, extra: asset.domain }
  const paymentRequirements =
    claim.version === 2
      ? { scheme: 'exact', network: network.caip2, amount: claim.amount, ...paid }
      : {
          scheme: 'exact',
          network: network.word,
          maxAmountRequired: claim.amount,
          resource: own.resource.url,
          description: '',
          mimeType: 'application/json',
          ...paid,
        }
  const paymentPayload = claim.version === 2 ? withOwnWords(claim.payload, own) : claim.payload
  return { x402Version: claim.version, paymentPayload, paymentRequirements }
}

/**
 * Replaces the resource and the extensions that a client of x402 version 2 repeats by this node's own: a client could choose words that
 * make a facilitator's firewall take this node for an attacker.
 */
function withOwnWords(payload: object, own: OwnOffer): object {
  const { resource, extensions, ...rest } = payload as Payload
  const named = Object.entries(own.extensions).filter(([name]) => extensions?.[name] !== undefined)
  return {
    ...rest,
    ...(resource !== undefined && { resource: own.resource }),
    ...(named.length > 0 && { extensions: Object.fromEntries(named) }),
  }
}
