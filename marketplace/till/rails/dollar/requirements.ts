import type { StableClaim } from './claim.ts'
import type { FacilitatorRequest } from './facilitator.ts'
import type { StableTerms } from './terms.ts'

/** What a service is offered as: what clients repeat of an offer beside its terms. */
export interface OwnOffer {
  readonly resource: Readonly<Record<string, unknown>> & { readonly url: string }
  /** By their names. */
  readonly extensions: Readonly<Record<string, object>>
}

/** What facilitators are told of us beside the terms. */
export interface Seller {
  readonly terms: StableTerms
  readonly offerOf: (serviceId: string) => OwnOffer
}

interface Payload {
  readonly resource?: object
  readonly extensions?: Readonly<Record<string, object>>
}

type Asked = Pick<StableClaim, 'serviceId' | 'amount' | 'version'> & { readonly payload: object }

/** What a facilitator is asked about a payment: our own offer, never the client's echo, in the generation of the payment. */
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
 * A payload of generation 2 in which what the client repeats of our offer is in our own words: with words of the client's choice the
 * firewall of a facilitator could be made to take this node for an attacker. The id that it gives its payment is such a word, too: the
 * nonce of the authorization names the payment as well.
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
