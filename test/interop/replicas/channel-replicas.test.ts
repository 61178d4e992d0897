import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import { ChannelSeller, closeChannelSellers, ModelChannels, ModelPayer } from '../../support/channel-seller.ts'
import { PRICE } from '../../support/dollar.ts'
import { closeMarkets, TestMarket } from '../../support/market.ts'
import { PostgresServer } from './postgres.ts'
import { StoppableTimers } from './stoppable-timers.ts'

/** Two replicas take calls of the same channels over one PostgreSQL. */
const LEASE_MS = 30_000
const DEPOSIT = 10_000n
const refused = (code: string) => ({ ok: false, fault: { code } })

let server: PostgresServer
let a: ChannelSeller
let b: ChannelSeller
let places = 0
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())
beforeEach(async () => {
  const place = postgresPlace(server.url(`channels_${places++}`))
  if (!place.ok) throw new Error(place.fault.code)
  const market = await TestMarket.open()
  const channels = new ModelChannels()
  const replica = async (home: string, of: TestMarket): Promise<ChannelSeller> => {
    const timers = new StoppableTimers()
    const shared = { place: place.value, network: 'test', home, leaseMs: LEASE_MS, timers }
    const store = (await PostgresClaims.open(shared)).tabs()
    return ChannelSeller.over({ market: of, channels, store })
  }
  a = await replica('a', market)
  b = await replica('b', await market.replica())
})
afterEach(async () => {
  await closeChannelSellers()
  await closeMarkets()
  expect(server.log).not.toContain('deadlock')
})

it('serve one channel in turn, and charge it once for each call', async () => {
  const payer = new ModelPayer()
  await a.served(payer, 'deposit', 'ok:0')
  for (let i = 1; i < 5; i++) await (i % 2 === 0 ? a : b).served(payer, 'voucher', `ok:${i}`)
  expect((await a.store.tab(payer.channelId as never))?.charged).toBe(5n * PRICE)
  const last = await a.call({ ...payer.pay('voucher', { maxClaimable: 5n * PRICE }) }, 'ok:4')
  expect(last).toMatchObject({ ok: true, value: { replayed: true } })
})

it('work on one call of a channel at a time between them', async () => {
  const payer = new ModelPayer()
  await a.served(payer, 'deposit')
  const answers = await Promise.all([a, b, a, b].map((seller, i) => seller.call(payer.pay('voucher'), `ok:${i}`)))
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
  for (const answer of answers) if (!answer.ok) expect(['channel/busy', 'channel/ceiling']).toContain(answer.fault.code)
  expect((await b.store.tab(payer.channelId as never))?.charged).toBe(2n * PRICE)
})

it('know of a refund that the other one gave, and refuse one while the other works', async () => {
  const payer = new ModelPayer()
  await a.served(payer, 'deposit')
  await b.served(payer, 'voucher', 'ok:1')
  b.market.workbench.hold()
  const held = b.call(payer.pay('voucher'), 'ok:2')
  await expect.poll(() => b.market.workbench.begun.length).toBe(2)
  expect(await a.rail.refund(payer.pay('refund'))).toMatchObject(refused('channel/busy'))
  b.market.workbench.release()
  expect(await held).toMatchObject({ ok: true })
  payer.charged += PRICE
  const given = await a.rail.refund(payer.pay('refund'))
  expect(given).toMatchObject({ ok: true, value: { amount: DEPOSIT - 3n * PRICE } })
  // Replica b saw the channel while it was full.
  expect(await b.call(payer.pay('voucher'), 'ok:3')).toMatchObject(refused('channel/balance'))
  expect(b.market.workbench.begun).toHaveLength(2)
})

it('leave a channel closed while the other one still sends its refund', async () => {
  const payer = new ModelPayer()
  await a.served(payer, 'deposit')
  const { refund } = a.channels
  let send = (): void => {}
  const sending = new Promise<void>((resolve) => {
    send = resolve
  })
  let isAsked = false
  a.channels.refund = async (order) => {
    isAsked = true
    await sending
    return refund.call(a.channels, order)
  }
  const given = a.rail.refund(payer.pay('refund'))
  await expect.poll(() => isAsked).toBe(true)
  const markedAt = async () => Number((await a.store.tab(payer.channelId as never))?.refundAskedAtMs)
  // It waits behind other transactions of its key.
  for (let minutes = 1; minutes <= 11; minutes++) {
    const before = await markedAt()
    for (const { market } of [a, b]) await market.pass(60_000)
    await expect.poll(markedAt).toBeGreaterThan(before)
  }
  await b.claims()
  expect(await b.call(payer.pay('voucher'), 'ok:1')).toMatchObject(refused('channel/busy'))
  send()
  expect(await given).toMatchObject({ ok: true, value: { amount: DEPOSIT - PRICE } })
  expect(await b.call(payer.pay('voucher'), 'ok:1')).toMatchObject(refused('channel/balance'))
})

it('claim once between them', async () => {
  const payer = new ModelPayer()
  await a.served(payer, 'deposit')
  await b.served(payer, 'voucher', 'ok:1')
  for (const seller of [a, b]) {
    await seller.market.pass(7 * 3_600_000)
    await seller.claims()
  }
  expect(a.channels.asked.filter((what) => what.startsWith('claim'))).toEqual(['claim 1'])
  expect(a.channels.paidOut).toEqual([2n * PRICE])
  for (let i = 0; i < 2; i++) {
    await a.market.pass(61_000)
    await a.claims()
  }
  await a.store.prune(a.market.time.now(), 1_000_000)
  expect(await a.store.receiptsFrom(payer.channelId as never, 1, 10)).toEqual([])
  await b.served(payer, 'voucher', 'ok:2')
})
