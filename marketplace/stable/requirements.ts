import type { StableClaim } from './claim.ts'
import type { FacilitatorRequest } from './facilitator.ts'
import type { StableTerms } from './terms.ts'

/** What facilitators are told of us beside the terms. */
export interface Seller {
  readonly terms: StableTerms
  /** URL that a service is bought at. */
  readonly resourceOf: (serviceId: string) => string
}

type Asked = Pick<StableClaim, 'serviceId' | 'amount' | 'version'> & { readonly payload: object }

/** What a facilitator is asked about a payment: our own offer, never the client's echo, in the generation of the payment. */
export function facilitatorRequest({ terms, resourceOf }: Seller, claim: Asked): FacilitatorRequest {
  const { network, asset, payTo, maxTimeoutSeconds } = terms
  const paid = { asset: asset.contract, payTo, maxTimeoutSeconds, extra: asset.domain }
  const paymentRequirements =
    claim.version === 2
      ? { scheme: 'exact', network: network.caip2, amount: claim.amount, ...paid }
      : {
          scheme: 'exact',
          network: network.word,
          maxAmountRequired: claim.amount,
          resource: resourceOf(claim.serviceId),
          description: '',
          mimeType: 'application/json',
          ...paid,
        }
  return { x402Version: claim.version, paymentPayload: claim.payload, paymentRequirements }
}
