import { expect, it } from 'vitest'
import {
  depositAnswer,
  failedAnswer,
  refundAnswer,
  voucherAnswer,
} from '../../../../../../../marketplace/till/rails/dollar/channel/answers.ts'
import { channelOffer, correctiveOffer } from '../../../../../../../marketplace/till/rails/dollar/channel/terms.ts'
import { channelStateJson, readChannelState } from '../../../../../../../marketplace/till/rails/dollar/channel/wire.ts'
import { CHANNEL_TERMS, channelPayment, STATE } from '../../../../../../support/channel.ts'

const channelId = `0x${'ab'.repeat(32)}`
const standing = { channelId, state: { ...STATE, totalClaimed: 3_200n, refundNonce: 1n }, charged: 3_900n }
const channelState = {
  channelId,
  balance: '10000',
  totalClaimed: '3200',
  withdrawRequestedAt: 0,
  refundNonce: '1',
  chargedCumulativeAmount: '3900',
}
const basis = { network: 'eip155:84532', payer: '0x11', standing }
const transaction = `0x${'cd'.repeat(32)}`

it('answers a voucher with what was charged, and no transaction', () => {
  expect(voucherAnswer(basis, 700n)).toEqual({
    success: true,
    transaction: '',
    amount: '',
    network: 'eip155:84532',
    payer: '0x11',
    extra: { chargedAmount: '700', channelState },
  })
})

it('answers a deposit with both amounts, a refund with the one that moved, and a failure with its word', () => {
  const moved = { transaction, amount: 10_000n }
  expect(depositAnswer(basis, 700n, moved)).toMatchObject({
    transaction,
    amount: '10000',
    extra: { chargedAmount: '700', channelState },
  })
  expect(refundAnswer(basis, moved)).toEqual({
    ...{ success: true, transaction, amount: '10000', network: 'eip155:84532', payer: '0x11' },
    extra: { channelState },
  })
  expect(failedAnswer('eip155:84532', 'why')).toEqual({
    success: false,
    errorReason: 'why',
    transaction: '',
    network: 'eip155:84532',
  })
})

it("offers a call with a deposit for ten, and at least the seller's own", () => {
  expect(channelOffer(CHANNEL_TERMS, 1_000n)).toEqual({
    scheme: 'batch-settlement',
    network: 'eip155:84532',
    amount: '1000',
    asset: CHANNEL_TERMS.asset.contract,
    payTo: CHANNEL_TERMS.payTo,
    maxTimeoutSeconds: 120,
    extra: {
      receiverAuthorizer: CHANNEL_TERMS.receiverAuthorizer,
      withdrawDelay: 900,
      name: 'USDC',
      version: '2',
      minDeposit: '10000',
    },
  })
  expect(channelOffer(CHANNEL_TERMS, 100n).extra.minDeposit).toBe('5000')
})

it('corrects with the state and the last voucher, and without one with the state alone', () => {
  const offer = channelOffer(CHANNEL_TERMS, 1_000n)
  const { voucher } = channelPayment('voucher', { maxClaimable: 4_000n })
  const voucherState = { signedMaxClaimable: '4000', signature: voucher.signature }
  expect(correctiveOffer(offer, standing, voucher).extra).toEqual({ ...offer.extra, channelState, voucherState })
  expect(correctiveOffer(offer, standing, null).extra).toEqual({ ...offer.extra, channelState })
})

it('reads the state that a facilitator names, and nothing else', () => {
  expect(readChannelState(channelStateJson(standing))).toEqual(standing.state)
  expect(readChannelState({ ...channelState, refundNonce: 1 })).toEqual(standing.state)
  for (const change of [
    { balance: 10_000 },
    { balance: '-1' },
    { totalClaimed: undefined },
    { withdrawRequestedAt: '0' },
    { withdrawRequestedAt: -1 },
    { withdrawRequestedAt: 1.5 },
    { refundNonce: -1 },
    { refundNonce: null },
  ])
    expect(readChannelState({ ...channelState, ...change })).toBeNull()
})
