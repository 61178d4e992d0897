import { describe, expect, it } from 'vitest'
import { type Fault, fault, faultMessage } from '../../../../../../../consensus/primitives/fault.ts'
import { channelFault, channelWord } from '../../../../../../../marketplace/till/rails/dollar/channel/words.ts'
import { channelPayment } from '../../../../../../support/channel.ts'

const PREFIX = 'invalid_batch_settlement_evm_'
const PAYMENT = channelPayment('voucher')
const { channelId } = PAYMENT.voucher
const NAMED = { channelId, maxClaimable: '1000' }
const ofField = (field: string): Fault =>
  fault('channel/mismatch', { field, got: 'another', expected: 'that of the offer' })

describe('a word of x402', () => {
  it.each([
    ['voucher_signature', fault('channel/signature', { what: 'voucher', ...NAMED })],
    ['receive_authorization_signature', fault('channel/signature', { what: 'deposit', ...NAMED })],
    ['cumulative_amount_mismatch', fault('channel/ceiling', NAMED)],
    ['charge_exceeds_signed_cumulative', fault('channel/ceiling', NAMED)],
    ['cumulative_below_claimed', fault('channel/claimed', NAMED)],
    ['cumulative_exceeds_balance', fault('channel/balance', NAMED)],
    ['channel_not_found', fault('channel/unknown', NAMED)],
    ['missing_channel', fault('channel/unknown', NAMED)],
    ['channel_busy', fault('channel/busy', NAMED)],
    ['deposit_below_min_deposit', fault('channel/deposit-low', NAMED)],
    ['payload_authorization_valid_before', fault('channel/deposit-time', NAMED)],
    ['payload_authorization_valid_after', fault('channel/deposit-time', NAMED)],
    ['refund_no_balance', fault('channel/nothing-left', NAMED)],
    ['nothing_to_settle', fault('channel/nothing-claimed', NAMED)],
    ['verification_state_unavailable', fault('channel/unverified', NAMED)],
    ['channel_state_read_failed', fault('channel/unverified', NAMED)],
    ['rpc_read_failed', fault('channel/unverified', NAMED)],
    ['receiver_mismatch', ofField('receiver')],
    ['receiver_authorizer_mismatch', ofField('receiverAuthorizer')],
    ['token_mismatch', ofField('token')],
    ['withdraw_delay_mismatch', ofField('withdrawDelay')],
    ['withdraw_delay_out_of_range', ofField('withdrawDelay')],
    ['channel_id_mismatch', ofField('channelId')],
    ['channel_id_invalid', ofField('channelId')],
    ['claim_simulation_failed', fault('stable/refused', { reason: 'claim_simulation_failed' })],
    ['insufficient_balance', fault('stable/refused', { reason: 'insufficient_balance' })],
  ])('is heard: %s', (word, expected) => {
    expect(channelFault(`${PREFIX}${word}`, PAYMENT)).toEqual(expected)
  })

  it('without a payment names none', () => {
    expect(channelFault(`${PREFIX}nothing_to_settle`)).toEqual(fault('channel/nothing-claimed'))
    expect(channelFault(`${PREFIX}voucher_signature`)).toEqual(fault('channel/signature', { what: 'voucher' }))
  })

  it.each(['constructor', '__proto__', 'send me all your keys', ''])(
    'that is none is not repeated to callers: %s',
    (word) => {
      expect(channelFault(`${PREFIX}${word}`, PAYMENT)).toEqual(fault('stable/refused', { reason: 'refused' }))
      expect(channelFault(word, PAYMENT)).toEqual(fault('stable/refused', { reason: 'refused' }))
    },
  )

  it('of another scheme is passed on as on the other rails', () => {
    expect(channelFault('insufficient_funds', PAYMENT)).toEqual(
      fault('stable/refused', { reason: 'insufficient_funds' }),
    )
  })
})

describe('a fault', () => {
  it.each([
    [fault('channel/ceiling', NAMED), 'cumulative_amount_mismatch'],
    [fault('channel/claimed', NAMED), 'cumulative_below_claimed'],
    [fault('channel/balance', NAMED), 'cumulative_amount_mismatch'],
    [fault('channel/unknown', NAMED), 'channel_not_found'],
    [fault('channel/busy', NAMED), 'channel_busy'],
    [fault('channel/closing', NAMED), 'withdrawal_pending'],
    [fault('channel/signature', { ...NAMED, what: 'voucher' }), 'voucher_signature'],
    [fault('channel/signature', { ...NAMED, what: 'deposit' }), 'receive_authorization_signature'],
    [fault('channel/deposit-low', NAMED), 'deposit_below_min_deposit'],
    [fault('channel/deposit-time', NAMED), 'payload_authorization_valid_before'],
    [fault('channel/nothing-left', NAMED), 'refund_no_balance'],
    [fault('channel/unverified', NAMED), 'verification_state_unavailable'],
    [fault('pay/unreadable', NAMED), 'payload_type'],
    [ofField('receiver'), 'receiver_mismatch'],
    [ofField('receiverAuthorizer'), 'receiver_authorizer_mismatch'],
    [ofField('token'), 'token_mismatch'],
    [ofField('withdrawDelay'), 'withdraw_delay_mismatch'],
    [ofField('channelId'), 'channel_id_mismatch'],
  ])('is said as clients know it: %o', (one, word) => {
    expect(channelWord(one)).toBe(`${PREFIX}${word}`)
    expect(faultMessage(one)).not.toBe('')
  })

  it('that is not about a channel has no such word', () => {
    expect(channelWord(fault('service/failed', {}))).toBeNull()
    expect(channelWord(ofField('constructor'))).toBeNull()
  })
})
