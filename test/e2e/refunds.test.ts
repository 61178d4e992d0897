import { beforeAll, describe, expect, it } from 'vitest'
import { ask, type CallView, type Reply, verdict } from '../support/api.ts'
import { Caller, marketOpen, type Payment, runsIn } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'

const workshop = new Workshop()
const runsFile = workshop.path('runs')
let daemon: RunningDaemon

beforeAll(async () => {
  const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile }
  daemon = await workshop.start(workshop.folder(), { env })
  await marketOpen(daemon.url)
})

/** Expects the refund in an answer: its amount, asset and reason, and where to watch it. */
function expectRefund({ body }: Reply<CallView>, { txId }: Payment, caller: Caller, reason: string): void {
  expect(body.refund).toMatchObject({
    amount: 0.008,
    asset: 'FAR',
    to: caller.address,
    reason,
    statusUrl: `/api/x402/requests/${txId}`,
  })
  expect(['pending', 'broadcast', 'confirmed']).toContain(body.refund?.status)
}

/** Expects that receipts on chain returned all the money except fees. */
async function expectMoneyBack(caller: Caller, before: bigint, payments: readonly Payment[]): Promise<void> {
  let fees = 0n
  for (const { txId } of payments) {
    const { status, refund, receiptTxId } = await caller.requestIn(txId, 'refunded')
    expect(status).toBe('refunded')
    expect(refund).toMatchObject({ status: 'confirmed', txId: receiptTxId, amount: 0.008, to: caller.address })
    expect((await caller.mined(receiptTxId ?? '')).receipt).toMatchObject({ success: true })
    fees += BigInt((await caller.transaction(txId)).receipt.fee)
  }
  expect(await caller.balance()).toBe(before - fees)
}

describe('a service that fails after payment gives the money back:', () => {
  const CASES = [
    ['fail', '502 upstream_failed'],
    ['hang', '504 upstream_timeout'],
    ['wrong', '502 upstream_failed'],
    ['huge', '502 upstream_failed'],
  ] as const

  it.each([
    ['node-test-again', 1],
    ['node-test-once', 3],
  ] as const)('%s in each of its ways', async (serviceId, key) => {
    const caller = new Caller(daemon.url, key)
    const before = await caller.balance()
    const payments = await Promise.all(CASES.map(([request]) => caller.pay({ serviceId, request, lock: 'lock' })))
    const replies = await Promise.all(payments.map((payment) => caller.settle(payment)))
    for (const [i, reply] of replies.entries()) {
      const [, expected] = CASES[i]!
      expect(verdict(reply)).toBe(expected)
      expect(reply.body.requestId).toBe(reply.headers.get('x-request-id'))
      expect(reply.body).not.toHaveProperty('result')
      expect(reply.text).not.toMatch(/\.ts|node_modules|xxxxx/)
      expectRefund(reply, payments[i]!, caller, expected.split(' ')[1]!)
    }
    await expectMoneyBack(caller, before, payments)
    for (const [i, payment] of payments.entries()) {
      const again = await caller.offer(payment)
      expect(verdict(again)).toBe(CASES[i]![1])
      expect(again.headers.get('idempotent-replay')).toBe('true')
      expect(again.body.refund).toMatchObject({ status: 'confirmed' })
      expect(runsIn(runsFile).get(`${serviceId} ${payment.request}`)).toBe(1)
    }
  })

  it('and counts for nothing in the registry', async () => {
    type Listed = { readonly services: readonly { readonly provenCalls: number; readonly serviceId: string }[] }
    const { services } = (await ask<Listed>(daemon.url, '/services.json?q=node-test')).body
    expect(services.map(({ provenCalls }) => provenCalls)).toEqual([0, 0, 0])
  })
})

describe('a service that cannot be delivered', () => {
  it('is quoted with the reason, everywhere', async () => {
    const reply = await new Caller(daemon.url, 4).quote('node-test-closed', 'ok')
    expect(verdict(reply)).toBe('402 payment_required')
    expect(reply.body).toMatchObject({ available: false, unavailableReason: 'its provider is down' })
    expect(reply.body.error).toContain('its provider is down')
    expect(reply.body.accepts).toEqual([])
    expect(reply.body.offers?.[0]?.extra).toMatchObject({
      available: false,
      unavailableReason: 'its provider is down',
    })
    type Listed = { readonly services: readonly object[] }
    const { services } = (await ask<Listed>(daemon.url, '/services.json?q=node-test-closed')).body
    expect(services[0]).toMatchObject({ available: false, unavailableReason: 'its provider is down' })
  })

  it('runs nothing for a payment offered all the same, and sends it back at once', async () => {
    const caller = new Caller(daemon.url, 4)
    const before = await caller.balance()
    const payment = await caller.payMined({ serviceId: 'node-test-closed', request: 'ok', lock: 'lock' })
    const replies = await Promise.all(Array.from({ length: 3 }, () => caller.settle(payment)))
    for (const reply of replies) {
      expect(verdict(reply)).toBe('503 service_unavailable')
      expectRefund(reply, payment, caller, 'service_unavailable')
    }
    expect(runsIn(runsFile).get('node-test-closed ok')).toBeUndefined()
    await expectMoneyBack(caller, before, [payment])
  })
})

describe('the operator’s node after a stop', () => {
  it('posts the refunds that it still owes when it starts again', async () => {
    const caller = new Caller(daemon.url, 5)
    const before = await caller.balance()
    const payment = await caller.payMined({ serviceId: 'node-test-once', request: 'fail' })
    expect(verdict(await caller.settle(payment))).toBe('502 upstream_failed')
    // The node stops within the half second in which it gathers receipts.
    expect((await daemon.stop()).code).toBe(0)
    daemon = await workshop.start(daemon.dataDir, { env: { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile } })
    caller.url = daemon.url
    await expectMoneyBack(caller, before, [payment])
  })
})
