import { afterAll, beforeAll, expect, it } from 'vitest'
import { Workshop } from '../../support/daemon.ts'
import type { LocalSettlement } from '../evm/settlement.ts'
import { PRICE, type Shop } from '../x402/shop.ts'
import { ChannelPayer, channelNode, LEAST } from './node-payers.ts'

/** An operator that wants no more channels, while those that are open owe it money. */
const OFF = { FARTHING_STABLE_CHANNELS: 'false' }

const workshop = new Workshop()
let shop: Shop
let settlement: LocalSettlement

beforeAll(async () => {
  const opened = await channelNode(workshop, { hasOwnKey: true })
  shop = opened.shop
  settlement = opened.settlement
})
afterAll(() => shop?.close())

/** A payer that owes two calls, and the id of its channel. */
async function owing() {
  const payer = await ChannelPayer.of(shop)
  await payer.call()
  const { settled } = await payer.call()
  return { payer, channelId: settled?.extra.channelState.channelId ?? '' }
}

it('claims and refunds what is open while it takes no more calls from channels', async () => {
  const [leaving, staying] = [await owing(), await owing()]
  const incomeBefore = await shop.income()
  await shop.daemon.stop()
  const { config } = leaving.payer.channel()
  await settlement.call(leaving.payer.account, 'initiateWithdraw', config, LEAST)
  await shop.start(OFF)

  const { body } = await shop.quote('node-test-again', 'ok', '?rail=channel')
  expect(body.error).toContain('this node takes no channels')
  const protocol = await (await fetch(`${shop.url}/.well-known/x402`)).json()
  expect(protocol).toMatchObject({ channels: { mode: 'disabled' } })

  const last = { serviceId: 'node-test-again', request: shop.newRequest(), headers: staying.payer.paid() }
  const refused = await shop.send(last)
  expect(refused).toMatchObject({ status: 402, body: { code: 'payment_mismatch' } })
  expect((refused.body.accepts as readonly { scheme: string }[]).map(({ scheme }) => scheme)).not.toContain(
    'batch-settlement',
  )
  expect(shop.runs(last)).toBe(0)

  const claimed = async () => (await settlement.channel(leaving.channelId)).totalClaimed
  await expect.poll(claimed, { timeout: 90_000 }).toBe(2n * PRICE)

  const refund = staying.payer.paid(({ payload: { channelConfig, voucher } }) => ({
    ...{ type: 'refund', channelConfig, voucher },
  }))
  const given = await shop.send({ ...last, request: '', headers: refund })
  expect(given).toMatchObject({ status: 200, body: { refunded: `${LEAST - 2n * PRICE}` } })
  await expect.poll(() => shop.income(), { timeout: 60_000 }).toBe(incomeBefore + 4n * PRICE)
  const metrics = await (await fetch(`${shop.url}/metrics`)).text()
  for (const kind of ['claim', 'refund'])
    expect(metrics).toContain(`farthing_channel_transactions_total{kind="${kind}",end="done"} 1`)
  expect(metrics).toMatch(/farthing_channels_unclaimed_dollars 0(\.00[48])?\n/)
})

it('says at the start what it could lose where it turned all of the rail off', async () => {
  await shop.daemon.stop()
  await shop.start()
  await owing()
  const { dataDir } = shop.daemon
  await shop.daemon.stop()
  const dark = await workshop.start(dataDir, { env: { TEST_FAST_BLOCKS: '1' }, mine: 0 })
  const said = dark.log.filter(({ area }) => area === 'channels')
  // Claims of the test before this are perhaps not final yet.
  expect(said).toMatchObject([
    { msg: expect.stringMatching(/^0\.00[48] USDC are charged on [12] channels and not known/) },
  ])
  await dark.stop()
})
