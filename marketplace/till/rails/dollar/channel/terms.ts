import type { Fields } from '../../../../../consensus/primitives/fields.ts'
import type { DollarTerms } from '../terms.ts'
import type { ChannelVoucher } from './channel.ts'
import { type ChannelStanding, channelStateJson } from './wire.ts'

/** What a seller takes in channels. */
export interface ChannelTerms extends DollarTerms {
  /** Address of the key that signs claims and refunds, with its EIP-55 checksum. */
  readonly receiverAuthorizer: string
  /** Seconds in which the seller can claim after a payer asked to withdraw. */
  readonly withdrawDelay: number
  /** Deposits below this many units are refused. 0 refuses none. */
  readonly leastDeposit: bigint
}

/** An offer of x402 version 2 that is paid through a channel. */
export interface ChannelOffer {
  readonly scheme: 'batch-settlement'
  readonly network: string
  /** Most that the call costs, in units. */
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Fields
}

/** Official clients deposit what an offer names. With this many times its amount a channel pays for some calls. */
const DEPOSIT_CALLS = 10n

/** The offer of a call that costs at most `amount` units. */
export function channelOffer(terms: ChannelTerms, amount: bigint): ChannelOffer {
  const { network, asset, payTo, maxTimeoutSeconds, receiverAuthorizer, withdrawDelay, leastDeposit } = terms
  const usual = amount * DEPOSIT_CALLS
  const minDeposit = (usual > leastDeposit ? usual : leastDeposit).toString()
  return {
    scheme: 'batch-settlement',
    network: network.caip2,
    amount: amount.toString(),
    asset: asset.contract,
    payTo,
    maxTimeoutSeconds,
    extra: { receiverAuthorizer, withdrawDelay, ...asset.domain, minDeposit },
  }
}

/**
 * The offer with what a client needs to sign the right voucher next. A client believes the charged total only beside its own signature, so
 * without a voucher it takes what the chain shows as claimed.
 */
export function correctiveOffer(
  offer: ChannelOffer,
  standing: ChannelStanding,
  last: ChannelVoucher | null,
): ChannelOffer {
  return { ...offer, extra: { ...offer.extra, ...correctiveExtra(standing, last) } }
}

/** What a corrective offer has more than another. */
export function correctiveExtra(standing: ChannelStanding, last: ChannelVoucher | null): Fields {
  const voucherState =
    last === null
      ? {}
      : { voucherState: { signedMaxClaimable: last.maxClaimable.toString(), signature: last.signature } }
  return { channelState: channelStateJson(standing), ...voucherState }
}
