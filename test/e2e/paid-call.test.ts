import { beforeAll, describe, expect, it } from 'vitest'
import { failedChecks, verifyPaidAnswer } from '../../rpc/client/verify.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { ask, type CallView, post, type Reply } from '../support/api.ts'
import { Caller, marketOpen, type Payment, runsIn } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { fastDevnet } from '../support/network.ts'

const workshop = new Workshop()
const runsFile = workshop.path('runs')
let daemon: RunningDaemon
let buyer: Caller

beforeAll(async () => {
  const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile }
  daemon = await workshop.start(workshop.folder(), { env, flags: ['--market-payout', payee().address] })
  await marketOpen(daemon.url)
  buyer = new Caller(daemon.url, 1)
})

const { pow: cost, powLimit: targetMax } = fastDevnet().steps[0]!.rules.block
const POW = { hasher: nativePowHasher, cost, targetMax }
/** The account that receives the price of calls. Nothing else moves its balance. */
const payee = (): Caller => new Caller(daemon?.url ?? '', 10)
const ran = (serviceId: string, request: string): number => runsIn(runsFile).get(`${serviceId} ${request}`) ?? 0

/** Names of the checks that fail when the client verifies a paid answer. */
function misfits({ body }: Reply<CallView>, { amount, ...named }: Payment, caller: string): readonly string[] {
  const paid = { ...named, caller, amountBaseUnits: amount.toString() }
  return failedChecks(verifyPaidAnswer({ result: body.result, receipt: body.receipt ?? {} }, paid, POW))
}

describe('an unpaid call', () => {
  it('is answered with 402 and an offer for exactly this service, at both addresses', async () => {
    for (const path of ['/api/x402', '/api/x402/node-test-again', '/api/x402/node-test-again?net=mainnet']) {
      const { status, body, headers } = await post<CallView>(daemon.url, path, {
        serviceId: 'node-test-again',
        request: 'ok',
      })
      expect(status).toBe(402)
      expect(body).toMatchObject({ x402: true, code: 'payment_required', available: true, requestValid: true })
      expect(body.error).toMatch(/^Payment required/)
      expect(body.requestId).toBe(headers.get('x-request-id'))
      expect(body.accepts).toHaveLength(1)
      expect(body.accepts?.[0]).toMatchObject({
        scheme: 'native-x402',
        payTo: payee().address,
        maxAmountRequired: '800000',
        amount: 0.008,
        extra: { serviceId: 'node-test-again', units: 1, term: 100, confirmations: 1, available: true },
      })
    }
  })

  it('is answered with 402 also where the body is empty or missing', async () => {
    const path = '/api/x402/node-test-again'
    const replies = [
      await post<CallView>(daemon.url, path, {}),
      await post<CallView>(daemon.url, path, ''),
      await ask<CallView>(daemon.url, path, { method: 'POST' }),
      await post<CallView>(daemon.url, '/api/x402/node-network-stats', {}),
    ]
    for (const { status, body } of replies) {
      expect(status).toBe(402)
      expect(body).toMatchObject({ x402: true, code: 'payment_required' })
      expect(body.accepts).toHaveLength(1)
    }
    expect(replies.map(({ body }) => body.requestValid)).toEqual([false, false, false, true])
  })

  it('says where the request text is unusable, and what would do', async () => {
    const { status, body } = await post<CallView>(daemon.url, '/api/x402/node-test-again', { request: 'refuse' })
    expect(status).toBe(402)
    expect(body).toMatchObject({ requestValid: false, requestError: { reason: 'nothing to do', example: 'ok' } })
    // An automatic client pays any offer in `accepts`.
    expect([body.accepts, body.offers?.length]).toEqual([[], 1])
    expect(body.error).toContain('this request cannot be used; correct it first. Do not pay now.')
  })
})

describe('a paid call', () => {
  it('pays the operator by a receipt on chain, burns a hundredth and counts', async () => {
    type Listed = {
      readonly services: readonly { readonly provenCalls: number; readonly provenVolumeNative: number }[]
    }
    const facts = async () => {
      const { services } = (await ask<Listed>(daemon.url, '/services.json?q=node-test-once')).body
      return { balance: await payee().balance(), ...services[0]! }
    }
    const before = await facts()
    const payment = await buyer.payMined({ serviceId: 'node-test-once', request: 'ok:receipt' })
    expect((await buyer.settle(payment)).status).toBe(200)
    const { status, receiptTxId, refund } = await buyer.closed(payment.txId)
    expect({ status, refund }).toEqual({ status: 'completed', refund: null })
    const { receipt } = await buyer.mined(receiptTxId)
    expect(receipt).toMatchObject({ success: true, entries: [0] })
    const after = await facts()
    expect(payment.amount).toBe(800_000n)
    expect(after.balance - before.balance).toBe(792_000n)
    expect(after.provenCalls).toBe(before.provenCalls + 1)
    expect(after.provenVolumeNative).toBeCloseTo(before.provenVolumeNative + 0.008, 8)
  })

  it.each([
    ['node-network-stats', ''],
    ['node-gas-tracker', ''],
    ['node-tx-lookup', 'the payment itself'],
  ])('of %s gives a result and a receipt that verify against the header alone', async (serviceId, request) => {
    const text = request === '' ? '' : (await buyer.send('transfer', transferTo(buyer))).txId
    const before = await buyer.balance()
    const payment = await buyer.payMined({ serviceId, request: text, lock: 'lock' })
    const { fee } = (await buyer.transaction(payment.txId)).receipt
    const reply = await buyer.settle(payment)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.body.paid).toBe(true)
    expect(Object.keys(reply.body.result ?? {}).length).toBeGreaterThan(1)
    const amount = Number(payment.amount) / 1e8
    expect(reply.body.receipt).toMatchObject({ serviceId, caller: buyer.address, amount, txId: payment.txId })
    expect(misfits(reply, payment, buyer.address)).toEqual([])
    if (text === '') expect(await buyer.balance()).toBe(before - payment.amount - BigInt(fee))
  })

  it('asked for 20 times at once runs once and answers all alike', async () => {
    const payment = await buyer.payMined({ serviceId: 'node-test-once', request: 'slow:300', lock: 'lock' })
    const replies = await Promise.all(Array.from({ length: 20 }, () => buyer.settle(payment)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    const replayed = replies.filter(({ headers }) => headers.get('idempotent-replay') === 'true')
    expect(replayed.length).toBe(19)
    expect(ran('node-test-once', 'slow:300')).toBe(1)
    expect(misfits(replies[0]!, payment, buyer.address)).toEqual([])
  })

  it('repeated later, at either address, gives the same bytes and runs nothing', async () => {
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:repeat' })
    const first = await buyer.settle(payment)
    expect(first.headers.get('idempotent-replay')).toBeNull()
    await buyer.requestIn(payment.txId, 'completed')
    const { serviceId, request, txId } = payment
    const named = await post<CallView>(daemon.url, '/api/x402', { serviceId, request, payment: { txId } })
    for (const reply of [named, await buyer.offer(payment)]) {
      expect(reply.status).toBe(200)
      expect(reply.text).toBe(first.text)
      expect(reply.headers.get('idempotent-replay')).toBe('true')
    }
    expect(ran('node-test-again', 'ok:repeat')).toBe(1)
  })

  it('repeated while it runs waits and gets the same answer', async () => {
    const payment = await buyer.payMined({ serviceId: 'node-test-once', request: 'slow:1200' })
    const first = buyer.settle(payment)
    await buyer.requestIn(payment.txId, 'executing')
    const second = await buyer.offer(payment)
    expect(second.status).toBe(200)
    expect(second.headers.get('idempotent-replay')).toBe('true')
    expect(second.text).toBe((await first).text)
    expect(ran('node-test-once', 'slow:1200')).toBe(1)
  })

  it('with the same payment for another request or another service is 409 and runs nothing', async () => {
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:mine' })
    const first = await buyer.settle(payment)
    const others = [
      { request: 'ok:other' },
      { serviceId: 'node-test-once' },
      { serviceId: 'node-network-stats', request: '' },
      { request: 'refuse' },
    ]
    for (const change of others) {
      const { status, body } = await buyer.offer(payment, change)
      expect(status).toBe(409)
      expect(body).toMatchObject({ code: 'payment_already_redeemed', details: { serviceId: 'node-test-again' } })
      expect(body.details?.redeemedAt).toMatch(/^\d{4}-\d\d-\d\dT/)
    }
    expect(ran('node-test-again', 'ok:other')).toBe(0)
    expect(ran('node-test-once', 'ok:mine')).toBe(0)
    expect((await buyer.offer(payment)).text).toBe(first.text)
  })

  it('of 20 other requests at once under one payment runs exactly one', async () => {
    const payment = await buyer.payMined({ serviceId: 'node-test-once', request: 'ok:race' })
    const requests = Array.from({ length: 20 }, (_, i) => `ok:race-${i}`)
    const replies = await Promise.all(requests.map((request) => buyer.settle(payment, { request })))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
    const total = requests.reduce((sum, request) => sum + ran('node-test-once', request), 0)
    expect(total).toBe(1)
  })

  it('is listed without its request and its result', async () => {
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:private-words' })
    await buyer.settle(payment)
    const list = await ask<{ requests: { txId: string }[] }>(daemon.url, '/api/x402/requests?limit=5')
    expect(list.body.requests[0]).toMatchObject({ txId: payment.txId, serviceId: 'node-test-again' })
    expect(list.text).not.toContain('private-words')
  })
})

describe('a call that wants many confirmations', () => {
  it('tells those who come early not to pay again, and is answered when the payment is deep enough', async () => {
    const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile }
    const flags = ['--market-prices', 'node-test-once=1000', '--market-settle-wait-ms', '0']
    const dear = await workshop.start(workshop.folder(), { env, flags })
    await marketOpen(dear.url)
    const caller = new Caller(dear.url, 3)
    const quote = (await caller.quote('node-test-once', 'ok:deep')).body.accepts?.[0]
    expect(quote?.extra).toMatchObject({ confirmations: 420, term: 1_200 })
    const payment = await caller.payMined({ serviceId: 'node-test-once', request: 'ok:deep' })
    const early = await caller.offer(payment)
    expect(early.status).toBe(402)
    expect(early.body).toMatchObject({ code: 'payment_unconfirmed', details: { needed: 420 } })
    expect(early.body.error).toMatch(/^Do not pay again/)
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(ran('node-test-once', 'ok:deep')).toBe(0)
    const late = await caller.settle(payment)
    expect(late.status).toBe(200)
    expect((await caller.transaction(payment.txId)).confirmations).toBeGreaterThanOrEqual(420)
    expect(ran('node-test-once', 'ok:deep')).toBe(1)
    expect((await dear.stop()).code).toBe(0)
  })
})

function transferTo({ key }: Caller) {
  return { to: key.address, amount: 1n as never, create: false }
}
