import { describe, expect, it } from 'vitest'
import { signDigest } from '../../../../../../../consensus/external/eip712.ts'
import { fault } from '../../../../../../../consensus/primitives/fault.ts'
import type { ChannelPayment } from '../../../../../../../marketplace/till/rails/dollar/channel/channel.ts'
import {
  checkCeiling,
  checkChannel,
  checkDeposit,
  checkVoucherSignature,
  isOwnDeposit,
  isSignedOnChain,
  offeredAmount,
  refundable,
} from '../../../../../../../marketplace/till/rails/dollar/channel/checks.ts'
import { channelIdOf, voucherDigest } from '../../../../../../../marketplace/till/rails/dollar/channel/digests.ts'
import { channelOffer } from '../../../../../../../marketplace/till/rails/dollar/channel/terms.ts'
import { AMOUNT, AUTHORIZER, CHANNEL_TERMS, channelPayment, NOW_MS, STATE } from '../../../../../../support/channel.ts'
import { newPayer } from '../../../../../../support/dollar.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const NOW = BigInt(NOW_MS / 1_000)
const OTHER = newPayer().address
const ZERO = `0x${'0'.repeat(40)}`

/** The other signature that the curve takes for the same digest. */
function mirrored(signature: string): string {
  const s = (ORDER - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
  return `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
}

function signedBy(payment: ChannelPayment, signature: string): ChannelPayment {
  return { ...payment, voucher: { ...payment.voucher, signature } }
}

describe('the offer that a client repeats', () => {
  const offer = channelOffer(CHANNEL_TERMS, AMOUNT)
  const amountOf = (accepted: object) => offeredAmount({ accepted: accepted as never }, CHANNEL_TERMS, [AMOUNT, 900n])
  const { scheme, network } = offer

  it('may be whole, or scheme and network alone, and have more in extra', () => {
    expect(amountOf(offer)).toEqual({ ok: true, value: AMOUNT })
    expect(amountOf({ scheme, network })).toEqual({ ok: true, value: AMOUNT })
    expect(amountOf(channelOffer(CHANNEL_TERMS, 900n))).toEqual({ ok: true, value: 900n })
    const extra = { ...offer.extra, minDeposit: '7', mark: 'x', channelState: {} }
    expect(amountOf({ ...offer, extra })).toEqual({ ok: true, value: AMOUNT })
  })

  it.each([
    [{ amount: '999' }, 'accepted.amount', '1000'],
    [{ amount: 1_000 }, 'accepted.amount', '1000'],
    [{ asset: OTHER }, 'accepted.asset', offer.asset],
    [{ payTo: OTHER }, 'accepted.payTo', offer.payTo],
    [{ maxTimeoutSeconds: 121 }, 'accepted.maxTimeoutSeconds', '120'],
    [{ more: 1 }, 'accepted.more', 'nothing'],
    [
      { extra: { ...offer.extra, receiverAuthorizer: OTHER } },
      'accepted.extra.receiverAuthorizer',
      CHANNEL_TERMS.receiverAuthorizer,
    ],
    [{ extra: { ...offer.extra, withdrawDelay: '900' } }, 'accepted.extra.withdrawDelay', '900'],
    [{ extra: { ...offer.extra, name: 'Coin' } }, 'accepted.extra.name', 'USDC'],
    [{ extra: { ...offer.extra, version: {} } }, 'accepted.extra.version', '2'],
  ])('is compared: %j', (change, field, expected) => {
    const refused = amountOf({ ...offer, ...change })
    expect(refused).toMatchObject({ ok: false, fault: { code: 'pay/no-offer', detail: { field, expected } } })
  })
})

describe('a channel', () => {
  it("is the seller's own under its own id", () => {
    expect(checkChannel(channelPayment('voucher'), CHANNEL_TERMS)).toBeNull()
  })

  it.each([
    ['receiver', OTHER, CHANNEL_TERMS.payTo.toLowerCase()],
    ['receiverAuthorizer', OTHER, AUTHORIZER.address],
    ['token', OTHER, CHANNEL_TERMS.asset.contract.toLowerCase()],
    ['withdrawDelay', 901, 900],
  ] as const)('with another %s is not', (field, got, expected) => {
    const payment = channelPayment('voucher', { config: { [field]: got } })
    expect(checkChannel(payment, CHANNEL_TERMS)).toEqual(fault('channel/mismatch', { field, got, expected }))
  })

  it('under the id of another one is not', () => {
    const payment = channelPayment('voucher')
    const got = `0x${'11'.repeat(32)}`
    const expected = channelIdOf(CHANNEL_TERMS.network.chainId, payment.config)
    const wrong = { ...payment, voucher: { ...payment.voucher, channelId: got } }
    expect(checkChannel(wrong, CHANNEL_TERMS)).toEqual(fault('channel/mismatch', { field: 'channelId', got, expected }))
  })
})

describe('a voucher', () => {
  const refusal = ({ voucher }: ChannelPayment) =>
    fault('channel/signature', { what: 'voucher', channelId: voucher.channelId })

  it('counts if the key of the channel made it, also if that is a session key', () => {
    const [payer, session] = [newPayer(), newPayer()]
    const own = channelPayment('voucher', {}, payer)
    expect([checkVoucherSignature(own, CHANNEL_TERMS), isSignedOnChain(own)]).toEqual([null, false])
    const lent = channelPayment('voucher', { config: { payerAuthorizer: session.address } }, payer)
    expect(checkVoucherSignature(lent, CHANNEL_TERMS)).toEqual(refusal(lent))
    const signature = signDigest(session.key, voucherDigest(CHANNEL_TERMS.network.chainId, lent.voucher))
    expect(checkVoucherSignature(signedBy(lent, signature), CHANNEL_TERMS)).toBeNull()
  })

  it('does not count with the mirrored signature, that of another amount, channel or chain, or with garbage', () => {
    const payer = newPayer()
    const payment = channelPayment('voucher', {}, payer)
    const elsewhere = signDigest(payer.key, voucherDigest(1, payment.voucher))
    const others = [
      channelPayment('voucher', { maxClaimable: AMOUNT + 1n }, payer),
      channelPayment('voucher', { config: { salt: `0x${'01'.repeat(32)}` } }, payer),
    ].map(({ voucher }) => voucher.signature)
    const garbage = [`0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`, `${payment.voucher.signature.slice(0, -2)}00`]
    for (const signature of [mirrored(payment.voucher.signature), elsewhere, ...others, ...garbage])
      expect(checkVoucherSignature(signedBy(payment, signature), CHANNEL_TERMS)).toEqual(refusal(payment))
  })

  it('without a key of the channel is for the chain to judge', () => {
    const payment = channelPayment('voucher', { config: { payerAuthorizer: ZERO } })
    expect(isSignedOnChain(payment)).toBe(true)
    expect(checkVoucherSignature(payment, CHANNEL_TERMS)).toEqual(refusal(payment))
  })
})

describe('a deposit', () => {
  it('is taken from the least amount on, while its authorization holds', () => {
    for (const deposit of [
      {},
      { amount: 5_000n },
      { validAfter: NOW },
      { validBefore: NOW + 6n },
      { validBefore: NOW + 720n },
    ])
      expect(checkDeposit(channelPayment('deposit', { deposit }), CHANNEL_TERMS, NOW_MS)).toBeNull()
  })

  it('below the least amount is refused', () => {
    const payment = channelPayment('deposit', { deposit: { amount: 4_999n } })
    expect(checkDeposit(payment, CHANNEL_TERMS, NOW_MS)).toEqual(
      fault('channel/deposit-low', { amount: '4999', least: '5000' }),
    )
  })

  it.each([{ validAfter: NOW + 1n }, { validBefore: NOW + 5n }, { validBefore: NOW + 721n }])(
    'at another time is refused: %o',
    (deposit) => {
      const payment = channelPayment('deposit', { deposit })
      const { validAfter, validBefore } = payment.deposit
      const times = { validAfter: `${validAfter}`, validBefore: `${validBefore}`, now: `${NOW}`, seconds: 120 }
      expect(checkDeposit(payment, CHANNEL_TERMS, NOW_MS)).toEqual(fault('channel/deposit-time', times))
    },
  )

  it("with the payer's mirrored signature is refused, with any other it may be a contract's", () => {
    const payment = channelPayment('deposit')
    const { config, deposit, voucher } = payment
    const signed = (signature: string) => ({ ...payment, deposit: { ...deposit, signature } })
    const { channelId } = voucher
    expect(checkDeposit(signed(mirrored(deposit.signature)), CHANNEL_TERMS, NOW_MS)).toEqual(
      fault('channel/signature', { what: 'deposit', channelId }),
    )
    const foreign = channelPayment('deposit').deposit.signature
    expect(checkDeposit(signed(foreign), CHANNEL_TERMS, NOW_MS)).toBeNull()
    expect(checkDeposit(signed(mirrored(foreign)), CHANNEL_TERMS, NOW_MS)).toBeNull()
    expect(isOwnDeposit({ config, channelId, deposit }, CHANNEL_TERMS)).toBe(true)
    expect(isOwnDeposit({ config, channelId, deposit: signed(foreign).deposit }, CHANNEL_TERMS)).toBe(false)
    expect(isOwnDeposit({ config, channelId: `0x${'11'.repeat(32)}`, deposit }, CHANNEL_TERMS)).toBe(false)
  })
})

describe('the total of a voucher', () => {
  const basis = { charged: 3_000n, amount: AMOUNT, state: { ...STATE, totalClaimed: 2_000n } }
  const check = (kind: ChannelPayment['kind'], maxClaimable: bigint, change: Partial<typeof basis> = {}) => {
    const payment = channelPayment(kind, { maxClaimable })
    return { fault: checkCeiling(payment, { ...basis, ...change }), channelId: payment.voucher.channelId }
  }

  it('is what was charged and this call, in a refund what was charged', () => {
    expect(check('voucher', 4_000n).fault).toBeNull()
    expect(check('deposit', 4_000n).fault).toBeNull()
    expect(check('refund', 3_000n).fault).toBeNull()
  })

  it.each([
    ['voucher', 3_999n, '4000'],
    ['voucher', 4_001n, '4000'],
    ['deposit', 1_000n, '4000'],
    ['refund', 4_000n, '3000'],
    ['refund', 0n, '3000'],
  ] as const)('must be exact: %s of %d', (kind, total, expected) => {
    const { fault: refused, channelId } = check(kind, total)
    expect(refused).toEqual(fault('channel/ceiling', { channelId, maxClaimable: `${total}`, expected }))
  })

  it('must be in the channel, with the deposit that comes along', () => {
    const state = { ...STATE, balance: 3_999n }
    const { fault: refused, channelId } = check('voucher', 4_000n, { state })
    expect(refused).toEqual(fault('channel/balance', { channelId, maxClaimable: '4000' }))
    expect(check('deposit', 4_000n, { state }).fault).toBeNull()
    const empty = check('voucher', 4_000n, { state: { ...STATE, balance: 0n } })
    expect(empty.fault).toEqual(fault('channel/unknown', { channelId: empty.channelId }))
  })

  it('must be above what is claimed, and of a refund not below it', () => {
    const claimed = (totalClaimed: bigint) => ({ charged: 3_000n, state: { ...STATE, totalClaimed } })
    const { fault: refused, channelId } = check('voucher', 4_000n, claimed(4_000n))
    expect(refused).toEqual(fault('channel/claimed', { channelId, maxClaimable: '4000' }))
    expect(check('refund', 3_000n, claimed(3_000n)).fault).toBeNull()
    expect(check('refund', 3_000n, claimed(3_001n)).fault?.code).toBe('channel/claimed')
  })

  it('pays for nothing once the payer asked to withdraw, but a refund still ends the channel', () => {
    const state = { ...STATE, withdrawRequestedAt: 1_800_000_000 }
    const { fault: refused, channelId } = check('voucher', 4_000n, { state })
    expect(refused).toEqual(fault('channel/closing', { channelId }))
    expect(check('deposit', 4_000n, { state }).fault?.code).toBe('channel/closing')
    expect(check('refund', 3_000n, { state }).fault).toBeNull()
  })
})

describe('a refund', () => {
  const give = (amount: bigint | null, charged: bigint) =>
    refundable({ ...channelPayment('refund', { maxClaimable: charged }), amount }, { charged, state: STATE })

  it('gives back what is asked, at most what is not charged', () => {
    expect(give(null, 3_000n)).toEqual({ ok: true, value: 7_000n })
    expect(give(500n, 3_000n)).toEqual({ ok: true, value: 500n })
    expect(give(7_001n, 3_000n)).toEqual({ ok: true, value: 7_000n })
    expect(give(null, 0n)).toEqual({ ok: true, value: 10_000n })
  })

  it('of a channel that is charged in full is refused', () => {
    for (const charged of [10_000n, 10_001n])
      expect(give(null, charged)).toMatchObject({ ok: false, fault: { code: 'channel/nothing-left' } })
  })
})
