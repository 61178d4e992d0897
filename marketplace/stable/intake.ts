import type { StableIn } from './claim.ts'
import type { CallIdentity } from './identity.ts'
import type { StableCall } from './rail.ts'
import { type StableTerms, stableAmount } from './terms.ts'

/** What a claim is made from. */
export interface ClaimBasis {
  readonly terms: StableTerms
  readonly call: StableCall
  readonly identity: CallIdentity
  /** Prices that are honoured now, in millionths of a dollar. */
  readonly prices: readonly bigint[]
  readonly nowMs: number
}

/** The first state of a payment that fits an offer of ours. */
export function newClaim({ terms, call, identity, prices, nowMs }: ClaimBasis): StableIn<'claimed'> {
  const { authorization, payload, version } = call.payment
  const { network, asset } = terms
  const price = prices.find((one) => stableAmount(asset, one) === authorization.value)
  return {
    ...identity,
    state: 'claimed',
    network: network.caip2,
    asset: asset.contract.toLowerCase(),
    payer: authorization.from,
    nonce: authorization.nonce,
    amount: authorization.value.toString(),
    priceUsdMicros: (price ?? 0n).toString(),
    validBefore: Number(authorization.validBefore),
    version,
    claimedAtMs: nowMs,
    request: call.request,
    payload,
  }
}
