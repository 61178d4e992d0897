import { x402Client } from '@x402/core/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { type ChannelPaymentOf, NO_ADDRESS } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import type { OwnChain } from '../../../marketplace/till/rails/dollar/channel/own-chain.ts'
import { AMOUNT, ChannelShop, rowOf, schemeOf } from './channel-shop.ts'
import { SmallSeller } from './small-seller.ts'

/** A seller that needs no facilitator: its own key deposits, claims, pays out and refunds on a real chain. */
let shop: ChannelShop
let own: OwnChain
beforeAll(async () => {
  shop = await ChannelShop.open()
  own = await shop.own()
  await shop.facilitator.close()
})
afterAll(() => shop?.close())

const FUNDS = 50_000n
const DEPOSIT = 10n * AMOUNT
const URL = 'http://shop.example/api/call'
const REFUSED = fault('stable/refused', { reason: 'simulation_failed' })

async function opened(options: object = {}, account = shop.chain.payer(FUNDS)) {
  const payer = await account
  const payment = (await shop.payment(schemeOf(shop, payer, options))) as ChannelPaymentOf<'deposit'>
  const deposited = await own.deposit(payment)
  if (deposited.is !== 'done') throw new Error(JSON.stringify(deposited))
  return { payer, payment, channelId: payment.voucher.channelId }
}

it('serves an official client as through a facilitator, to the unit', async () => {
  const seller = new SmallSeller(shop, own)
  const account = await shop.chain.payer(FUNDS)
  const scheme = schemeOf(shop, account)
  const client = new x402Client().register(shop.terms.network.caip2, scheme)
  const fetch = wrapFetchWithPayment(seller.fetch, client)
  for (const price of [1_000n, 700n, 1_000n]) {
    seller.price = price
    expect((await fetch(URL, { method: 'POST' })).status).toBe(200)
  }
  expect(await own.claim(seller.rows())).toMatchObject({ is: 'done' })
  expect(await own.settle()).toMatchObject({ is: 'done', amount: 2_700n })
  expect(await own.settle()).toEqual({ is: 'undone', cause: fault('channel/nothing-claimed') })
  expect((await fetch(URL, { method: 'POST' })).status).toBe(200)
  expect(await scheme.refund(URL, { fetch: seller.fetch })).toMatchObject({ success: true, amount: '6300' })
  expect(await shop.balance(account.address)).toBe(FUNDS - 3_700n)
  expect(await own.settle()).toMatchObject({ is: 'done', amount: 1_000n })
  expect(await shop.balance(shop.terms.payTo)).toBe(3_700n)
  expect(seller.said.filter(([, error]) => error !== undefined && error !== 'payment required')).toEqual([])
})

describe('a payment', () => {
  it('is good only if a claim of all of it would succeed', async () => {
    const { payment } = await opened()
    const voucher = { ...payment, kind: 'voucher' as const }
    expect(await own.verify(voucher)).toMatchObject({ ok: true, value: { balance: DEPOSIT, totalClaimed: 0n } })
    expect(await own.state(voucher)).toEqual(await own.verify(voucher))
    const forged = { ...voucher, voucher: { ...payment.voucher, maxClaimable: 999n } }
    expect(await own.verify(forged)).toMatchObject({ ok: false, fault: { code: 'channel/signature' } })
    // The payer's authorization was used by the first deposit.
    expect(await own.verify(payment)).toEqual({ ok: false, fault: REFUSED })
    expect(await own.deposit(payment)).toEqual({ is: 'undone', cause: REFUSED })
    const unfunded = (await shop.payment(schemeOf(shop, shop.chain.newKey()))) as ChannelPaymentOf<'deposit'>
    expect(await own.verify(unfunded)).toEqual({ ok: false, fault: REFUSED })
  })

  it('of a contract is judged by that contract', async () => {
    const { payment } = await opened({ payerAuthorizer: NO_ADDRESS }, shop.chain.walletAccount(FUNDS))
    const voucher = { ...payment, kind: 'voucher' as const }
    expect(await own.verify(voucher)).toMatchObject({ ok: true, value: { balance: DEPOSIT } })
    const { signature } = (await opened()).payment.voucher
    expect(await own.verify({ ...voucher, voucher: { ...voucher.voucher, signature } })).toEqual({
      ok: false,
      fault: REFUSED,
    })
    expect(await own.claim([rowOf(payment, 1_000n)])).toMatchObject({ is: 'done' })
    const refund = { ...payment, kind: 'refund' as const, amount: null }
    expect(await own.verify(refund)).toMatchObject({ ok: false, fault: { code: 'channel/unverified' } })
  })
})

it('claims and refunds sent at once take turns', async () => {
  const [a, b, c] = [await opened(), await opened(), await opened()]
  const refund = { ...c.payment, kind: 'refund' as const, amount: null }
  const order = { payment: refund, amount: 9_000n, refundNonce: 0n, claims: [rowOf(c.payment, 1_000n)] }
  const ends = await Promise.all([
    own.claim([rowOf(a.payment, 400n)]),
    own.claim([rowOf(b.payment, 1_000n)]),
    own.refund(order),
  ])
  expect(ends).toMatchObject([
    { is: 'done' },
    { is: 'done' },
    { is: 'done', amount: 9_000n, state: { balance: 1_000n } },
  ])
  expect(await own.refund(order)).toEqual({ is: 'undone', cause: REFUSED })
  expect(await shop.settlement.channel(c.channelId)).toMatchObject({
    balance: 1_000n,
    totalClaimed: 1_000n,
    refundNonce: 1n,
  })
  const wrong = [rowOf(a.payment, 1_000n), rowOf(b.payment, 1_001n)]
  expect(await own.claim(wrong)).toEqual({ is: 'undone', cause: REFUSED })
  expect(await shop.settlement.channel(a.channelId)).toMatchObject({ totalClaimed: 400n })
})

describe('trouble with the chain', () => {
  it('that mines nothing for a while leaves a claim open, and it is booked later', async () => {
    const { payment, channelId } = await opened()
    const hasty = await shop.own({ patienceMs: 0 })
    await shop.chain.ask('evm_setAutomine', [false])
    const ended = await hasty.claim([rowOf(payment, 1_000n)])
    expect(ended).toMatchObject({ is: 'unknown', detail: 'it is not mined yet' })
    await shop.chain.ask('evm_setAutomine', [true])
    await shop.chain.ask('evm_mine', [])
    expect(await shop.settlement.channel(channelId)).toMatchObject({ totalClaimed: 1_000n })
    const { transaction } = ended as { readonly transaction: Hex }
    expect(await shop.chain.succeeded(transaction)).toBe(true)
  })

  it('whose fees rose above those of a transaction gets it again with higher ones, and no other before it', async () => {
    const [first, second] = [await opened(), await opened()]
    const hasty = await shop.own({ patienceMs: 0, raiseMs: 0 })
    await shop.chain.ask('evm_setAutomine', [false])
    try {
      expect((await hasty.claim([rowOf(first.payment, 1_000n)])).is).toBe('unknown')
      const { baseFeePerGas } = await shop.chain.reader.getBlock()
      // Twice what it pays: its priority fee is one gwei here.
      const dear = 4n * BigInt(baseFeePerGas ?? 0n) + 2_000_000_000n
      await shop.chain.ask('hardhat_setNextBlockBaseFeePerGas', [`0x${dear.toString(16)}`])
      await shop.chain.ask('evm_mine', [])
      expect(await shop.settlement.channel(first.channelId)).toMatchObject({ totalClaimed: 0n })
      const behind = await hasty.claim([rowOf(second.payment, 1_000n)])
      expect(behind).toMatchObject({ is: 'undone', cause: { code: 'channel/chain-away' } })
      await shop.chain.ask('evm_mine', [])
      expect(await shop.settlement.channel(first.channelId)).toMatchObject({ totalClaimed: 1_000n })
    } finally {
      await shop.chain.ask('evm_setAutomine', [true])
    }
    expect((await hasty.claim([rowOf(second.payment, 1_000n)])).is).toBe('done')
  })

  it('without gas money sends nothing', async () => {
    const { payment, channelId } = await opened()
    const poor = await shop.own()
    await shop.chain.ask('hardhat_setBalance', [await senderOf(poor, payment), '0x0'])
    expect((await poor.claim([rowOf(payment, 1_000n)])).is).toBe('undone')
    expect(await shop.settlement.channel(channelId)).toMatchObject({ totalClaimed: 0n })
  })
})

/** The account that sends a claim: it is seen in its transaction. */
async function senderOf(chain: OwnChain, payment: ChannelPaymentOf<'deposit'>): Promise<Hex> {
  const sent = await chain.claim([rowOf((await opened()).payment, 1n)])
  if (sent.is !== 'done') throw new Error(JSON.stringify([sent, payment.voucher]))
  return (await shop.chain.reader.getTransaction({ hash: sent.transaction as Hex })).from
}
