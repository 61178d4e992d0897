import { isMirrored, recoverSigner } from '../../../../../consensus/external/eip712.ts'
import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import { fieldsOf } from '../../../../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import { dollarAmount } from '../terms.ts'
import type { ChannelPayment, ChannelPaymentOf, ChannelState } from './channel.ts'
import { NO_ADDRESS } from './channel.ts'
import { channelIdOf, depositDigest, voucherDigest } from './digests.ts'
import type { ChannelTerms } from './terms.ts'
import { channelOffer } from './terms.ts'

/** Facilitators refuse an authorization that runs out sooner: a transaction needs this long. */
const MINE_SECONDS = 6
/** An authorization may hold this much longer than the offer says, since clocks differ. */
const SLACK_SECONDS = 600

/** The most that may be unclaimed on a channel whose payer itself signs, in millionths of a dollar. */
const UNCLAIMED_OF_PAYER_MICROS = 250_000n

/** What a payment's ceiling is compared with. */
export interface CeilingBasis {
  /** All that the seller has charged on the channel. */
  readonly charged: bigint
  /** Most that this call costs. Nothing for a refund. */
  readonly amount: bigint
  readonly state: ChannelState
}

/**
 * The amount of the offer that a client pays: one of `amounts`, the current one if the client repeats none. Other members of the offer that
 * the client repeats must be this node's. In `extra` a client may add members. Faults: `pay/no-offer`.
 */
export function offeredAmount(
  { accepted }: Pick<ChannelPayment, 'accepted'>,
  terms: ChannelTerms,
  amounts: readonly [bigint, ...bigint[]],
): Result<bigint> {
  const amount = accepted.amount === undefined ? amounts[0] : amounts.find((one) => one.toString() === accepted.amount)
  if (amount === undefined) return fail(mismatch('accepted.amount', accepted.amount, amounts[0].toString()))
  const { extra, ...ours } = channelOffer(terms, amount)
  const wrong = differing(accepted, { ...ours, extra: accepted.extra })
  if (wrong !== null) return fail(mismatch(`accepted.${wrong}`, accepted[wrong], (ours as Members)[wrong] ?? 'nothing'))
  const { minDeposit: _, ...counts } = extra
  const echoed = fieldsOf(accepted.extra)
  const other = Object.keys(counts).find((name) => echoed[name] !== undefined && echoed[name] !== counts[name])
  return other === undefined ? ok(amount) : fail(mismatch(`accepted.extra.${other}`, echoed[other], counts[other]))
}

/** Whether the channel is one of this seller under its own id. Faults: `channel/mismatch`. */
export function checkChannel({ config, voucher }: ChannelPayment, terms: ChannelTerms): Fault | null {
  const { network, asset, payTo, receiverAuthorizer, withdrawDelay } = terms
  const pairs = [
    ['receiver', config.receiver, payTo.toLowerCase()],
    ['receiverAuthorizer', config.receiverAuthorizer, receiverAuthorizer.toLowerCase()],
    ['token', config.token, asset.contract.toLowerCase()],
    ['withdrawDelay', config.withdrawDelay, withdrawDelay],
    ['channelId', voucher.channelId, channelIdOf(network.chainId, config)],
  ] as const
  const wrong = pairs.find(([, got, expected]) => got !== expected)
  if (wrong === undefined) return null
  const [field, got, expected] = wrong
  return fault('channel/mismatch', { field, got, expected })
}

/** Whether only the chain can judge the voucher's signature: the payer is then perhaps a contract. */
export function isSignedOnChain({ config }: Pick<ChannelPayment, 'config'>): boolean {
  return config.payerAuthorizer === NO_ADDRESS
}

/**
 * The most that may be unclaimed on a channel, within what the operator bears on any. A contract can say no to a signature that it was good
 * with, and then no claim of it succeeds.
 */
export function unclaimedMost(
  payment: Pick<ChannelPayment, 'config'>,
  { asset }: Pick<ChannelTerms, 'asset'>,
  unclaimedMax: bigint,
): bigint {
  const most = dollarAmount(asset, UNCLAIMED_OF_PAYER_MICROS)
  return isSignedOnChain(payment) && most < unclaimedMax ? most : unclaimedMax
}

/** Whether the channel's key made the voucher, with the lower s that the contract asks for. Faults: `channel/signature`. */
export function checkVoucherSignature(
  { config, voucher }: Pick<ChannelPayment, 'config' | 'voucher'>,
  { network }: Pick<ChannelTerms, 'network'>,
): Fault | null {
  const signer = recoverSigner(voucherDigest(network.chainId, voucher), voucher.signature)
  const isGood = signer?.address === config.payerAuthorizer && signer.isLow
  return isGood ? null : fault('channel/signature', { what: 'voucher', channelId: voucher.channelId })
}

/**
 * Whether a deposit can be worked on: its size, its time, and a signature that the token would not refuse at once. Any other signature may
 * be a contract's, which only the chain can judge. Faults: `channel/deposit-low`, `channel/deposit-time`, `channel/signature`.
 */
export function checkDeposit(
  { config, voucher, deposit }: ChannelPaymentOf<'deposit'>,
  terms: ChannelTerms,
  nowMs: number,
): Fault | null {
  const { channelId } = voucher
  if (deposit.amount < terms.leastDeposit)
    return fault('channel/deposit-low', { amount: deposit.amount.toString(), least: terms.leastDeposit.toString() })
  const now = BigInt(Math.floor(nowMs / 1_000))
  const { validAfter, validBefore } = deposit
  const until = now + BigInt(terms.maxTimeoutSeconds + SLACK_SECONDS)
  if (validAfter > now || validBefore < now + BigInt(MINE_SECONDS) || validBefore > until)
    return fault('channel/deposit-time', {
      validAfter: validAfter.toString(),
      validBefore: validBefore.toString(),
      now: now.toString(),
      seconds: terms.maxTimeoutSeconds,
    })
  const isRefused = isMirrored(deposit.signature) && isOwnDeposit({ config, channelId, deposit }, terms)
  return isRefused ? fault('channel/signature', { what: 'deposit', channelId }) : null
}

/** Whether the payer's own key signed a deposit: no other party can have made it. */
export function isOwnDeposit(
  {
    config,
    channelId,
    deposit,
  }: Pick<ChannelPaymentOf<'deposit'>, 'config' | 'deposit'> & { readonly channelId: string },
  terms: Pick<ChannelTerms, 'network' | 'asset'>,
): boolean {
  const digest = depositDigest(terms, config.payer, { channelId, deposit })
  return recoverSigner(digest, deposit.signature)?.address === config.payer
}

/**
 * Whether a voucher pays this call, or a refund's voucher what was charged so far. The total must be exact: the client learns a wrong one
 * from the answer and signs again. Faults: `channel/closing`, `channel/ceiling`, `channel/unknown`, `channel/balance`, `channel/claimed`.
 */
export function checkCeiling(payment: ChannelPayment, { charged, amount, state }: CeilingBasis): Fault | null {
  const { channelId, maxClaimable } = payment.voucher
  const detail = { channelId, maxClaimable: maxClaimable.toString() }
  const isRefund = payment.kind === 'refund'
  if (!isRefund && state.withdrawRequestedAt !== 0) return fault('channel/closing', { channelId })
  const expected = isRefund ? charged : charged + amount
  if (maxClaimable !== expected) return fault('channel/ceiling', { ...detail, expected: expected.toString() })
  const balance = state.balance + (payment.kind === 'deposit' ? payment.deposit.amount : 0n)
  if (balance === 0n) return fault('channel/unknown', { channelId })
  if (maxClaimable > balance) return fault('channel/balance', detail)
  const isClaimed = isRefund ? maxClaimable < state.totalClaimed : maxClaimable <= state.totalClaimed
  return isClaimed ? fault('channel/claimed', detail) : null
}

/** The units that a refund gives back: what is asked, or all that is not charged. Faults: `channel/nothing-left`. */
export function refundable(
  { voucher, amount }: ChannelPaymentOf<'refund'>,
  { charged, state }: Pick<CeilingBasis, 'charged' | 'state'>,
): Result<bigint> {
  const left = state.balance - charged
  if (left <= 0n) return fail(fault('channel/nothing-left', { channelId: voucher.channelId }))
  return ok(amount === null || amount > left ? left : amount)
}

type Members = Readonly<Record<string, unknown>>

/** The first member of `got` that is not as in `expected`. */
function differing(got: Members, expected: Members): string | null {
  return Object.keys(got).find((name) => got[name] !== expected[name]) ?? null
}

function mismatch(field: string, got: unknown, expected: unknown): Fault {
  const shown = typeof got === 'object' ? 'an object' : String(got).slice(0, 80)
  return fault('pay/no-offer', { field, got: shown, expected: String(expected) })
}
