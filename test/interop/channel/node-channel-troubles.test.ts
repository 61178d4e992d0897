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

const onChain = (channelId: string) => settlement.channel(channelId)

it('goes on while its facilitator is away, up to the bound, and claims when it is back', async () => {
  const payer = await ChannelPayer.of(shop)
  await payer.call()
  await shop.facilitator.close()
  const statuses: number[] = []
  for (let i = 0; i < 6; i++) statuses.push((await payer.call()).status)
  expect(statuses).toEqual([200, 200, 200, 200, 503, 503])
  await shop.facilitator.open()
  const { channelId } = (await until('it sells again', async () => {
    const { status, settled } = await payer.call()
    return status === 200 && settled?.extra.channelState
  })) as { readonly channelId: string }
  await expect
    .poll(async () => (await onChain(channelId)).totalClaimed, { timeout: 90_000 })
    .toBeGreaterThanOrEqual(5n * PRICE)
})

it('serves a deposit whose answer was lost, once the chain shows the money', async () => {
  shop.facilitator.troubles.set('/settle', 'cut')
  const payer = await ChannelPayer.of(shop)
  expect((await payer.call()).status).toBe(200)
  shop.facilitator.reset()
  expect((await payer.call()).status).toBe(200)
  expect(await payer.spent()).toBe(LEAST)
})

it('does not ask the chain about a voucher that the key of the channel did not sign', async () => {
  const payer = await ChannelPayer.of(shop)
  await payer.call()
  await payer.call()
  const asked = shop.facilitator.asked.length
  const forged = payer.paid(({ payload }) => {
    const { voucher } = payload as { readonly voucher: { readonly signature: string } }
    return { ...payload, voucher: { ...voucher, signature: `0x${'11'.repeat(64)}1b` } }
  })
  const call = { serviceId: 'node-test-again', request: shop.newRequest(), headers: forged }
  for (let i = 0; i < 30; i++) expect((await shop.send(call)).body).toMatchObject({ code: 'payment_refused' })
  expect(await shop.send(call)).toMatchObject({ status: 429 })
  expect(shop.facilitator.asked).toHaveLength(asked)
  expect(shop.runs(call)).toBe(0)
})
