import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { signDigest } from '../../../../../../../consensus/external/eip712.ts'
import { fault } from '../../../../../../../consensus/primitives/fault.ts'
import type { Fields } from '../../../../../../../consensus/primitives/fields.ts'
import type { ClaimRow } from '../../../../../../../marketplace/till/rails/dollar/channel/channel.ts'
import { claimDigest, refundDigest } from '../../../../../../../marketplace/till/rails/dollar/channel/digests.ts'
import { FacilitatorChain } from '../../../../../../../marketplace/till/rails/dollar/channel/facilitator-chain.ts'
import { channelOffer } from '../../../../../../../marketplace/till/rails/dollar/channel/terms.ts'
import {
  channelStateJson,
  claimJson,
  paymentJson,
} from '../../../../../../../marketplace/till/rails/dollar/channel/wire.ts'
import { FacilitatorPool } from '../../../../../../../marketplace/till/rails/dollar/facilitators.ts'
import { HttpFacilitator } from '../../../../../../../src/adapters/facilitator-http.ts'
import { systemTimers } from '../../../../../../../src/daemon/runtime.ts'
import { AMOUNT, AUTHORIZER, CHANNEL_TERMS, channelPayment, STATE } from '../../../../../../support/channel.ts'
import { textOf } from '../../../../../../support/stable-token.ts'

const { network } = CHANNEL_TERMS
const TRANSACTION = `0x${'cd'.repeat(32)}`
const PREFIX = 'invalid_batch_settlement_evm_'
const sign = (digest: Uint8Array): string => signDigest(AUTHORIZER.key, digest)

/** What the facilitator answers to every check and settlement: JSON, a status, or nothing. */
let answer: Fields | number | null = null
let kinds: readonly Fields[] = []
const asked: { readonly path: string; readonly body: Fields }[] = []
const server = createServer(async (request, response) => {
  if (request.url === '/supported') return response.end(JSON.stringify({ kinds }))
  asked.push({ path: request.url ?? '', body: JSON.parse(await textOf(request)) as Fields })
  if (answer === null) return request.socket.destroy()
  if (typeof answer === 'number') return response.writeHead(answer).end('no JSON')
  return response.end(JSON.stringify(answer))
})
let pool: FacilitatorPool
let chain: FacilitatorChain

beforeEach(async () => {
  kinds = [{ x402Version: 2, scheme: 'batch-settlement', network: network.caip2 }]
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await open()
})
afterEach(async () => {
  pool.stop()
  asked.length = 0
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function open(): Promise<void> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const facilitators = [new HttpFacilitator(url, {}, 'batch-settlement')]
  pool = new FacilitatorPool({ facilitators, network, clock: Date, timers: systemTimers })
  chain = new FacilitatorChain({ facilitators: pool, terms: CHANNEL_TERMS, sign })
  await pool.start()
}

const stateOf = (channelId: string) => channelStateJson({ channelId, state: STATE, charged: 0n })
const refused = (word: string) => ({ success: false, errorReason: `${PREFIX}${word}`, transaction: '', network: 'x' })

describe('a facilitator', () => {
  it("is asked with this node's own offer, and with what was read of the payment", async () => {
    const payment = channelPayment('voucher')
    answer = { isValid: true, payer: payment.config.payer, extra: stateOf(payment.voucher.channelId) }
    expect(await chain.verify(payment, AMOUNT)).toEqual({ ok: true, value: STATE })
    const offer = channelOffer(CHANNEL_TERMS, AMOUNT)
    const paymentPayload = { x402Version: 2, accepted: offer, payload: paymentJson(payment) }
    expect(asked).toEqual([{ path: '/verify', body: { x402Version: 2, paymentPayload, paymentRequirements: offer } }])
  })

  it('is asked for the state of a channel with its last voucher, which may be claimed already', async () => {
    const payment = channelPayment('voucher')
    answer = { isValid: true, payer: payment.config.payer, extra: stateOf(payment.voucher.channelId) }
    expect(await chain.state(payment)).toEqual({ ok: true, value: STATE })
    const payload = { ...paymentJson(payment), type: 'refund' }
    expect(asked).toMatchObject([{ path: '/verify', body: { paymentPayload: { payload } } }])
  })

  it('that takes another scheme only is not asked', async () => {
    pool.stop()
    kinds = [
      { x402Version: 2, scheme: 'exact', network: network.caip2 },
      { x402Version: 2, scheme: 'batch-settlement', network: 'eip155:1' },
    ]
    await open()
    expect(pool.verified).toEqual({ ok: false, detail: 'it does not take batch-settlement on eip155:84532' })
    expect(await chain.verify(channelPayment('voucher'), AMOUNT)).toMatchObject({
      ok: false,
      fault: { code: 'stable/facilitator' },
    })
    expect(await chain.settle()).toMatchObject({ is: 'undone', cause: { code: 'stable/facilitator' } })
    expect(asked).toEqual([])
  })

  it('that finds a payment wrong says why, or that it cannot tell', async () => {
    const payment = channelPayment('voucher')
    const { channelId } = payment.voucher
    const said = async (said: typeof answer) => {
      answer = said
      const verified = await chain.verify(payment, AMOUNT)
      return verified.ok ? null : verified.fault
    }
    const invalid = { isValid: false, invalidReason: `${PREFIX}cumulative_exceeds_balance` }
    expect(await said(invalid)).toEqual(fault('channel/balance', { channelId, maxClaimable: '1000' }))
    expect(await said({ isValid: true })).toEqual(fault('channel/unverified', { channelId }))
    expect(await said({ isValid: true, extra: { balance: '1' } })).toEqual(fault('channel/unverified', { channelId }))
    expect(await said(422)).toEqual(fault('stable/refused', { reason: 'invalid_payload' }))
    expect((await said(500))?.code).toBe('stable/facilitator')
  })
})

describe('a deposit', () => {
  const payment = channelPayment('deposit')
  const { channelId } = payment.voucher
  const extra = { channelState: stateOf(channelId) }

  it('is done with the amount and the state that are named', async () => {
    answer = { success: true, transaction: TRANSACTION, amount: '9000', extra }
    expect(await chain.deposit(payment, AMOUNT)).toEqual({
      is: 'done',
      transaction: TRANSACTION,
      amount: 9_000n,
      state: STATE,
    })
    answer = { success: true, transaction: TRANSACTION, extra }
    expect(await chain.deposit(payment, AMOUNT)).toMatchObject({ is: 'done', amount: 10_000n })
    expect(asked.at(-1)).toMatchObject({ path: '/settle', body: { paymentPayload: { payload: paymentJson(payment) } } })
  })

  it('is undone if it is refused, and may be done if the answer does not tell', async () => {
    answer = refused('insufficient_balance')
    expect(await chain.deposit(payment, AMOUNT)).toEqual({
      is: 'undone',
      cause: fault('stable/refused', { reason: 'insufficient_balance' }),
    })
    answer = { success: true, transaction: TRANSACTION, extra: {} }
    const transaction = TRANSACTION
    expect(await chain.deposit(payment, AMOUNT)).toEqual({
      is: 'unknown',
      detail: 'it named no state of the channel',
      transaction,
    })
    answer = { success: false, errorReason: 'settlement_pending', transaction }
    expect(await chain.deposit(payment, AMOUNT)).toMatchObject({ is: 'unknown', transaction })
    answer = null
    expect(await chain.deposit(payment, AMOUNT)).toMatchObject({ is: 'unknown', transaction: null })
  })
})

describe('what the seller sends', () => {
  const rowFor = (totalClaimed: bigint): ClaimRow => {
    const { config, voucher } = channelPayment('voucher')
    return { config, maxClaimable: voucher.maxClaimable, signature: voucher.signature, totalClaimed }
  }
  const sent = () => (asked.at(-1)?.body.paymentPayload as Fields | undefined)?.payload

  it('is a claim with its signature', async () => {
    const rows = [rowFor(1_000n), rowFor(700n)]
    answer = { success: true, transaction: TRANSACTION, amount: '' }
    expect(await chain.claim(rows)).toEqual({ is: 'done', transaction: TRANSACTION })
    const claimAuthorizerSignature = sign(claimDigest(network.chainId, rows))
    expect(sent()).toEqual({ type: 'claim', claims: rows.map(claimJson), claimAuthorizerSignature })
    answer = refused('claim_simulation_failed')
    expect(await chain.claim(rows)).toEqual({
      is: 'undone',
      cause: fault('stable/refused', { reason: 'claim_simulation_failed' }),
    })
  })

  it('is a pay-out, whose amount may be unknown', async () => {
    answer = { success: true, transaction: TRANSACTION, amount: '1700' }
    expect(await chain.settle()).toEqual({ is: 'done', transaction: TRANSACTION, amount: 1_700n })
    expect(sent()).toEqual({ type: 'settle', receiver: CHANNEL_TERMS.payTo, token: CHANNEL_TERMS.asset.contract })
    answer = { success: true, transaction: TRANSACTION }
    expect(await chain.settle()).toEqual({ is: 'done', transaction: TRANSACTION, amount: null })
    answer = refused('nothing_to_settle')
    expect(await chain.settle()).toEqual({ is: 'undone', cause: fault('channel/nothing-claimed') })
  })

  it('is a refund with its signature, and that of the claim before it if there is one', async () => {
    const payment = channelPayment('refund', { maxClaimable: 700n })
    const { channelId } = payment.voucher
    answer = { success: true, transaction: TRANSACTION, amount: '9300', extra: { channelState: stateOf(channelId) } }
    const order = { payment, amount: 9_300n, refundNonce: 4n }
    expect(await chain.refund({ ...order, claims: [] })).toEqual({
      is: 'done',
      transaction: TRANSACTION,
      amount: 9_300n,
      state: STATE,
    })
    const refundAuthorizerSignature = sign(refundDigest(network.chainId, { channelId, nonce: 4n, amount: 9_300n }))
    const shared = { ...paymentJson(payment), amount: '9300', refundNonce: '4', refundAuthorizerSignature }
    expect(sent()).toEqual({ ...shared, claims: [] })
    const claims = [rowFor(700n)]
    await chain.refund({ ...order, claims })
    const claimAuthorizerSignature = sign(claimDigest(network.chainId, claims))
    expect(sent()).toEqual({ ...shared, claims: claims.map(claimJson), claimAuthorizerSignature })
    answer = refused('refund_no_balance')
    expect(await chain.refund({ ...order, claims })).toEqual({
      is: 'undone',
      cause: fault('channel/nothing-left', { channelId, maxClaimable: '700' }),
    })
  })
})
