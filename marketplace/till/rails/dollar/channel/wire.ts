import type { Fields } from '../../../../../consensus/primitives/fields.ts'
import { isUint } from '../evm-values.ts'
import type { ChannelPayment, ChannelState, ChannelVoucher, ClaimRow } from './channel.ts'

/** What x402 says of a channel: on the chain, and what the seller has charged with the calls that are not claimed yet. */
export interface ChannelStanding {
  readonly channelId: string
  readonly state: ChannelState
  readonly charged: bigint
}

/** A channel as offers and answers show it. */
export function channelStateJson({ channelId, state, charged }: ChannelStanding): Fields {
  return {
    channelId,
    balance: state.balance.toString(),
    totalClaimed: state.totalClaimed.toString(),
    withdrawRequestedAt: state.withdrawRequestedAt,
    refundNonce: state.refundNonce.toString(),
    chargedCumulativeAmount: charged.toString(),
  }
}

/** The state of a channel in a facilitator's answer; null if it cannot be read. */
export function readChannelState({
  balance,
  totalClaimed,
  withdrawRequestedAt,
  refundNonce,
}: Fields): ChannelState | null {
  const nonce = typeof refundNonce === 'number' ? String(refundNonce) : refundNonce
  if (!isUint(balance, 128) || !isUint(totalClaimed, 128) || !isUint(nonce, 256)) return null
  if (!Number.isSafeInteger(withdrawRequestedAt) || (withdrawRequestedAt as number) < 0) return null
  return {
    balance: BigInt(balance),
    totalClaimed: BigInt(totalClaimed),
    withdrawRequestedAt: withdrawRequestedAt as number,
    refundNonce: BigInt(nonce),
  }
}

/** A client's payment in the form of x402, of what was read alone. */
export function paymentJson(payment: ChannelPayment): Fields {
  const { kind, config, voucher } = payment
  const shared = { type: kind, channelConfig: { ...config }, voucher: voucherJson(voucher) }
  if (kind === 'voucher') return shared
  if (kind === 'refund') return payment.amount === null ? shared : { ...shared, amount: payment.amount.toString() }
  const { amount, validAfter, validBefore, salt, signature } = payment.deposit
  const times = { validAfter: validAfter.toString(), validBefore: validBefore.toString() }
  const authorization = { erc3009Authorization: { ...times, salt, signature } }
  return { ...shared, deposit: { amount: amount.toString(), authorization } }
}

/** A row of a claim in the form of x402. */
export function claimJson({ config, maxClaimable, signature, totalClaimed }: ClaimRow): Fields {
  return {
    voucher: { channel: { ...config }, maxClaimableAmount: maxClaimable.toString() },
    signature,
    totalClaimed: totalClaimed.toString(),
  }
}

function voucherJson({ channelId, maxClaimable, signature }: ChannelVoucher): Fields {
  return { channelId, maxClaimableAmount: maxClaimable.toString(), signature }
}
