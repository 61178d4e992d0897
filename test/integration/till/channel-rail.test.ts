import { afterEach, describe, expect, it } from 'vitest'
import type { TxId } from '../../../consensus/primitives/ids.ts'
import type { ChannelPaymentOf } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import { ChannelSeller, closeChannelSellers, ModelPayer, passing } from '../../support/channel-seller.ts'
import { PRICE } from '../../support/dollar.ts'
import { closeMarkets } from '../../support/market.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'

afterEach(async () => {
  await closeChannelSellers()
  await closeMarkets()
})

/** Ten calls of the test services. */
const DEPOSIT = 10_000n
const refused = (code: string) => ({ ok: false, fault: { code } })

describe('a call', () => {
  it('costs what the service charged, and the next voucher follows from that', async () => {
    const services = TEST_SERVICES.map((one) => ({ ...one, usedOnTab: () => ({ times: 1n, of: 4n }) }))
    const seller = await ChannelSeller.open({ services })
    const payer = new ModelPayer()
    const first = await seller.served(payer, 'deposit')
    expect(first.claim).toMatchObject({ voucher: { beside: { deposit: { amount: `${DEPOSIT}` } } } })
    await seller.served(payer, 'voucher', 'ok:2')
    expect([payer.charged, seller.store.peek(payer.channelId as never)?.charged]).toEqual([1_000n, 1_000n])
    expect(seller.channels.asked).toEqual(['verify', 'deposit'])
  })

  it('keeps others of its channel out while it is under way', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    seller.market.workbench.hold()
    const held = seller.call(payer.pay('voucher'), 'ok:held')
    await seller.market.quiet()
    expect(await seller.call(payer.pay('voucher'), 'ok:other')).toMatchObject(refused('channel/busy'))
    expect(await seller.rail.refund(payer.pay('refund'))).toMatchObject(refused('channel/busy'))
    const same = seller.call(payer.pay('voucher'), 'ok:held')
    seller.market.workbench.release()
    expect(await held).toMatchObject({ ok: true, value: { replayed: false } })
    expect(await same).toMatchObject({ ok: true, value: { replayed: true } })
    expect(await seller.call(payer.pay('voucher'), 'ok:other')).toMatchObject(refused('channel/ceiling'))
    expect(seller.market.workbench.begun).toHaveLength(2)
  })

  it('is not served again for a voucher that was refused while its own work failed', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    const failed = await seller.call(payer.pay('deposit'), 'fail')
    expect(failed).toMatchObject({
      ok: true,
      value: { claim: { state: 'failed', receipt: { receipt: { charged: 0n } } } },
    })
    await seller.served(payer, 'voucher', 'ok')
    expect(payer.charged).toBe(PRICE)
    expect(seller.market.workbench.begun).toHaveLength(2)
  })

  it('goes on from what the chain shows where the store was lost', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    seller.channels.set(payer.channelId, { balance: DEPOSIT, totalClaimed: 3_000n })
    payer.charged = 3_000n
    await seller.served(payer)
    expect(payer.charged).toBe(3_000n + PRICE)
  })

  it('is refused while more is unclaimed than the seller bears', async () => {
    const seller = await ChannelSeller.open({ unclaimedMax: 2n * PRICE })
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    await seller.served(payer, 'voucher', 'ok:2')
    seller.channels.isAway = true
    expect(await seller.call(payer.pay('voucher'), 'ok:3')).toMatchObject(refused('service/unavailable'))
    seller.channels.isAway = false
    await seller.claims()
    await seller.market.pass(400_000)
    await seller.served(payer, 'voucher', 'ok:3')
  })

  it('of a payer that asked to withdraw is refused, and what it owes is claimed at once', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    await seller.served(payer, 'voucher', 'ok:2')
    await seller.claims()
    expect(seller.channels.of(payer.channelId).totalClaimed).toBe(0n)
    seller.channels.set(payer.channelId, { withdrawRequestedAt: Math.floor(seller.market.time.now() / 1_000) })
    await seller.market.pass(400_000)
    expect(await seller.call(payer.pay('voucher'), 'ok:3')).toMatchObject(refused('channel/closing'))
    await seller.claims()
    expect([seller.channels.of(payer.channelId).totalClaimed, seller.channels.paidOut]).toEqual([
      2n * PRICE,
      [2n * PRICE],
    ])
  })
})

describe('a deposit', () => {
  it('whose end is not told pays once the chain shows it', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    seller.channels.mishap = 'untold'
    await seller.served(payer, 'deposit')
    expect(seller.channels.asked).toEqual(['verify', 'deposit', 'state'])
  })

  it('that never arrives pays for nothing, and leaves nothing', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    seller.channels.mishap = 'lost'
    expect(await passing(seller, seller.call(payer.pay('deposit')))).toMatchObject(refused('channel/unverified'))
    expect(seller.market.workbench.begun).toEqual([])
    expect(await seller.store.tab(payer.channelId as never)).toBeUndefined()
  })

  it('that was moved by an earlier attempt is not moved again: its voucher pays', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    const payment = payer.pay('deposit')
    await seller.channels.deposit(payment as ChannelPaymentOf<'deposit'>)
    expect(await seller.call(payment)).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
    expect(seller.channels.of(payer.channelId).balance).toBe(DEPOSIT)
  })

  it('that is said to be undone though the money came pays', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    seller.channels.mishap = 'denied'
    await seller.served(payer, 'deposit')
  })

  it('is not moved for a call that would not be served', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    expect(await seller.call(payer.pay('deposit'), 'refuse')).toMatchObject(refused('service/invalid-request'))
    const high = payer.pay('deposit', { maxClaimable: 2n * PRICE })
    expect(await seller.call(high)).toMatchObject(refused('channel/ceiling'))
    const small = payer.pay('deposit', { deposit: { amount: 4_999n } })
    expect(await seller.call(small)).toMatchObject(refused('channel/deposit-low'))
    expect(seller.channels.asked.filter((what) => what === 'deposit')).toEqual([])
  })
})

describe('a refund', () => {
  it('claims what was charged, and the channel can be used on', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    const refund = await seller.rail.refund(payer.pay('refund'))
    expect(refund).toMatchObject({ ok: true, value: { amount: DEPOSIT - PRICE, charged: PRICE } })
    expect(seller.channels.of(payer.channelId)).toMatchObject({ balance: PRICE, totalClaimed: PRICE })
    expect(await seller.rail.refund(payer.pay('refund'))).toMatchObject(refused('channel/nothing-left'))
    expect(await seller.call(payer.pay('voucher'), 'ok:2')).toMatchObject(refused('channel/balance'))
    await seller.served(payer, 'deposit', 'ok:2')
    expect(payer.charged).toBe(2n * PRICE)
  })

  it('whose end is not known keeps calls out until the chain tells', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    seller.channels.mishap = 'lost'
    expect(await passing(seller, seller.rail.refund(payer.pay('refund')))).toMatchObject(refused('channel/unverified'))
    expect(await seller.call(payer.pay('voucher'), 'ok:2')).toMatchObject(refused('channel/busy'))
    const next = await seller.restart()
    await next.market.pass(601_000)
    await next.claims()
    await next.served(payer, 'voucher', 'ok:2')
  })

  it('is given only for a signature of the channel, and for the exact total', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    const foreign = payer.pay('refund')
    const { voucher } = new ModelPayer().pay('refund')
    const forged = { ...foreign, voucher: { ...foreign.voucher, signature: voucher.signature } }
    expect(await seller.rail.refund(forged)).toMatchObject(refused('channel/signature'))
    const early = payer.pay('refund', { maxClaimable: 0n })
    expect(await seller.rail.refund(early)).toMatchObject(refused('channel/ceiling'))
    expect(seller.channels.asked).not.toContain('refund')
  })
})

describe('strangers', () => {
  it('that sign for channels without money are soon not heard', async () => {
    const seller = await ChannelSeller.open()
    const codes = new Set<string>()
    for (let i = 0; i < 40; i++) {
      const answer = await seller.call(new ModelPayer().pay('voucher'))
      if (!answer.ok) codes.add(answer.fault.code)
    }
    expect([...codes]).toEqual(['channel/unknown', 'tabcall/failing'])
    expect(seller.channels.asked).toHaveLength(30)
    // Others still are.
    const payer = new ModelPayer()
    const answer = await seller.call(payer.pay('deposit'), 'ok', '198.51.100.7')
    expect(answer).toMatchObject({ ok: true })
  })

  it('cannot have many deposits moved', async () => {
    const seller = await ChannelSeller.open()
    let moved = 0
    for (let i = 0; i < 35; i++) if ((await seller.call(new ModelPayer().pay('deposit'))).ok) moved += 1
    expect(moved).toBe(30)
  })
})

describe('claims', () => {
  it('leave out the channel that spoils them, and pay out the others', async () => {
    const seller = await ChannelSeller.open({ unclaimedMax: 2n * PRICE })
    const payers = [new ModelPayer(), new ModelPayer(), new ModelPayer()]
    for (const payer of payers) {
      await seller.served(payer, 'deposit')
      await seller.served(payer, 'voucher', 'ok:2')
    }
    const [first, second, third] = payers as [ModelPayer, ModelPayer, ModelPayer]
    seller.channels.spoilt.add(second.channelId)
    await seller.claims()
    const claimed = [first, second, third].map(({ channelId }) => seller.channels.of(channelId).totalClaimed)
    expect(claimed).toEqual([2n * PRICE, 0n, 2n * PRICE])
    expect(seller.channels.paidOut).toEqual([4n * PRICE])
    const before = seller.channels.asked.filter((what) => what.startsWith('claim')).length
    await seller.claims()
    expect(seller.channels.asked.filter((what) => what.startsWith('claim'))).toHaveLength(before)
    seller.channels.spoilt.clear()
    await seller.market.pass(31 * 60_000)
    await seller.claims()
    expect(seller.channels.paidOut).toEqual([4n * PRICE, 2n * PRICE])
  })

  it('are made by age, and once: a restart does not make them again', async () => {
    const seller = await ChannelSeller.open({ unclaimedMax: 1_000n * PRICE })
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    await seller.served(payer, 'voucher', 'ok:2')
    await seller.claims()
    expect(seller.channels.paidOut).toEqual([])
    await seller.market.pass(6 * 3_600_000)
    seller.channels.mishap = 'untold'
    await seller.claims()
    const next = await seller.restart()
    await next.claims()
    await next.market.pass(61_000)
    await next.claims()
    expect(next.channels.paidOut).toEqual([2n * PRICE])
    expect(next.channels.asked.filter((what) => what.startsWith('claim'))).toEqual(['claim 1'])
    expect(await next.store.unclaimed()).toEqual([])
  })

  it('that are final let go of the calls: only the total of a channel is kept', async () => {
    const seller = await ChannelSeller.open({ unclaimedMax: 2n * PRICE })
    const payer = new ModelPayer()
    const channelId = payer.channelId as TxId
    await seller.served(payer, 'deposit')
    await seller.call(payer.pay('voucher'), 'fail')
    await seller.served(payer, 'voucher', 'ok:2')
    const later = seller.market.time.now() + 1
    await seller.store.prune(later, 0)
    expect(await seller.store.receiptsFrom(channelId, 1, 10)).toHaveLength(3)
    for (const ms of [0, 31_000, 61_000]) {
      await seller.market.pass(ms)
      await seller.claims()
    }
    expect(await seller.store.unclaimed()).toEqual([])
    await seller.store.prune(later, 1_000_000)
    expect(await seller.store.receiptsFrom(channelId, 1, 10)).toEqual([])
    expect(await seller.store.call(channelId, 3)).toBeUndefined()
    expect(await seller.store.tab(channelId)).toMatchObject({ charged: 2n * PRICE, receipts: 3 })
    await seller.served(payer, 'voucher', 'ok:3')
  })
})
