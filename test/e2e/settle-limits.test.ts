import { expect, it } from 'vitest'
import { post, verdict } from '../support/api.ts'
import { Caller, marketOpen } from '../support/caller.ts'
import { Workshop } from '../support/daemon.ts'

const workshop = new Workshop()

it('a caller who has used up the allowance of settles still gets the calls it paid for, and no other caller does', async () => {
  const flags = ['--rpc-rate-settle', '1', '--rpc-rate-quote', '1000']
  const { url } = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' }, flags })
  await marketOpen(url)
  const buyer = new Caller(url, 1)
  const [first, second] = [
    await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:1', lock: 'lock' }),
    await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:2', lock: 'lock' }),
  ]
  expect(verdict(await buyer.settle(first))).toBe('200 paid')
  // The second call has no claim yet, but its escrow is open.
  expect(verdict(await buyer.settle(second))).toBe('200 paid')
  for (const payment of [first, second, first]) {
    const again = await buyer.settle(payment)
    expect([verdict(again), again.headers.get('idempotent-replay')]).toEqual(['200 paid', 'true'])
  }
  const made = { request: 'ok:1', payment: { txId: 'ab'.repeat(32) } }
  expect(verdict(await post(url, '/api/x402/node-test-again', made))).toBe('429 rate_limited')
  const payload = { txId: 'cd'.repeat(32) }
  const header = Buffer.from(JSON.stringify({ scheme: 'native-x402', payload })).toString('base64')
  expect(verdict(await post(url, '/api/x402/node-test-again', {}, { 'x-payment': header }))).toBe('429 rate_limited')
  const tool = (txId: string) => ({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'node-test-again', arguments: { request: 'ok:2', payment: { txId, secret: second.secret } } },
  })
  const accept = { accept: 'application/json, text/event-stream' }
  expect((await post(url, '/api/mcp', tool(second.txId), accept)).status).toBe(200)
  expect((await post(url, '/api/mcp', tool('ab'.repeat(32)), accept)).status).toBe(429)
  const floods = await Promise.all(Array.from({ length: 60 }, () => buyer.settle(first)))
  const codes = new Set(floods.map((reply) => verdict(reply)))
  expect(codes).toEqual(new Set(['200 paid', '429 rate_limited']))
  expect((await post(url, '/api/x402/node-test-again', {})).status).toBe(402)
})

it('who has the secret of a payment gets the calls that it is good for, also where strangers name it', async () => {
  const flags = ['--rpc-rate-settle', '1', '--rpc-rate-mcp', '1', '--rpc-trust-proxy', 'true']
  const { url } = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' }, flags })
  await marketOpen(url)
  const buyer = new Caller(url, 1)
  const { txId, secret, request } = await buyer.payMined({
    ...{ serviceId: 'node-test-again', request: 'ok:1', lock: 'lock' },
  })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const offer = (payment: object, address: string) =>
    post(url, '/api/x402/node-test-again', { request, payment }, from(address))
  const payer = '198.51.100.1'
  expect(verdict(await offer({ txId: 'ab'.repeat(32) }, payer))).toBe('402 payment_not_found')
  const named = [{ txId }, { txId, secret: 'cd'.repeat(32) }]
  const strangers = await Promise.all(
    Array.from({ length: 45 }, (_, i) => offer(named[i % 2] as object, '203.0.113.9')),
  )
  expect(strangers.filter(({ status }) => status !== 429)).toHaveLength(1)
  // In the first round the payment has no claim yet, in the second it has one.
  for (const isAgain of [false, true]) {
    const paid = await offer({ txId, secret }, payer)
    expect([verdict(paid), paid.headers.has('idempotent-replay')]).toEqual(['200 paid', isAgain])
    for (const payment of named) expect((await offer(payment, '203.0.113.9')).status).toBe(429)
  }
})

it('who has used up his quotes can still pay, and a mark of a payment buys no further quote', async () => {
  const flags = ['--rpc-rate-settle', '1000', '--rpc-rate-quote', '2', '--rpc-rate-mcp', '2']
  const { url } = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' }, flags })
  await marketOpen(url)
  const path = '/api/x402/node-test-again'
  const policies = async (bodies: readonly unknown[], at: string, headers: Record<string, string> = {}) => {
    const replies = await Promise.all(bodies.map((body) => post(url, at, body, headers)))
    return replies.map((reply) => reply.headers.get('ratelimit-policy')?.split(';')[0])
  }
  const marked = [{ payment: null }, { payment: { txId: 'x' } }, { params: { _meta: { 'x402/payment': 1 } } }]
  expect(await policies(marked, path)).toEqual(marked.map(() => '"quote"'))
  expect(await policies([{}], path, { 'x-payment': 'e30=' })).toEqual(['"quote"'])
  const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
  const free = [
    call('tools/list', { _meta: { 'x402/payment': { scheme: 'native-x402', payload: { txId: 'ab'.repeat(32) } } } }),
    call('tools/call', { name: 'search_services', arguments: { payment: { txId: 'ab'.repeat(32) } } }),
  ]
  expect(await policies(free, '/api/mcp', { 'x-payment': 'e30=' })).toEqual(['"mcp"', '"mcp"'])
  expect((await post(url, path, {})).status).toBe(429)
  const made = await post(url, path, { request: 'ok:1', payment: { txId: 'ab'.repeat(32) } })
  expect([made.status, made.headers.get('ratelimit-policy')]).toEqual([402, '"settle";q=1000;w=60'])
})
