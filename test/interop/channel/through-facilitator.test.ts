import { x402Client } from '@x402/core/client'
import type { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { type ChannelPaymentOf, NO_ADDRESS } from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import { isSignedOnChain } from '../../../marketplace/till/rails/dollar/channel/checks.ts'
import { EvmRpc } from '../../../src/adapters/evm-rpc.ts'
import { until } from '../../support/processes.ts'
import { AMOUNT, ChannelShop, rowOf, schemeOf } from './channel-shop.ts'
import { SmallSeller } from './small-seller.ts'

/** Official clients pay our channel code; an official facilitator deposits, claims, pays out and refunds on a real chain. */
let shop: ChannelShop
beforeAll(async () => {
  shop = await ChannelShop.open()
})
afterEach(() => shop.facilitator.reset())
afterAll(() => shop?.close())

const FUNDS = 50_000n
const DEPOSIT = 10n * AMOUNT
const PREFIX = 'invalid_batch_settlement_evm_'
const URL = 'http://shop.example/api/call'

/** `fetch` of an official client that pays a seller. */
function payingFetch(seller: SmallSeller, scheme: BatchSettlementEvmScheme) {
  const client = new x402Client().register(shop.terms.network.caip2, scheme)
  return wrapFetchWithPayment(seller.fetch, client)
}

/** A payer whose first payment is in its channel. */
async function opened(account?: PrivateKeyAccount, options: object = {}) {
  const payer = account ?? (await shop.chain.payer(FUNDS))
  const payment = (await shop.payment(schemeOf(shop, payer, options))) as ChannelPaymentOf<'deposit'>
  const deposited = await shop.channels.deposit(payment, AMOUNT)
  if (deposited.is !== 'done') throw new Error(JSON.stringify(deposited))
  return { payer, payment, channelId: payment.voucher.channelId }
}

describe('an official client', () => {
  it('pays by deposit and vouchers what is charged, and gets the rest back over GET', async () => {
    const seller = new SmallSeller(shop)
    const account = await shop.chain.payer(FUNDS)
    const scheme = schemeOf(shop, account)
    const fetch = payingFetch(seller, scheme)
    for (const price of [1_000n, 700n, 0n, 1_000n]) {
      seller.price = price
      expect((await fetch(URL, { method: 'POST' })).status).toBe(200)
    }
    expect(seller.ceilings).toEqual([1_000n, 2_000n, 2_700n, 2_700n])
    const [channelId] = seller.books.keys() as Iterable<string> as [string]
    expect(await shop.balance(account.address)).toBe(FUNDS - DEPOSIT)
    const paidBefore = await shop.balance(shop.terms.payTo)
    const refunded = await scheme.refund(URL, { fetch: seller.fetch })
    expect(refunded).toMatchObject({ success: true, amount: '7300' })
    expect(await shop.balance(account.address)).toBe(FUNDS - 2_700n)
    expect(await shop.settlement.channel(channelId)).toMatchObject({
      balance: 2_700n,
      totalClaimed: 2_700n,
      refundNonce: 1n,
    })
    expect(await shop.channels.settle()).toMatchObject({ is: 'done', amount: 2_700n })
    expect((await shop.balance(shop.terms.payTo)) - paidBefore).toBe(2_700n)
    expect(seller.said.filter(([, error]) => error !== undefined && error !== 'payment required')).toEqual([])
  })

  it('gets a part back, and pays on', async () => {
    const seller = new SmallSeller(shop)
    const account = await shop.chain.payer(FUNDS)
    const scheme = schemeOf(shop, account)
    const fetch = payingFetch(seller, scheme)
    await fetch(URL, { method: 'POST' })
    expect(await scheme.refund(URL, { fetch: seller.fetch, amount: '4000' })).toMatchObject({
      success: true,
      amount: '4000',
    })
    expect((await fetch(URL, { method: 'POST' })).status).toBe(200)
    expect(seller.ceilings).toEqual([1_000n, 2_000n])
    expect(await shop.balance(account.address)).toBe(FUNDS - DEPOSIT + 4_000n)
    const [row] = seller.rows()
    expect(await shop.channels.claim(row === undefined ? [] : [row])).toMatchObject({ is: 'done' })
    expect(await scheme.refund(URL, { fetch: seller.fetch })).toMatchObject({ success: true, amount: '4000' })
    await expect(scheme.refund(URL, { fetch: seller.fetch })).rejects.toThrow()
    expect(await shop.balance(account.address)).toBe(FUNDS - 2_000n)
  })

  it('tops its channel up when it is used up', async () => {
    const seller = new SmallSeller(shop)
    const account = await shop.chain.payer(FUNDS)
    const fetch = payingFetch(seller, schemeOf(shop, account))
    for (let call = 1n; call <= 11n; call += 1n) expect((await fetch(URL, { method: 'POST' })).status).toBe(200)
    expect(seller.ceilings.at(-1)).toBe(11n * AMOUNT)
    expect([...seller.books.values()]).toMatchObject([{ charged: 11_000n, state: { balance: 20_000n } }])
    expect(await shop.balance(account.address)).toBe(FUNDS - 2n * DEPOSIT)
  })

  it('that lost its memory learns the total from its own signature', async () => {
    const seller = new SmallSeller(shop)
    const account = await shop.chain.payer(FUNDS)
    await payingFetch(seller, schemeOf(shop, account))(URL, { method: 'POST' })
    await payingFetch(seller, schemeOf(shop, account))(URL, { method: 'POST' })
    expect(seller.said.slice(2)).toEqual([
      [402, 'payment required'],
      [402, `${PREFIX}cumulative_amount_mismatch`],
      [200],
    ])
    expect(seller.ceilings).toEqual([1_000n, 2_000n])
  })

  it('follows a seller that lost its memory back to what the chain shows', async () => {
    const seller = new SmallSeller(shop)
    const fetch = payingFetch(seller, schemeOf(shop, await shop.chain.payer(FUNDS)))
    await fetch(URL, { method: 'POST' })
    await shop.channels.claim(seller.rows())
    await fetch(URL, { method: 'POST' })
    seller.books.clear()
    expect((await fetch(URL, { method: 'POST' })).status).toBe(200)
    expect(seller.said.at(-2)).toEqual([402, `${PREFIX}cumulative_amount_mismatch`])
    expect(seller.ceilings).toEqual([1_000n, 2_000n, 2_000n])
  })
})

describe('a claim', () => {
  it('takes many channels at once, and passes over what was claimed before', async () => {
    const [a, b] = [await opened(), await opened()]
    const before = await shop.settlement.receiver(shop.terms.payTo as `0x${string}`)
    const rows = [rowOf(a.payment, 600n), rowOf(b.payment, 1_000n)]
    expect(await shop.channels.claim(rows)).toMatchObject({ is: 'done' })
    expect(await shop.channels.claim([...rows, rowOf(a.payment, 1_000n)])).toMatchObject({ is: 'done' })
    const after = await shop.settlement.receiver(shop.terms.payTo as `0x${string}`)
    expect(after[0] - before[0]).toBe(2_000n)
    expect(await shop.channels.settle()).toMatchObject({ is: 'done', amount: after[0] - before[1] })
    expect(await shop.channels.settle()).toEqual({ is: 'undone', cause: fault('channel/nothing-claimed') })
  })

  it('above a ceiling or with a wrong signature fails as a whole, and books nothing', async () => {
    const [a, b] = [await opened(), await opened()]
    const undone = { is: 'undone', cause: fault('stable/refused', { reason: 'claim_simulation_failed' }) }
    const forged = { ...rowOf(a.payment, 500n), signature: b.payment.voucher.signature }
    for (const wrong of [rowOf(a.payment, 1_001n), forged])
      expect(await shop.channels.claim([rowOf(b.payment, 1_000n), wrong])).toEqual(undone)
    expect(await shop.settlement.channel(b.channelId)).toMatchObject({ totalClaimed: 0n })
  })
})

describe('a channel of a contract', () => {
  it('is judged by the chain', async () => {
    const wallet = await shop.chain.walletAccount(FUNDS)
    const { payment } = await opened(wallet, { payerAuthorizer: NO_ADDRESS })
    expect(isSignedOnChain(payment)).toBe(true)
    const voucher = { ...payment, kind: 'voucher' as const }
    expect(await shop.channels.verify(voucher, AMOUNT)).toMatchObject({ ok: true, value: { balance: DEPOSIT } })
    const stranger = (await opened()).payment.voucher.signature
    const forged = { ...voucher, voucher: { ...payment.voucher, signature: stranger } }
    const refused = await shop.channels.verify(forged, AMOUNT)
    expect(refused).toMatchObject({ ok: false, fault: { code: 'channel/signature', detail: { what: 'voucher' } } })
    expect(await shop.channels.claim([rowOf(payment, 400n)])).toMatchObject({ is: 'done' })
  })
})

describe('trouble with the facilitator', () => {
  const balanceOf = async (channelId: string) => (await shop.settlement.channel(channelId)).balance
  const newDeposit = async () =>
    (await shop.payment(schemeOf(shop, await shop.chain.payer(FUNDS)))) as ChannelPaymentOf<'deposit'>

  it('that carried a deposit out and cut the answer leaves it open, and the chain tells', async () => {
    const payment = await newDeposit()
    shop.facilitator.troubles.set('/settle', 'cut')
    expect(await shop.channels.deposit(payment, AMOUNT)).toMatchObject({ is: 'unknown', transaction: null })
    shop.facilitator.reset()
    expect(await balanceOf(payment.voucher.channelId)).toBe(DEPOSIT)
    expect(await shop.channels.deposit(payment, AMOUNT)).toMatchObject({ is: 'undone' })
    const seen = await shop.channels.verify({ ...payment, kind: 'voucher' }, AMOUNT)
    expect(seen).toMatchObject({ ok: true, value: { balance: DEPOSIT } })
    expect(await balanceOf(payment.voucher.channelId)).toBe(DEPOSIT)
  })

  it('that refuses moves nothing', async () => {
    const payment = await newDeposit()
    shop.facilitator.troubles.set('/settle', 'refused')
    expect(await shop.channels.deposit(payment, AMOUNT)).toMatchObject({
      is: 'undone',
      cause: { code: 'stable/refused' },
    })
    expect(await balanceOf(payment.voucher.channelId)).toBe(0n)
  })

  it('that is down between voucher and claim loses nothing: the claim works later', async () => {
    const { payment, channelId } = await opened()
    await shop.facilitator.close()
    const row = rowOf(payment, 1_000n)
    expect((await shop.channels.claim([row])).is).not.toBe('done')
    expect(await shop.settlement.channel(channelId)).toMatchObject({ totalClaimed: 0n })
    await shop.facilitator.open()
    // After failures in a row the facilitator is left alone for a moment.
    await until('the claim is booked', async () => (await shop.channels.claim([row])).is === 'done')
    expect(await shop.settlement.channel(channelId)).toMatchObject({ totalClaimed: 1_000n })
  })
})

describe('a refund', () => {
  it('with a stale nonce is refused, and never carried out twice', async () => {
    const { payer, payment, channelId } = await opened()
    const refund = { ...payment, kind: 'refund' as const, amount: null }
    const order = { payment: refund, amount: 9_000n, refundNonce: 0n, claims: [rowOf(payment, 1_000n)] }
    expect(await shop.channels.refund(order)).toMatchObject({
      is: 'done',
      amount: 9_000n,
      state: { balance: 1_000n, refundNonce: 1n },
    })
    expect(await shop.channels.refund(order)).toMatchObject({ is: 'undone', cause: { code: 'channel/nothing-left' } })
    expect(await shop.settlement.channel(channelId)).toMatchObject({
      balance: 1_000n,
      totalClaimed: 1_000n,
      refundNonce: 1n,
    })
    expect(await shop.balance(payer.address)).toBe(FUNDS - 1_000n)
  })
})

/** Last, since it moves the chain's clock: authorizations signed by this machine's clock have then run out. */
describe('a withdrawal', () => {
  it('ends the service at once, and what is owed is claimed in time', async () => {
    const seller = new SmallSeller(shop)
    const account = await shop.chain.payer(FUNDS)
    const fetch = payingFetch(seller, schemeOf(shop, account))
    await fetch(URL, { method: 'POST' })
    const [row] = seller.rows()
    const last = [...seller.books.values()][0]?.last ?? null
    if (row === undefined || last === null) throw new Error('nothing is charged')
    await shop.settlement.call(account, 'initiateWithdraw', row.config, DEPOSIT)
    expect((await fetch(URL, { method: 'POST' })).status).toBe(402)
    expect(seller.said.at(-1)).toEqual([402, `${PREFIX}withdrawal_pending`])
    const { chainId } = shop.terms.network
    const ledger = new EvmRpc(shop.chain.rpcUrl, chainId, Date.now)
    const [asked, seen] = [await shop.channels.state(last), await ledger.channel(last.voucher.channelId)]
    expect(asked.ok && asked.value).toEqual(seen?.state)
    expect(seen?.state.withdrawRequestedAt).toBeGreaterThan(0)
    expect(await shop.channels.claim([row])).toMatchObject({ is: 'done' })
    const after = await ledger.channel(last.voucher.channelId)
    expect(after).toMatchObject({ state: { totalClaimed: 1_000n }, height: (seen?.height ?? 0) + 1 })
    expect(await shop.channels.state(last)).toMatchObject({ ok: true, value: { totalClaimed: 1_000n } })
    const empty = { balance: 0n, totalClaimed: 0n, withdrawRequestedAt: 0, refundNonce: 0n }
    expect(await ledger.channel(`0x${'11'.repeat(32)}`)).toMatchObject({ state: empty })
    expect(await new EvmRpc(shop.chain.rpcUrl, 1, Date.now).channel(last.voucher.channelId)).toBeNull()
    await shop.chain.ask('evm_increaseTime', [900])
    await shop.chain.ask('evm_mine', [])
    await shop.settlement.call(account, 'finalizeWithdraw', row.config)
    expect(await shop.balance(account.address)).toBe(FUNDS - 1_000n)
  })
})
