import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../../../../consensus/primitives/fault-table.ts'
import { reasonInShort } from '../facilitator.ts'
import type { ChannelPayment } from './channel.ts'

const PREFIX = 'invalid_batch_settlement_evm_'

/** What this node says as a seller, without the prefix. */
const SAID: Readonly<Partial<Record<FaultCode, string>>> = {
  'pay/unreadable': 'payload_type',
  'channel/signature': 'voucher_signature',
  'channel/ceiling': 'cumulative_amount_mismatch',
  'channel/claimed': 'cumulative_below_claimed',
  // Official clients look at the chain again for this word, and then deposit. For `cumulative_exceeds_balance` they stand still.
  'channel/balance': 'cumulative_amount_mismatch',
  'channel/unknown': 'channel_not_found',
  'channel/busy': 'channel_busy',
  'channel/closing': 'withdrawal_pending',
  'channel/deposit-low': 'deposit_below_min_deposit',
  'channel/deposit-time': 'payload_authorization_valid_before',
  'channel/nothing-left': 'refund_no_balance',
  'channel/unverified': 'verification_state_unavailable',
}
/** By the field of `channel/mismatch`. */
const OF_FIELDS: ReadonlyMap<string, string> = new Map([
  ['receiver', 'receiver_mismatch'],
  ['receiverAuthorizer', 'receiver_authorizer_mismatch'],
  ['token', 'token_mismatch'],
  ['withdrawDelay', 'withdraw_delay_mismatch'],
  ['channelId', 'channel_id_mismatch'],
])

/** Words about a member of the channel. */
const FIELDS_HEARD: ReadonlyMap<string, string> = new Map([
  ...[...OF_FIELDS].map(([field, word]) => [word, field] as const),
  ['channel_id_invalid', 'channelId'],
  ['withdraw_delay_out_of_range', 'withdrawDelay'],
])
/** What facilitators and other sellers say, without the prefix. Words that say the same have one code. */
const HEARD: ReadonlyMap<string, FaultCode> = new Map([
  ['voucher_signature', 'channel/signature'],
  ['receive_authorization_signature', 'channel/signature'],
  ['cumulative_amount_mismatch', 'channel/ceiling'],
  ['charge_exceeds_signed_cumulative', 'channel/ceiling'],
  ['cumulative_below_claimed', 'channel/claimed'],
  ['cumulative_exceeds_balance', 'channel/balance'],
  ['channel_not_found', 'channel/unknown'],
  ['missing_channel', 'channel/unknown'],
  ['channel_busy', 'channel/busy'],
  ['deposit_below_min_deposit', 'channel/deposit-low'],
  ['payload_authorization_valid_before', 'channel/deposit-time'],
  ['payload_authorization_valid_after', 'channel/deposit-time'],
  ['refund_no_balance', 'channel/nothing-left'],
  ['nothing_to_settle', 'channel/nothing-claimed'],
  ['verification_state_unavailable', 'channel/unverified'],
  ['channel_state_read_failed', 'channel/unverified'],
  ['rpc_read_failed', 'channel/unverified'],
])
/** Words of facilitators that have no code of their own: the operator sees them as they are. */
const OTHERS: ReadonlySet<string> = new Set(
  `authorizer_address_mismatch authorizer_not_configured claim_payload claim_simulation_failed claim_transaction_failed deposit_payload
  deposit_simulation_failed deposit_transaction_failed eip6492_factory_not_allowed erc3009_authorization_required insufficient_balance
  missing_eip712_domain network_mismatch payload_type refund_amount_invalid refund_payload refund_simulation_failed
  refund_transaction_failed scheme settle_payload settle_simulation_failed settle_transaction_failed
  smart_wallet_deployment_failed`.split(/\s+/),
)

/** The x402 error of a fault, as official clients know it; null for a fault that is not about a channel. */
export function channelWord({ code, detail }: Fault): string | null {
  const word = code === 'channel/mismatch' ? OF_FIELDS.get(String(detail.field)) : saidOf(code, detail.what)
  return word === undefined ? null : `${PREFIX}${word}`
}

function saidOf(code: FaultCode, what: unknown): string | undefined {
  return code === 'channel/signature' && what === 'deposit' ? 'receive_authorization_signature' : SAID[code]
}

/** The fault for a reason that a facilitator gave about a payment, or about a settlement without one. */
export function channelFault(reason: string, payment: ChannelPayment | null = null): Fault {
  const word = reason.startsWith(PREFIX) ? reason.slice(PREFIX.length) : ''
  const field = FIELDS_HEARD.get(word)
  if (field !== undefined) return fault('channel/mismatch', { field, got: 'another', expected: 'that of the offer' })
  const code = HEARD.get(word)
  if (code === undefined) return fault('stable/refused', { reason: OTHERS.has(word) ? word : reasonInShort(reason) })
  const what = code === 'channel/signature' ? { what: word === 'voucher_signature' ? 'voucher' : 'deposit' } : {}
  if (payment === null) return fault(code, what)
  const { channelId, maxClaimable } = payment.voucher
  return fault(code, { ...what, channelId, maxClaimable: maxClaimable.toString() })
}
