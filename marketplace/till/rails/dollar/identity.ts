import { taggedHashHex } from '../../../../consensus/crypto/hash.ts'
import { type TransferMessage, transferDigest } from '../../../../consensus/external/eip712.ts'
import { fromHex } from '../../../../consensus/primitives/bytes.ts'
import type { Hash, ServiceId } from '../../../../consensus/primitives/ids.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { requestHash } from '../../../../consensus/tx/request-hash.ts'
import type { DollarCall, DollarClaim, DollarPayment } from './claim.ts'
import type { DollarTerms } from './terms.ts'

/** What decides whether a paid call belongs to a claim. */
export interface CallIdentity {
  readonly id: string
  readonly serviceId: ServiceId
  readonly requestHash: Hash
  readonly signatureHash: Hash
  readonly repeatKey: Hash | null
}

/** Identity of a call: its payment, its request, and what proves a repeat to be the buyer's. */
export function identify(
  terms: DollarTerms,
  { serviceId, request, payment, idempotencyKey }: DollarCall,
): CallIdentity {
  const { authorization, paymentIdentifier } = payment
  const key = paymentIdentifier ?? idempotencyKey
  return {
    id: paymentId(terms, payment),
    serviceId: serviceId as ServiceId,
    requestHash: requestHash(serviceId as ServiceId, request),
    signatureHash: taggedHashHex('stableSignature', fromHex(authorization.signature.slice(2))),
    // Hashed with the payer, so that no other payer can take this name.
    repeatKey: key === null ? null : taggedHashHex('stableRepeat', encodeText(`${authorization.from} ${key}`)),
  }
}

/** The same for every spelling and x402 version of an authorization. */
function paymentId({ network, asset }: DollarTerms, { authorization }: DollarPayment): string {
  const parts = [network.caip2, asset.contract.toLowerCase(), authorization.from, authorization.nonce]
  return taggedHashHex('stablePayment', encodeText(parts.join('|')))
}

/** Whether a claim was made for this call: same service, request and signature. */
export function isSameCall(
  claim: Pick<DollarClaim, 'serviceId' | 'requestHash' | 'signatureHash'>,
  { serviceId, requestHash: hash, signatureHash }: CallIdentity,
): boolean {
  return claim.serviceId === serviceId && claim.requestHash === hash && claim.signatureHash === signatureHash
}

/**
 * Whether a call proves that it comes from the claim's payer. A settlement makes the signature public, so a name counts as well, if the
 * payer gave one. Without a name no call proves it after the delivery.
 */
export function isOfPayer(claim: DollarClaim, { signatureHash, repeatKey }: CallIdentity): boolean {
  if (claim.signatureHash !== signatureHash) return false
  if (claim.repeatKey !== null) return claim.repeatKey === repeatKey
  return claim.state !== 'settled' || claim.deliveredAtMs === null
}

/** Claims of another network or token wait until the operator sets that network and token again. */
export function isOfTerms({ network, asset }: DollarTerms, claim: Pick<DollarClaim, 'network' | 'asset'>): boolean {
  return claim.network === network.caip2 && claim.asset === asset.contract.toLowerCase()
}

/** The 32 bytes that the signature of an authorization covers. */
export function digestOf({ asset, network }: DollarTerms, message: TransferMessage): Uint8Array {
  return transferDigest({ ...asset.domain, chainId: network.chainId, contract: asset.contract }, message)
}
