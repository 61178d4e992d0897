import {
  domainSeparator,
  hashWords,
  keccakText,
  receiveDigest,
  typedDigest,
} from '../../../../../consensus/external/eip712.ts'
import { toHex } from '../../../../../consensus/primitives/bytes.ts'
import type { DollarTerms } from '../terms.ts'
import {
  CHANNEL_CONTRACT,
  type ChannelConfig,
  type ChannelDeposit,
  type ChannelVoucher,
  type ClaimRow,
  DEPOSIT_COLLECTOR,
} from './channel.ts'

const ENTRY = 'ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)'
const TYPES = {
  config: keccakText(
    'ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)',
  ),
  voucher: keccakText('Voucher(bytes32 channelId,uint128 maxClaimableAmount)'),
  refund: keccakText('Refund(bytes32 channelId,uint256 nonce,uint128 amount)'),
  batch: keccakText(`ClaimBatch(ClaimEntry[] claims)${ENTRY}`),
  entry: keccakText(ENTRY),
}
const DOMAIN = { name: 'x402 Batch Settlement', version: '1', contract: CHANNEL_CONTRACT }
const SEPARATORS = new Map<number, Uint8Array>()

/** The id of a channel: 32 bytes in lower-case hex with 0x. */
export function channelIdOf(chainId: number, config: ChannelConfig): string {
  const { payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt } = config
  const addresses = [payer, payerAuthorizer, receiver, receiverAuthorizer, token]
  const struct = hashWords(TYPES.config, ...addresses, BigInt(withdrawDelay), salt)
  return `0x${toHex(typedDigest(separatorOf(chainId), struct))}`
}

/** The 32 bytes that a payer signs to promise an amount. */
export function voucherDigest(
  chainId: number,
  { channelId, maxClaimable }: Pick<ChannelVoucher, 'channelId' | 'maxClaimable'>,
): Uint8Array {
  return typedDigest(separatorOf(chainId), hashWords(TYPES.voucher, channelId, maxClaimable))
}

/** The 32 bytes that a receiver's authorizer signs to give back an amount. */
export function refundDigest(
  chainId: number,
  { channelId, nonce, amount }: { readonly channelId: string; readonly nonce: bigint; readonly amount: bigint },
): Uint8Array {
  return typedDigest(separatorOf(chainId), hashWords(TYPES.refund, channelId, nonce, amount))
}

/** The 32 bytes that a receiver's authorizer signs to claim these rows, in this order. */
export function claimDigest(chainId: number, rows: readonly ClaimRow[]): Uint8Array {
  const entries = rows.map(({ config, maxClaimable, totalClaimed }) =>
    hashWords(TYPES.entry, channelIdOf(chainId, config), maxClaimable, totalClaimed),
  )
  return typedDigest(separatorOf(chainId), hashWords(TYPES.batch, hashWords(...entries)))
}

/** The 32 bytes that a payer signs to move a deposit into a channel. */
export function depositDigest(
  { network, asset }: Pick<DollarTerms, 'network' | 'asset'>,
  payer: string,
  { channelId, deposit }: { readonly channelId: string; readonly deposit: ChannelDeposit },
): Uint8Array {
  const { amount, validAfter, validBefore, salt } = deposit
  const nonce = `0x${toHex(hashWords(channelId, salt))}`
  const domain = { ...asset.domain, chainId: network.chainId, contract: asset.contract }
  const message = { from: payer, to: DEPOSIT_COLLECTOR, value: amount, validAfter, validBefore, nonce }
  return receiveDigest(domain, message)
}

/** Computed once for each chain: every voucher needs it. */
function separatorOf(chainId: number): Uint8Array {
  const known = SEPARATORS.get(chainId)
  if (known !== undefined) return known
  const separator = domainSeparator({ ...DOMAIN, chainId })
  SEPARATORS.set(chainId, separator)
  return separator
}
