import { writeFileSync } from 'node:fs'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import { LocalSettlement } from '../evm/settlement.ts'
import { termsOf } from '../x402/payments.ts'
import { PRICE, Shop } from '../x402/shop.ts'
import { ChannelPayer } from './node-payers.ts'

/** A real daemon sells by channels of a real chain to unmodified official clients. Balances on chain prove it. */
const MODES = ['by its own key', 'through facilitators'] as const
const LEAST = 50_000n
/** From three quarters of this on a channel is claimed at once: with its fourth call. */
const UNCLAIMED_MAX = '0.01'
const PREFIX = 'invalid_batch_settlement_evm_'

describe.each(MODES)('a node that settles channels %s', (mode) => {
  const workshop = new Workshop()
  const isOwn = mode === 'by its own key'
  let shop: Shop
  let settlement: LocalSettlement

  beforeAll(async () => {
    const key = generatePrivateKey()
    const file = workshop.path('gas-key')
    writeFileSync(file, key)
    const env = {
      FARTHING_STABLE_CHANNEL_UNCLAIMED_MAX: UNCLAIMED_MAX,
      FARTHING_STABLE_CHANNEL_WITHDRAW_DELAY: '900',
      ...(isOwn && { FARTHING_STABLE_CHANNEL_GAS_KEY_FILE: file }),
    }
    shop = await Shop.open(workshop, { env, takesChannels: true })
    settlement = await LocalSettlement.on(shop.chain)
    await shop.chain.sender(privateKeyToAccount(key))
  })
  afterEach(() => shop.facilitator.reset())
  afterAll(() => shop?.close())

  const onChain = (channelId: string) => settlement.channel(channelId)

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
})
