import { randomBytes } from 'node:crypto'
import { eip55 } from '../../consensus/external/eip55.ts'
import { signDigest } from '../../consensus/external/eip712.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { Fields } from '../../consensus/primitives/fields.ts'
import type {
  ChannelConfig,
  ChannelPayment,
  ChannelState,
} from '../../marketplace/till/rails/dollar/channel/channel.ts'
import { channelIdOf, depositDigest, voucherDigest } from '../../marketplace/till/rails/dollar/channel/digests.ts'
import { readChannelPayment } from '../../marketplace/till/rails/dollar/channel/payment.ts'
import { type ChannelTerms, channelOffer } from '../../marketplace/till/rails/dollar/channel/terms.ts'
import { newPayer, type Payer, TERMS } from './dollar.ts'

/** The key that signs claims of the seller in {@link CHANNEL_TERMS}. */
export const AUTHORIZER: Payer = newPayer()

/** Terms of a seller that takes channels on Base's test network. */
export const CHANNEL_TERMS: ChannelTerms = {
  ...TERMS,
  receiverAuthorizer: `0x${eip55(AUTHORIZER.address.slice(2))}`,
  withdrawDelay: 900,
  leastDeposit: 5_000n,
}
/** Most that a call of these tests costs, in units. */
export const AMOUNT = 1_000n
/** Time of the tests, in milliseconds since 1970. */
export const NOW_MS = 1_800_000_000_000
/** A channel on the chain in which nothing happened since its deposit. */
export const STATE: ChannelState = { balance: 10_000n, totalClaimed: 0n, withdrawRequestedAt: 0, refundNonce: 0n }

/** The channel of a payer with this seller. */
export function configOf({ address }: Payer, change: Partial<ChannelConfig> = {}): ChannelConfig {
  return {
    payer: address,
    payerAuthorizer: address,
    receiver: CHANNEL_TERMS.payTo.toLowerCase(),
    receiverAuthorizer: AUTHORIZER.address,
    token: CHANNEL_TERMS.asset.contract.toLowerCase(),
    withdrawDelay: 900,
    salt: `0x${'00'.repeat(32)}`,
    ...change,
  }
}

/** Parts of a payment that differ from the valid one. */
export interface ChannelChange {
  readonly config?: Partial<ChannelConfig>
  readonly maxClaimable?: bigint
  readonly deposit?: { readonly amount?: bigint; readonly validAfter?: bigint; readonly validBefore?: bigint }
}

/** A signed payment as a client sends it, before it is encoded in a header. */
export function channelJson(payer: Payer, type: ChannelPayment['kind'], change: ChannelChange = {}): Fields {
  const config = configOf(payer, change.config)
  const { chainId } = CHANNEL_TERMS.network
  const channelId = channelIdOf(chainId, config)
  const maxClaimable = change.maxClaimable ?? AMOUNT
  const signature = signDigest(payer.key, voucherDigest(chainId, { channelId, maxClaimable }))
  const voucher = { channelId, maxClaimableAmount: maxClaimable.toString(), signature }
  const beside = type === 'deposit' ? { deposit: depositJson(payer, channelId, change) } : {}
  const payload = { type, channelConfig: config, voucher, ...beside }
  return { x402Version: 2, accepted: channelOffer(CHANNEL_TERMS, AMOUNT), payload }
}

function depositJson(payer: Payer, channelId: string, change: ChannelChange): Fields {
  const validBefore = BigInt(NOW_MS / 1_000 + CHANNEL_TERMS.maxTimeoutSeconds)
  const salt = `0x${toHex(new Uint8Array(randomBytes(32)))}`
  const said = { amount: 10_000n, validAfter: 0n, validBefore, salt, signature: '', ...change.deposit }
  const signature = signDigest(payer.key, depositDigest(CHANNEL_TERMS, payer.address, { channelId, deposit: said }))
  const times = { validAfter: said.validAfter.toString(), validBefore: said.validBefore.toString() }
  return { amount: said.amount.toString(), authorization: { erc3009Authorization: { ...times, salt, signature } } }
}

/** Reads a payment that must be readable. */
export function readChannel<K extends ChannelPayment['kind']>(
  json: Fields,
  kind: K,
): Extract<ChannelPayment, { readonly kind: K }> {
  const read = readChannelPayment(json, 'the header', CHANNEL_TERMS)
  if (!read.ok || read.value.kind !== kind) throw new Error(JSON.stringify(read.ok ? read.value.kind : read.fault))
  return read.value as Extract<ChannelPayment, { readonly kind: K }>
}

/** A signed payment as the node reads it. */
export function channelPayment<K extends ChannelPayment['kind']>(
  kind: K,
  change: ChannelChange = {},
  payer = newPayer(),
) {
  return readChannel(channelJson(payer, kind, change), kind)
}
