import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_ADDRESS } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import { Workshop } from '../../support/daemon.ts'
import type { LocalSettlement } from '../evm/settlement.ts'
import { PRICE, PURSE, type Shop } from '../x402/shop.ts'
import { ChannelPayer, channelNode, LEAST } from './node-payers.ts'

/** A real daemon sells by channels of a real chain to unmodified official clients. Balances on chain prove it. */
const MODES = ['by its own key', 'through facilitators'] as const
const PREFIX = 'invalid_batch_settlement_evm_'

describe.each(MODES)('a node that settles channels %s', (mode) => {
  const workshop = new Workshop()
  let shop: Shop
  let settlement: LocalSettlement

  beforeAll(async () => {
    const opened = await channelNode(workshop, { hasOwnKey: mode === 'by its own key' })
    shop = opened.shop
    settlement = opened.settlement
  })
  afterAll(() => shop?.close())

  const onChain = (channelId: string) => settlement.channel(channelId)

  it('says in its documents that it takes channels', async () => {
    const protocol = await (await fetch(`${shop.url}/.well-known/x402`)).json()
    const channels = { mode: 'live', scheme: 'batch-settlement', network: 'eip155:84532', minDeposit: `${LEAST}` }
    expect(protocol).toMatchObject({ channels })
    expect(await (await fetch(`${shop.url}/llms.txt`)).text()).toContain('?rail=channel')
  })

  it('is paid by a deposit and vouchers, and what is left comes back over GET', async () => {
    const payer = await ChannelPayer.of(shop)
    const incomeBefore = await shop.income()
    const first = await payer.call()
    expect(first).toMatchObject({ status: 200, settled: { success: true, amount: `${LEAST}` } })
    expect(first.settled?.transaction).toMatch(/^0x[0-9a-f]{64}$/)
    const second = await payer.call()
    expect(second).toMatchObject({
      status: 200,
      body: { receipt: { rail: 'channel', amountBaseUnits: `${PRICE}` } },
      settled: { transaction: '', amount: '', extra: { chargedAmount: `${PRICE}` } },
    })
    const channelId = second.settled?.extra.channelState.channelId ?? ''
    expect(await onChain(channelId)).toMatchObject({ balance: LEAST, totalClaimed: 0n })
    expect(await payer.spent()).toBe(LEAST)
    expect(await payer.refund()).toMatchObject({ success: true, amount: `${LEAST - 2n * PRICE}` })
    expect(await payer.spent()).toBe(2n * PRICE)
    await expect.poll(() => shop.income(), { timeout: 60_000 }).toBe(incomeBefore + 2n * PRICE)
    expect(payer.said.filter(([, status]) => status !== 200 && status !== 402)).toEqual([])
    expect(payer.said.map(([method]) => method)).toEqual(['POST', 'POST', 'POST', 'POST', 'GET', 'GET'])
  })

  it('heals a client that lost its memory, from its own signature', async () => {
    const payer = await ChannelPayer.of(shop)
    await payer.call()
    const again = await payer.forgetful()
    expect((await again.call()).status).toBe(200)
    expect(again.said).toEqual([
      ['POST', 402, expect.stringContaining('Payment required')],
      ['POST', 402, `${PREFIX}cumulative_amount_mismatch`],
      ['POST', 200, undefined],
    ])
    // The forgetful client deposited anew only if it had to.
    expect(await payer.spent()).toBe(LEAST)
  })

  it('heals a client whose channel was emptied behind its back', async () => {
    const payer = await ChannelPayer.of(shop)
    await payer.call()
    const refund = payer.paid(({ payload: { channelConfig, voucher } }) => ({ type: 'refund', channelConfig, voucher }))
    const emptied = await shop.send({ serviceId: 'node-test-again', request: '', headers: refund })
    expect(emptied).toMatchObject({ status: 200, body: { refunded: `${LEAST - PRICE}` } })
    expect((await payer.call()).status).toBe(200)
    expect(await payer.spent()).toBe(PRICE + LEAST)
  })

  it('serves one of four parallel calls at a time, and charges what it served', async () => {
    const payer = await ChannelPayer.of(shop)
    await payer.call()
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => payer.call(`slow:300:${name}`)))
    const served = answers.filter(({ status }) => status === 200)
    expect(served.length).toBeGreaterThanOrEqual(1)
    const refusals = payer.said.filter(([, status, error]) => status === 402 && error?.startsWith(PREFIX))
    expect(refusals).not.toEqual([])
    for (const [, , error] of refusals)
      expect([`${PREFIX}channel_busy`, `${PREFIX}cumulative_amount_mismatch`]).toContain(error)
    const last = await payer.call()
    const total = BigInt(served.length + 2) * PRICE
    expect(last.settled?.extra.channelState.chargedCumulativeAmount).toBe(`${total}`)
    expect(await payer.refund()).toMatchObject({ success: true })
    expect(await payer.spent()).toBe(total)
  })

  it('charges nothing where the service fails, and takes the same voucher again', async () => {
    const payer = await ChannelPayer.of(shop)
    const failed = await payer.call('fail')
    expect(failed).toMatchObject({ status: 502, settled: { extra: { chargedAmount: '0' } } })
    expect((await payer.call('fail')).status).toBe(502)
    expect((await payer.call()).settled?.extra.channelState.chargedCumulativeAmount).toBe(`${PRICE}`)
    await payer.refund()
    expect(await payer.spent()).toBe(PRICE)
  })

  it('gives the answer of the newest call again for the same bytes, without a second charge', async () => {
    const payer = await ChannelPayer.of(shop)
    const request = shop.newRequest()
    await payer.call()
    const served = await payer.call(request)
    const call = { serviceId: 'node-test-again', request, headers: payer.paid() }
    const repeated = await shop.send(call)
    expect(repeated).toMatchObject({ status: 200, body: { result: { echo: request }, receipt: served.body.receipt } })
    expect(repeated.headers.get('idempotent-replay')).toBe('true')
    expect(shop.runs(call)).toBe(1)
    // The same voucher for another request pays for nothing.
    const other = await shop.send({ ...call, request: shop.newRequest() })
    expect(other).toMatchObject({ status: 402, body: { code: 'voucher_mismatch' } })
    expect((await payer.call()).settled?.extra.channelState.chargedCumulativeAmount).toBe(`${3n * PRICE}`)
  })

  it('is paid by a contract wallet, whose signatures only the chain can judge', async () => {
    const wallet = await shop.chain.walletAccount(PURSE)
    const payer = await ChannelPayer.of(shop, wallet, { payerAuthorizer: NO_ADDRESS })
    for (let i = 0; i < 2; i++) expect((await payer.call()).status).toBe(200)
    await expect.poll(() => payer.spent()).toBe(LEAST)
  })

  it('claims many channels at once when they near the bound, and is paid', async () => {
    const incomeBefore = await shop.income()
    const payers = await Promise.all([0, 1, 2].map(() => ChannelPayer.of(shop)))
    let channels: string[] = []
    for (let i = 0; i < 4; i++) {
      const answers = await Promise.all(payers.map((payer) => payer.call()))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      channels = answers.map(({ settled }) => settled?.extra.channelState.channelId ?? '')
    }
    for (const channelId of channels)
      await expect.poll(async () => (await onChain(channelId)).totalClaimed, { timeout: 60_000 }).toBe(4n * PRICE)
    await expect
      .poll(async () => (await shop.income()) - incomeBefore, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(12n * PRICE)
    for (const payer of payers) expect((await payer.call()).status).toBe(200)
  })

  it('that is killed after an answer goes on where it was, and claims what it charged', async () => {
    const payer = await ChannelPayer.of(shop)
    for (let i = 0; i < 3; i++) expect((await payer.call()).status).toBe(200)
    await shop.daemon.kill()
    await shop.start()
    const fourth = await payer.call()
    expect(fourth).toMatchObject({
      status: 200,
      settled: { extra: { channelState: { chargedCumulativeAmount: `${4n * PRICE}` } } },
    })
    expect(payer.said.filter(([, , error]) => error?.startsWith(PREFIX))).toEqual([])
    const { channelId } = fourth.settled?.extra.channelState ?? { channelId: '' }
    await expect.poll(async () => (await onChain(channelId)).totalClaimed, { timeout: 60_000 }).toBe(4n * PRICE)
  })

  it('claims at once when a payer asks the chain to withdraw, and takes no more of its calls', async () => {
    const payer = await ChannelPayer.of(shop)
    await payer.call()
    // One call alone would not be worth the claim.
    const served = await payer.call()
    const { channelId } = served.settled?.extra.channelState ?? { channelId: '' }
    const { config } = payer.channel()
    await settlement.call(payer.account, 'initiateWithdraw', config, LEAST)
    // What it saw of the channel would be believed for five minutes.
    await shop.daemon.kill()
    await shop.start()
    expect((await payer.call()).status).toBe(402)
    expect(payer.said.at(-1)).toEqual(['POST', 402, `${PREFIX}withdrawal_pending`])
    await expect.poll(async () => (await onChain(channelId)).totalClaimed, { timeout: 60_000 }).toBe(2n * PRICE)
    await shop.chain.ask('evm_increaseTime', [1_000])
    await shop.chain.ask('evm_mine', [])
    await settlement.call(payer.account, 'finalizeWithdraw', config)
    expect(await payer.spent()).toBe(2n * PRICE)
  })
})
