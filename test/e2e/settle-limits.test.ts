import { expect, it } from 'vitest'
import { post, verdict } from '../support/api.ts'
import { Caller, marketOpen } from '../support/caller.ts'
import { Workshop } from '../support/daemon.ts'

const workshop = new Workshop()

it('who has used up his settles still gets what he paid for, and nobody else does', async () => {
  const flags = ['--rpc-rate-settle', '1', '--rpc-rate-quote', '1000']
  const { url } = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' }, flags })
  await marketOpen(url)
  const buyer = new Caller(url, 1)
  const [first, second] = [
    await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:1' }),
    await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:2' }),
  ]
  expect(verdict(await buyer.settle(first))).toBe('200 paid')
  // Its escrow is open: nothing has been claimed yet.
  expect(verdict(await buyer.settle(second))).toBe('200 paid')
  for (const payment of [first, second, first]) {
    const again = await buyer.settle(payment)
    expect([verdict(again), again.headers.get('idempotent-replay')]).toEqual(['200 paid', 'true'])
  }
  const made = { request: 'ok:1', payment: { txId: 'ab'.repeat(32) } }
  expect(verdict(await post(url, '/api/x402/node-test-again', made))).toBe('429 rate_limited')
  const header = Buffer.from(JSON.stringify({ scheme: 'exact', payload: {} })).toString('base64')
  expect(verdict(await post(url, '/api/x402/node-test-again', {}, { 'x-payment': header }))).toBe('429 rate_limited')
  const floods = await Promise.all(Array.from({ length: 60 }, () => buyer.settle(first)))
  const codes = new Set(floods.map((reply) => verdict(reply)))
  expect(codes).toEqual(new Set(['200 paid', '429 rate_limited']))
  expect((await post(url, '/api/x402/node-test-again', {})).status).toBe(402)
})
