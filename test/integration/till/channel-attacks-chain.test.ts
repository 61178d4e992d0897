import { secp256k1 } from '@noble/curves/secp256k1.js'
import { afterEach, describe, expect, it } from 'vitest'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import type { RefundOrder } from '../../../marketplace/till/rails/dollar/channel/chain.ts'
import type { ChannelVoucher, ClaimRow } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import { voucherDigest } from '../../../marketplace/till/rails/dollar/channel/digests.ts'
import { channelOffer } from '../../../marketplace/till/rails/dollar/channel/terms.ts'
import { CHANNEL_TERMS, readChannel } from '../../support/channel.ts'
import { ChannelSeller, closeChannelSellers, ModelPayer, passing } from '../../support/channel-seller.ts'
import { PRICE } from '../../support/dollar.ts'
import { closeMarkets } from '../../support/market.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'

afterEach(async () => {
  await closeChannelSellers()
  await closeMarkets()
})

const refused = (code: string) => ({ ok: false, fault: { code } })
const AGED_MS = 6 * 3_600_000

/** What a stranger pays with that read a claim: it has the channel, but not its key. */
function copied({ config }: ClaimRow, { channelId, maxClaimable, signature }: ChannelVoucher) {
  const voucher = { channelId, maxClaimableAmount: maxClaimable.toString(), signature }
  const payload = { type: 'voucher', channelConfig: config, voucher }
  return readChannel({ x402Version: 2, accepted: channelOffer(CHANNEL_TERMS, PRICE), payload }, 'voucher')
}

describe('a stranger with a voucher that a claim made public', () => {
  it('is not told the voucher of a call that failed, which would pay for its own', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    await seller.served(payer, 'voucher', 'ok:2')
    await seller.market.pass(AGED_MS)
    await seller.claims()
    const [row] = seller.channels.published as [ClaimRow]
    const { channelId } = payer
    const unpaid = payer.pay('voucher')
    expect(await seller.call(unpaid, 'fail')).toMatchObject({ ok: true })
    const probe = copied(row, { channelId, maxClaimable: row.maxClaimable, signature: row.signature })
    expect(await seller.call(probe, 'ok:theirs', '198.51.100.7')).toMatchObject(refused('channel/ceiling'))
    expect(await seller.rail.viewOf(probe)).toMatchObject({ ok: true, value: { last: null } })
    await seller.served(payer, 'voucher', 'ok:3')
    expect(await seller.call(payer.pay('voucher'), 'fail:2')).toMatchObject({ ok: true })
    const view = await seller.rail.viewOf(probe)
    expect(view).toMatchObject({ ok: true, value: { last: { maxClaimable: payer.charged } } })
  })
})

describe('a refund', () => {
  const underWay = { ok: true, value: { amount: 10_000n - PRICE, charged: PRICE } }

  it('that is said to be undone, though it is mined, is seen to be done', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    seller.channels.mishap = 'denied'
    expect(await seller.rail.refund(payer.pay('refund'))).toMatchObject(underWay)
    expect(await seller.call(payer.pay('voucher'), 'ok:2')).toMatchObject(refused('channel/balance'))
  })

  it('that its payer sent alone, so that the claim with it failed, is seen to be done, and the claim is made later', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    await seller.served(payer, 'voucher', 'ok:2')
    const { refund } = seller.channels
    seller.channels.refund = async (order) => {
      await refund.call(seller.channels, { ...order, claims: [] })
      return refund.call(seller.channels, order)
    }
    expect(await seller.rail.refund(payer.pay('refund'))).toMatchObject({ ok: true })
    expect(await seller.call(payer.pay('voucher'), 'ok:3')).toMatchObject(refused('channel/balance'))
    await seller.market.pass(AGED_MS)
    await seller.claims()
    expect(seller.channels.of(payer.channelId).totalClaimed).toBe(2n * PRICE)
  })

  it('that was undone while the chain could not be asked is looked for before the next call', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    const { state } = seller.channels
    seller.channels.mishap = 'denied'
    let looks = 0
    seller.channels.state = (payment) => {
      looks += 1
      seller.channels.isAway = looks === 2
      return state.call(seller.channels, payment)
    }
    expect(await seller.rail.refund(payer.pay('refund'))).toMatchObject(refused('stable/refused'))
    expect(await seller.call(payer.pay('voucher'), 'ok:2')).toMatchObject(refused('channel/balance'))
  })

  it('that was not seen to end can be carried out late: calls are not paid with what it takes', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    const { refund } = seller.channels
    const orders: RefundOrder[] = []
    seller.channels.refund = async (order) => {
      orders.push(order)
      return { is: 'unknown', detail: 'its transaction failed', transaction: null }
    }
    const half = { ...payer.pay('refund'), amount: 5_000n }
    expect(await passing(seller, seller.rail.refund(half))).toMatchObject(refused('channel/unverified'))
    await seller.market.pass(601_000)
    await seller.claims()
    await seller.served(payer, 'voucher', 'ok:2')
    expect(await seller.call(payer.pay('voucher'), 'ok:3')).toMatchObject(refused('channel/balance'))
    await refund.call(seller.channels, { ...(orders[0] as RefundOrder), claims: [] })
    await seller.market.pass(AGED_MS)
    await seller.claims()
    expect(seller.channels.of(payer.channelId)).toMatchObject({ balance: 5_000n, totalClaimed: 2n * PRICE })
    // The nonce is used up, so all that is there counts again.
    seller.channels.set(payer.channelId, { balance: 8_000n })
    await seller.market.pass(301_000)
    await seller.served(payer, 'voucher', 'ok:3')
  })
})

describe('a claim', () => {
  it('is made with an older voucher where the newest is above what a refund left', async () => {
    const services = TEST_SERVICES.map((one) => ({ ...one, usedOnTab: () => ({ times: 1n, of: 4n }) }))
    const seller = await ChannelSeller.open({ services })
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    for (let i = 2; i <= 7; i++) await seller.served(payer, 'voucher', `ok:${i}`)
    const { refund } = seller.channels
    seller.channels.refund = (order) => refund.call(seller.channels, { ...order, claims: [] })
    expect(await seller.rail.refund(payer.pay('refund'))).toMatchObject({ ok: true })
    for (let looks = 0; looks < 6; looks++) {
      await seller.market.pass(AGED_MS)
      await seller.claims()
    }
    const { charged } = payer
    expect(seller.channels.of(payer.channelId)).toMatchObject({ balance: charged, totalClaimed: charged })
  })

  it('whose end is never told because of one channel is made for the others', async () => {
    const seller = await ChannelSeller.open({ unclaimedMax: 2n * PRICE })
    const payers = [new ModelPayer(), new ModelPayer(), new ModelPayer()] as const
    for (const payer of payers) {
      await seller.served(payer, 'deposit')
      await seller.served(payer, 'voucher', 'ok:2')
    }
    const [, { key }] = payers
    const { claim } = seller.channels
    seller.channels.claim = async (rows) =>
      rows.some(({ config }) => config.payer === key.address)
        ? { is: 'unknown', detail: 'it answered 500', transaction: null }
        : claim.call(seller.channels, rows)
    await seller.claims()
    await seller.claims()
    const claimed = payers.map(({ channelId }) => seller.channels.of(channelId).totalClaimed)
    expect(claimed).toEqual([2n * PRICE, 0n, 2n * PRICE])
  })
})

describe('a payer', () => {
  it('whose key signs differently each time gets the answer that it missed', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    const payment = payer.pay('voucher')
    const { signature } = payment.voucher
    await seller.served(payer, 'voucher', 'ok:2')
    const again = { ...payment, voucher: { ...payment.voucher, signature: signedAnew(payer, payment.voucher) } }
    expect(again.voucher.signature).not.toBe(signature)
    expect(await seller.call(again, 'ok:2')).toMatchObject({ ok: true, value: { replayed: true } })
  })
})

/** Another signature of the same key, as of a key in a safe. */
function signedAnew({ key: { key } }: ModelPayer, voucher: ChannelVoucher): string {
  const digest = voucherDigest(CHANNEL_TERMS.network.chainId, voucher)
  const signed = secp256k1.sign(digest, key, { prehash: false, lowS: true, format: 'recovered', extraEntropy: true })
  return `0x${toHex(signed.subarray(1))}${((signed[0] as number) + 27).toString(16)}`
}
