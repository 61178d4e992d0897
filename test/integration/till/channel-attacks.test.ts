import { afterEach, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../consensus/primitives/ids.ts'
import { fail } from '../../../consensus/primitives/result.ts'
import { NO_ADDRESS } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import { FacilitatorChain } from '../../../marketplace/till/rails/dollar/channel/facilitator-chain.ts'
import { CHANNEL_MOVES_OF_ALL } from '../../../marketplace/till/rails/dollar/channel/funding.ts'
import { channelOffer } from '../../../marketplace/till/rails/dollar/channel/terms.ts'
import type { FacilitatorRequest } from '../../../marketplace/till/rails/dollar/facilitator.ts'
import { RANKS } from '../../../marketplace/till/rails/dollar/facilitators.ts'
import { UNCHARGED } from '../../../marketplace/till/rails/tab/settings.ts'
import { CHANNEL_TERMS, channelJson, readChannel } from '../../support/channel.ts'
import {
  ChannelSeller,
  type ChannelSellerParts,
  closeChannelSellers,
  ModelPayer,
} from '../../support/channel-seller.ts'
import { newPayer, PRICE } from '../../support/dollar.ts'
import { closeMarkets, ONCE } from '../../support/market.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'

afterEach(async () => {
  await closeChannelSellers()
  await closeMarkets()
})

const refused = (code: string) => ({ ok: false, fault: { code } })
const count = (asked: readonly string[], what: string) => asked.filter((one) => one.startsWith(what)).length

/** A seller with a payer that owes two calls. */
async function owing(parts: ChannelSellerParts = { unclaimedMax: 2n * PRICE }) {
  const seller = await ChannelSeller.open(parts)
  const payer = new ModelPayer()
  await seller.served(payer, 'deposit')
  await seller.served(payer, 'voucher', 'ok:2')
  return { seller, payer }
}

describe('a claim', () => {
  it('is made although a call that failed left a voucher above what the channel holds by now', async () => {
    const dear = TEST_SERVICES.map((one) => (one.serviceId === ONCE ? { ...one, priceUsdMicros: 8_000n } : one))
    const seller = await ChannelSeller.open({ services: dear })
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    const json = channelJson(payer.key, 'voucher', { maxClaimable: payer.charged + 8_000n })
    const payment = readChannel({ ...json, accepted: channelOffer(CHANNEL_TERMS, 8_000n) }, 'voucher')
    const failed = await seller.rail.till.settle({ serviceId: ONCE, request: 'fail', payment })
    expect(failed).toMatchObject({ ok: true, value: { claim: { state: 'failed' } } })
    const refund = { ...payer.pay('refund'), amount: 1_000n }
    expect(await seller.rail.refund(refund)).toMatchObject({ ok: true })
    for (const request of ['ok:2', 'ok:3']) await seller.served(payer, 'voucher', request)
    await seller.market.pass(6 * 3_600_000)
    await seller.claims()
    expect(seller.channels.of(payer.channelId)).toMatchObject({ balance: 9_000n, totalClaimed: 3n * PRICE })
  })

  it('does not make public a voucher that pays for a call', async () => {
    const { seller, payer } = await owing({})
    expect(await seller.call(payer.pay('voucher'), 'fail')).toMatchObject({ ok: true })
    await seller.market.pass(6 * 3_600_000)
    await seller.claims()
    expect(seller.channels.published.map(({ maxClaimable }) => maxClaimable)).toEqual([payer.charged])
  })

  it('that was refused is tried again before the payer can withdraw', async () => {
    const { seller, payer } = await owing()
    seller.channels.spoilt.add(payer.channelId)
    await seller.claims()
    seller.channels.spoilt.clear()
    seller.channels.set(payer.channelId, { withdrawRequestedAt: Math.floor(seller.market.time.now() / 1_000) })
    await seller.market.pass(CHANNEL_TERMS.withdrawDelay * 500)
    await seller.claims()
    expect(seller.channels.paidOut).toEqual([2n * PRICE])
  })

  it('is paid out after a restart, too', async () => {
    const { seller } = await owing()
    const { settle } = seller.channels
    seller.channels.settle = async () => ({ is: 'undone', cause: fault('channel/chain-away', { detail: 'no gas' }) })
    for (let looks = 0; looks < 4; looks++) {
      await seller.claims()
      await seller.market.pass(61_000)
    }
    seller.channels.settle = settle
    const next = await seller.restart()
    await next.claims()
    expect(next.channels.paidOut).toEqual([2n * PRICE])
  })

  it('that a refund did not carry is made later', async () => {
    const { seller, payer } = await owing()
    const { refund } = seller.channels
    seller.channels.refund = (order) => refund.call(seller.channels, { ...order, claims: [] })
    expect(await seller.rail.refund(payer.pay('refund'))).toMatchObject({ ok: true })
    await seller.claims()
    expect(seller.channels.of(payer.channelId).totalClaimed).toBe(2n * PRICE)
  })
})

describe('a look', () => {
  it('that was slow does not bring back what was refunded meanwhile', async () => {
    const { seller, payer } = await owing({})
    await seller.market.pass(301_000)
    const { state } = seller.channels
    let release = (): void => {}
    seller.channels.state = async (payment) => {
      seller.channels.state = state
      const known = await state.call(seller.channels, payment)
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return known
    }
    const late = seller.call(payer.pay('voucher'), 'ok:3')
    await seller.market.quiet()
    expect(await seller.rail.refund(payer.pay('refund'))).toMatchObject({ ok: true })
    release()
    expect(await late).toMatchObject(refused('channel/balance'))
  })

  it('for a stranger is asked for in its name, and after those of payers', async () => {
    const seller = await ChannelSeller.open()
    await seller.call(new ModelPayer().pay('voucher'))
    expect(seller.channels.askers).toMatchObject([{ client: '203.0.113.1', rank: RANKS.newcomer }])
  })
})

describe('a refund', () => {
  it('without a call, whose end is not told, does not close the channel for ever', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    seller.channels.set(payer.channelId, { balance: 10_000n })
    seller.channels.mishap = 'untold'
    const { refund } = seller.channels
    seller.channels.refund = async (order) => {
      const done = await refund.call(seller.channels, order)
      seller.channels.isAway = true
      return done
    }
    let isOver = false
    const refunding = seller.rail.refund(payer.pay('refund')).finally(() => {
      isOver = true
    })
    while (!isOver) {
      await seller.market.quiet()
      await seller.market.pass(2_000)
    }
    expect(await refunding).toMatchObject(refused('channel/unverified'))
    seller.channels.isAway = false
    await seller.market.pass(601_000)
    await seller.claims()
    seller.channels.set(payer.channelId, { balance: 10_000n })
    await seller.served(payer)
  })
})

describe('a seller that was killed', () => {
  it('during a refund takes no call while that may still be mined', async () => {
    const { seller, payer } = await owing({})
    await seller.store.mark(payer.channelId as TxId, { refundAskedAtMs: seller.market.time.now() })
    const next = await seller.restart()
    expect(await next.call(payer.pay('voucher'), 'ok:3')).toMatchObject(refused('channel/busy'))
    await next.market.pass(601_000)
    await next.claims()
    await next.served(payer, 'voucher', 'ok:3')
  })
})

describe('a store that was restored from an old copy', () => {
  it('goes on from the chain, and shows no voucher below that', async () => {
    const { seller, payer } = await owing({})
    seller.channels.set(payer.channelId, { totalClaimed: 3n * PRICE })
    await seller.market.pass(301_000)
    expect(await seller.call(payer.pay('voucher'), 'ok:3')).toMatchObject(refused('channel/ceiling'))
    const view = await seller.rail.viewOf(payer.pay('voucher'))
    expect(view).toMatchObject({ ok: true, value: { standing: { charged: 3n * PRICE }, last: null } })
    payer.charged = 3n * PRICE
    await seller.served(payer, 'voucher', 'ok:3')
  })
})

describe('an operator', () => {
  it('that changes its terms can still ask facilitators about channels of the old ones', async () => {
    const offers: unknown[] = []
    const facilitators = {
      verify: async ({ paymentRequirements }: FacilitatorRequest) => {
        offers.push(paymentRequirements)
        return { verdict: { is: 'unreachable', detail: 'away' }, by: null } as const
      },
    }
    const chain = new FacilitatorChain({ facilitators: facilitators as never, terms: CHANNEL_TERMS, sign: () => '0x' })
    const receiver = newPayer().address
    await chain.state(new ModelPayer().pay('voucher', { config: { withdrawDelay: 1_800, receiver } }))
    await chain.state(new ModelPayer().pay('voucher'))
    const { payTo } = CHANNEL_TERMS
    expect(offers).toMatchObject([
      { payTo: receiver, extra: { withdrawDelay: 1_800 } },
      { payTo, extra: { withdrawDelay: 900 } },
    ])
  })
})

describe('clients without end', () => {
  it('that deposit or refund for nothing leave those that pay their places', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    const newcomer = (i: number) => seller.call(new ModelPayer().pay('deposit'), 'ok', `203.0.113.${i}`)
    const codes: unknown[] = []
    for (let i = 2; i < 70; i++) {
      const answer = await newcomer(i)
      codes.push(answer.ok ? 'ok' : answer.fault.code)
    }
    expect(codes.filter((code) => code === 'ok')).toHaveLength(CHANNEL_MOVES_OF_ALL.most - 1)
    expect(codes.at(-1)).toBe('channel/chain-away')
    expect(await seller.rail.refund(payer.pay('refund'))).toMatchObject({ ok: true })
    await seller.served(payer, 'deposit', 'ok:2')
    await seller.market.pass(60_000)
    expect(await newcomer(70)).toMatchObject({ ok: true })
  })

  it('have only so many deposits under way at once', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    const { deposit } = seller.channels
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    seller.channels.deposit = async (payment) => {
      await held
      return deposit.call(seller.channels, payment)
    }
    const calls = Array.from({ length: CHANNEL_MOVES_OF_ALL.atOnce + 2 }, (_, i) =>
      seller.call(new ModelPayer().pay('deposit'), 'ok', `203.0.113.${i + 2}`),
    )
    await seller.market.quiet()
    const paying = seller.call(payer.pay('deposit'), 'ok:2')
    await seller.market.quiet()
    release()
    expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(CHANNEL_MOVES_OF_ALL.atOnce)
    expect(await paying).toMatchObject({ ok: true })
  })
})

describe('a payer', () => {
  it('that can take back its signature owes less, and is claimed sooner', async () => {
    const dear = 100_000n
    const services = TEST_SERVICES.map((one) => ({ ...one, priceUsdMicros: dear }))
    const seller = await ChannelSeller.open({ services, unclaimedMax: 50n * dear })
    const { key } = new ModelPayer()
    const paid = (calls: bigint) => {
      const json = channelJson(key, 'voucher', { config: { payerAuthorizer: NO_ADDRESS }, maxClaimable: calls * dear })
      return readChannel({ ...json, accepted: channelOffer(CHANNEL_TERMS, dear) }, 'voucher')
    }
    const { channelId } = paid(1n).voucher
    seller.channels.set(channelId, { balance: 10n * dear })
    expect(await seller.call(paid(1n), 'ok:1')).toMatchObject({ ok: true })
    expect(await seller.call(paid(2n), 'ok:2')).toMatchObject({ ok: true })
    expect(await seller.call(paid(3n), 'ok:3')).toMatchObject(refused('service/unavailable'))
    await seller.claims()
    expect(seller.channels.of(channelId).totalClaimed).toBe(2n * dear)
    expect(await seller.call(paid(3n), 'ok:3')).toMatchObject({ ok: true })
  })

  it('gets only so many calls that fail, as each leaves rows', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    const most = UNCHARGED.atFirst + UNCHARGED.perCharged
    for (let i = 0; i <= most; i++) await seller.call(payer.pay('voucher'), `fail:${i}`)
    expect(await seller.call(payer.pay('voucher'), 'ok:2')).toMatchObject(refused('tabcall/too-many-failed'))
    await seller.market.pass(10 * 60_000)
    await seller.served(payer, 'voucher', 'ok:2')
  })

  it('that always signs another total is soon not looked at', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    for (let i = 0; i < 40; i++) await seller.call(payer.pay('deposit', { maxClaimable: PRICE + 1n }))
    expect(count(seller.channels.asked, 'verify')).toBe(30)
  })

  it('whose channel the chain cannot judge is soon not looked at', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    const contract = { config: { payerAuthorizer: NO_ADDRESS } }
    const { channelId } = payer.pay('voucher', contract).voucher
    seller.channels.verify = async () => {
      seller.channels.asked.push('verify')
      return fail(fault('channel/unverified', { channelId }))
    }
    for (let i = 0; i < 40; i++) await seller.call(payer.pay('voucher', contract))
    expect(count(seller.channels.asked, 'verify')).toBe(30)
  })

  it('that owes less than a claim costs is not watched for ever', async () => {
    const seller = await ChannelSeller.open()
    const payer = new ModelPayer()
    await seller.served(payer, 'deposit')
    for (let looks = 0; looks < 5; looks++) {
      await seller.market.pass(600_000)
      await seller.claims()
    }
    expect(count(seller.channels.asked, 'state')).toBe(0)
  })

  it('whose channel is empty is not asked about at each look', async () => {
    const { seller, payer } = await owing({})
    seller.channels.set(payer.channelId, { balance: 1n })
    await seller.market.pass(600_000)
    for (let looks = 0; looks < 5; looks++) {
      await seller.claims()
      await seller.market.pass(10_000)
    }
    expect(count(seller.channels.asked, 'state')).toBe(1)
  })
})
