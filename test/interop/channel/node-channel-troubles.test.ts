import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import type { LocalSettlement } from '../evm/settlement.ts'
import { PRICE, type Shop } from '../x402/shop.ts'
import { ChannelPayer, channelNode, LEAST } from './node-payers.ts'

/** A real daemon that settles channels through a facilitator, which can be away or lose its answers. */
const workshop = new Workshop()
let shop: Shop
let settlement: LocalSettlement

beforeAll(async () => {
  const opened = await channelNode(workshop, { hasOwnKey: false })
  shop = opened.shop
  settlement = opened.settlement
})
afterEach(() => shop.facilitator.reset())
afterAll(() => shop?.close())

/** What may be unclaimed on a channel, in units. */
const BOUND = 10_000n

const onChain = (channelId: string) => settlement.channel(channelId)

/** Waits until the node offers channels again: it looks for its facilitator every two seconds. */
const selling = () =>
  until('it takes channels', async () => (await shop.quote('node-test-again', 'ok', '?rail=channel')).body.available)

it('goes on while its facilitator is away, up to the bound, and claims when it is back', async () => {
  const payer = await ChannelPayer.of(shop)
  await payer.call()
  await shop.facilitator.close()
  let charged = PRICE
  let refused = 0
  // Once a claim has failed, the node offers no channels, and official clients throw.
  for (let i = 0; i < 6; i++) {
    const status = await payer.call().then(
      (answer) => answer.status,
      () => 0,
    )
    if (status === 200) charged += PRICE
    else refused += 1
  }
  expect(charged).toBeGreaterThan(PRICE)
  expect(charged).toBeLessThanOrEqual(BOUND)
  expect(refused).toBeGreaterThanOrEqual(2)
  await shop.facilitator.open()
  await selling()
  const channelId = await until('it serves', async () => {
    const { status, settled } = await payer.call()
    if (status === 200) charged += PRICE
    return charged >= BOUND && status === 200 && settled?.extra.channelState.channelId
  })
  await expect
    .poll(async () => (await onChain(`${channelId}`)).totalClaimed, { timeout: 90_000 })
    .toBeGreaterThanOrEqual(BOUND)
})

it('serves a deposit whose answer was lost, once the chain shows the money', async () => {
  await selling()
  shop.facilitator.troubles.set('/settle', 'cut')
  const payer = await ChannelPayer.of(shop)
  expect((await payer.call()).status).toBe(200)
  shop.facilitator.reset()
  expect((await payer.call()).status).toBe(200)
  expect(await payer.spent()).toBe(LEAST)
})

it('does not ask the chain about a voucher that the key of the channel did not sign', async () => {
  await selling()
  const payer = await ChannelPayer.of(shop)
  await payer.call()
  await payer.call()
  const asked = shop.facilitator.asked.length
  const forged = payer.paid(({ payload }) => {
    const { voucher } = payload
    return { ...payload, voucher: { ...voucher, signature: `0x${'11'.repeat(64)}1b` } }
  })
  const call = { serviceId: 'node-test-again', request: shop.newRequest(), headers: forged }
  const codes: unknown[] = []
  // Each good payment of the client allows one more wrong one.
  while (codes.length < 100 && codes.at(-1) !== 'rate_limited') codes.push((await shop.send(call)).body.code)
  expect(codes.length).toBeGreaterThan(30)
  expect(new Set(codes)).toEqual(new Set(['payment_refused', 'rate_limited']))
  expect(shop.facilitator.asked).toHaveLength(asked)
  expect(shop.runs(call)).toBe(0)
})
