import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { voucherAnswer } from '../../../marketplace/till/rails/channel/answers.ts'
import type { ChannelPaymentOf } from '../../../marketplace/till/rails/channel/channel.ts'
import {
  checkCeiling,
  checkChannel,
  checkDeposit,
  checkVoucherSignature,
  isOwnDeposit,
  offeredAmount,
  refundable,
} from '../../../marketplace/till/rails/channel/checks.ts'
import { channelOffer, correctiveOffer } from '../../../marketplace/till/rails/channel/terms.ts'
import { AMOUNT, ChannelShop, rowOf } from './channel-shop.ts'

let shop: ChannelShop
beforeAll(async () => {
  shop = await ChannelShop.open()
})
afterEach(() => shop.facilitator.reset())
afterAll(() => shop?.close())

const FUNDS = 50_000n

async function newClient() {
  const account = await shop.chain.payer(FUNDS)
  const signer = { ...account, readContract: (call: never) => shop.chain.reader.readContract(call) }
  return { account, client: new BatchSettlementEvmScheme(signer as never) }
}

/** A client whose first payment has opened a channel. */
async function opened() {
  const { account, client } = await newClient()
  const payment = (await shop.payment(client)) as ChannelPaymentOf<'deposit'>
  const deposited = await shop.channels.deposit(payment, AMOUNT)
  if (deposited.is !== 'done') throw new Error(JSON.stringify(deposited))
  return { account, client, payment, deposited }
}

it('opens a channel with a stock client, and charges, claims, pays out and refunds to the unit', async () => {
  const { account, client } = await newClient()
  const first = (await shop.payment(client)) as ChannelPaymentOf<'deposit'>
  expect(first).toMatchObject({ kind: 'deposit', deposit: { amount: 10n * AMOUNT } })
  expect(offeredAmount(first, shop.terms, [AMOUNT])).toEqual({ ok: true, value: AMOUNT })
  expect(checkChannel(first, shop.terms)).toBeNull()
  expect(checkVoucherSignature(first, shop.terms)).toBeNull()
  expect(checkDeposit(first, shop.terms, Date.now())).toBeNull()
  expect(isOwnDeposit({ ...first, channelId: first.voucher.channelId }, shop.terms)).toBe(true)
  const before = await shop.channels.verify(first, AMOUNT)
  if (!before.ok) throw new Error(JSON.stringify(before.fault))
  expect(before.value).toEqual({ balance: 0n, totalClaimed: 0n, withdrawRequestedAt: 0, refundNonce: 0n })
  expect(checkCeiling(first, { charged: 0n, amount: AMOUNT, state: before.value })).toBeNull()
  const deposited = await shop.channels.deposit(first, AMOUNT)
  expect(deposited).toMatchObject({ is: 'done', amount: 10_000n, state: { balance: 10_000n, totalClaimed: 0n } })
  expect(await shop.balance(account.address)).toBe(40_000n)
})
