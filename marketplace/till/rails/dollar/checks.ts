import { isMirrored, recoverSigner } from '../../../../consensus/external/eip712.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { Authorization, DollarPayment } from './claim.ts'
import { digestOf } from './identity.ts'
import { type DollarTerms, dollarAmount } from './terms.ts'

/** What a payment is compared with. */
export interface CheckBasis {
  readonly terms: DollarTerms
  /** Prices that are honoured now, in millionths of a dollar, the current one first. */
  readonly prices: readonly bigint[]
  readonly nowMs: number
  readonly timeoutMs: number
}

/** Facilitators refuse an authorization that runs out sooner: a settlement needs this long. */
const SETTLE_SECONDS = 6
/**
 * An authorization may hold this much longer than the offer says, since clocks differ. This is bounded, because a settlement of unknown
 * outcome is asked about until its authorization runs out.
 */
const SLACK_SECONDS = 600

/** Whether an authorization holds long enough for work of such a length and its settlement. */
export function holdsLongEnough(validBefore: number, nowMs: number, timeoutMs: number): boolean {
  return validBefore >= Math.floor(nowMs / 1_000) + Math.ceil(timeoutMs / 1_000) + SETTLE_SECONDS
}

/** Compares a payment with this node's offer. Faults: `pay/no-offer`, `stable/refused`. */
export function checkPayment(payment: DollarPayment, basis: CheckBasis): Fault | null {
  const { terms, prices } = basis
  const { authorization, accepted } = payment
  const amounts = prices.map((price) => dollarAmount(terms.asset, price))
  if (!amounts.includes(authorization.value)) return mismatch('value', authorization.value, amounts[0] as bigint)
  if (authorization.to !== terms.payTo.toLowerCase()) return mismatch('to', authorization.to, terms.payTo)
  const misread = accepted === null ? null : checkEcho(accepted, terms, authorization.value)
  return misread ?? checkWindow(payment, basis) ?? checkSignature(payment, terms)
}

/** Compares the offer that a payment of x402 version 2 repeats. Of `extra` only the token's name and version count. */
function checkEcho(accepted: Readonly<Record<string, unknown>>, terms: DollarTerms, amount: bigint): Fault | null {
  const { network, asset, payTo, maxTimeoutSeconds } = terms
  const ours: Readonly<Record<string, unknown>> = {
    scheme: 'exact',
    network: network.caip2,
    amount: amount.toString(),
    asset: asset.contract,
    payTo,
    maxTimeoutSeconds,
  }
  const wrong = Object.keys(ours).find((name) => accepted[name] !== ours[name])
  if (wrong !== undefined) return mismatch(`accepted.${wrong}`, accepted[wrong], ours[wrong])
  const foreign = Object.keys(accepted).find((name) => name !== 'extra' && !Object.hasOwn(ours, name))
  if (foreign !== undefined) return mismatch(`accepted.${foreign}`, accepted[foreign], 'nothing')
  const extra = (accepted.extra ?? {}) as Readonly<Record<string, unknown>>
  const { name, version } = asset.domain
  if (extra.name !== name) return mismatch('accepted.extra.name', extra.name, name)
  return extra.version === version ? null : mismatch('accepted.extra.version', extra.version, version)
}

function checkWindow({ authorization }: DollarPayment, { terms, nowMs, timeoutMs }: CheckBasis): Fault | null {
  const now = BigInt(Math.floor(nowMs / 1_000))
  const { validAfter, validBefore } = authorization
  if (validAfter > now) return refused('invalid_exact_evm_payload_authorization_valid_after')
  const inTime = validBefore <= now + BigInt(terms.maxTimeoutSeconds + SLACK_SECONDS)
  return inTime && holdsLongEnough(Number(validBefore), nowMs, timeoutMs)
    ? null
    : refused('invalid_exact_evm_payload_authorization_valid_before')
}

/**
 * Refuses a key's signature with the higher s, which tokens refuse: facilitators may accept it, and the work would be for nothing. Any
 * other signature that is not of the payer's own key may be a contract's.
 */
function checkSignature({ authorization }: DollarPayment, terms: DollarTerms): Fault | null {
  if (!isMirrored(authorization.signature)) return null
  const isPayers = signerOf(authorization, terms)?.address === authorization.from
  return isPayers ? refused('invalid_exact_evm_signature') : null
}

/** Whether the payer's own key made the signature, with the lower s that tokens accept: no other party can have made this payment. */
export function isOwnKey({ authorization }: DollarPayment, terms: DollarTerms): boolean {
  const signer = signerOf(authorization, terms)
  return signer?.address === authorization.from && signer.isLow
}

type Signer = ReturnType<typeof recoverSigner>
const SIGNERS = new WeakMap<Authorization, Signer>()

/** Computed once for each payment: it takes about a millisecond. */
function signerOf(authorization: Authorization, terms: DollarTerms): Signer {
  const known = SIGNERS.get(authorization)
  if (known !== undefined) return known
  const signer = recoverSigner(digestOf(terms, authorization), authorization.signature)
  SIGNERS.set(authorization, signer)
  return signer
}

function refused(reason: string): Fault {
  return fault('stable/refused', { reason })
}

function mismatch(field: string, got: unknown, expected: unknown): Fault {
  const shown = typeof got === 'object' ? 'an object' : String(got).slice(0, 80)
  return fault('pay/no-offer', { field, got: shown, expected: String(expected) })
}
