import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { openerOf } from '../../../consensus/tx/redeem-lock.ts'
import { NATIVE_SCHEME } from '../../../rpc/cashier/options.ts'
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../../../rpc/server/limits.ts'
import { createServer } from '../../../rpc/server/server.ts'
import { ask, post, type Reply, verdict } from '../../support/api.ts'
import { closeRails, paymentOf, TestRail } from '../../support/dollar.ts'
import { AGAIN, closeMarkets, type TestPayment } from '../../support/market.ts'
import { until } from '../../support/processes.ts'
import { railNode } from '../../support/rail-node.ts'
import { head, RawConnections } from '../../support/raw-connections.ts'

const PATH = `/api/x402/${AGAIN}`
const HONEST = { 'x-forwarded-for': '198.51.100.1' }
const JSON_BODY = { 'content-type': 'application/json' }

let rail: TestRail
let app: FastifyInstance
let url: string
let raw: RawConnections
let bugs: unknown[]
let over: number

afterEach(async () => {
  raw.closeAll()
  await closeRails()
  await app.close()
  await closeMarkets()
  expect(bugs).toEqual([])
})

/** A node that sells, behind a proxy that names its clients. */
async function open(limits: Partial<HttpLimits>): Promise<void> {
  rail = await TestRail.open({ settleWaitMs: 20_000 })
  bugs = []
  over = 0
  app = await createServer(railNode(rail), {
    limits: { ...DEFAULT_HTTP_LIMITS, delayMsMax: 100_000, ...limits },
    trustProxy: true,
    onAnswer: () => {
      over += 1
    },
    onError: (error) => void bugs.push(error),
  })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
  raw = new RawConnections(url)
}

const inBase64 = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64')

/** The header of a native payment, by default a made-up one. */
const paidBy = ({ txId, secret }: Partial<TestPayment> = { txId: 'ab'.repeat(32) as TestPayment['txId'] }) => ({
  'payment-signature': inBase64({
    x402Version: 2,
    accepted: { scheme: NATIVE_SCHEME },
    payload: { txId, ...(secret && { secret: toHex(secret) }) },
  }),
})

const call = (request: string, headers = {}): Promise<Reply> => post(url, PATH, { request }, { ...HONEST, ...headers })

type Door = readonly [string, (payment: object, request: string, headers?: object) => Promise<Reply>]

/** A call whose body never ends. */
const begun = (address: string, headers = {}, path = PATH): string =>
  `${head(`POST ${path}`, { ...JSON_BODY, 'content-length': 1_000, 'x-forwarded-for': address, ...headers })}{`

describe('calls that wait for payments of others, from one network', () => {
  const pending = async (request: string, from: number): Promise<TestPayment> => {
    const payment = await rail.market.order(request, { serviceId: AGAIN, from })
    await rail.market.submit(payment.tx)
    return payment
  }
  const waiting = (payment: TestPayment, i: number) =>
    call(payment.request, { ...paidBy(payment), 'x-forwarded-for': `192.0.2.${i}` })

  it('leave a place to a payer who waits for its own payment, whether they wait for the same one or for four others', async () => {
    await open({})
    const own = await pending('ok:own', 3)
    const others = [own]
    for (let i = 0; i < 3; i++) others.push(await pending(`ok:${i}`, 1))
    // For each payment, one call more than may wait. That call is answered at once.
    const crowd = others.flatMap((payment) => Array.from({ length: 65 }, (_, i) => waiting(payment, i)))
    await until('all wait who may', () => over === others.length)
    const late = await pending('ok:late', 4)
    const paid = [call(own.request, paidBy(own)), call(late.request, paidBy(late))]
    await until('two have made room', () => over === others.length + paid.length)
    await rail.market.mineWaiting()
    expect((await Promise.all(paid)).map(verdict)).toEqual(['200 paid', '200 paid'])
    await Promise.all(crowd)
  })
})

describe('calls that look paid, with bodies that stop within a second', () => {
  it.each([
    ['of ten addresses', (i: number) => `192.${i % 10}.2.1`],
    ['of a /48 of IPv6', (i: number) => `2001:db8:1:${i.toString(16)}::1`],
    ['of a /24 of IPv4', (i: number) => `192.0.2.${i}`],
  ])('%s keep no caller from quotes and paid calls', async (_, addressOf) => {
    await open({ concurrentMax: 64 })
    for (let round = 0; round < 3; round++) {
      const paid = await rail.market.pay(`ok:${round}`, { serviceId: AGAIN })
      await Promise.all(Array.from({ length: 100 }, (__, i) => raw.openMany(1, begun(addressOf(i), paidBy()))))
      const quote = await call(paid.request)
      const answer = await call(paid.request, paidBy(paid))
      expect([quote.status, answer.status]).toEqual([402, 200])
      raw.closeAll()
    }
  })

  it('from ten addresses do not keep out a caller that pays over MCP', async () => {
    await open({ concurrentMax: 64 })
    const { txId, secret, request } = await rail.market.pay('ok:mcp', { serviceId: AGAIN })
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => raw.openMany(1, begun(`192.${i % 10}.2.1`, {}, '/api/mcp'))),
    )
    const payment = { txId, secret: toHex(secret as Uint8Array) }
    const params = { name: AGAIN, arguments: { request, payment } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const { status, text } = await post(url, '/api/mcp', message, {
      ...HONEST,
      accept: 'application/json, text/event-stream',
    })
    expect([status, text.replaceAll('\\"', '"')]).toEqual([200, expect.stringMatching(/"paid":true/)])
  })

  it('from a hundred networks leave room for a known payment in a header', async () => {
    await open({ concurrentMax: 100 })
    const paid = await rail.market.pay('ok:known', { serviceId: AGAIN })
    expect((await call(paid.request, paidBy(paid))).status).toBe(200)
    await Promise.all(Array.from({ length: 100 }, (_, i) => raw.openMany(1, begun(`192.${i}.2.1`, paidBy()))))
    expect((await call(paid.request, paidBy(paid))).status).toBe(200)
  })

  it('count against the limit of their path', async () => {
    await open({ ratesPerMinute: { ...DEFAULT_HTTP_LIMITS.ratesPerMinute, quote: 4 } })
    const given = await raw.openMany(4, begun('198.51.100.1'))
    for (const { socket } of given) socket.destroy()
    await until('they are over', () => over === 4)
    expect(verdict(await call('ok'))).toBe('429 rate_limited')
  })
})

describe('the extra calls that a known payment allows', () => {
  const STRANGER = { 'x-forwarded-for': '203.0.113.9' }
  const ratesOf = (settle: number) => ({ ratesPerMinute: { ...DEFAULT_HTTP_LIMITS.ratesPerMinute, settle } })
  const isPaid = ({ status, text }: Reply): boolean =>
    status === 200 && text.replaceAll('\\"', '"').includes('"paid":true')
  const MCP = { accept: 'application/json, text/event-stream' }
  const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
  const native = (txId: string, secret?: Uint8Array | null) => ({
    x402Version: 2,
    accepted: { scheme: NATIVE_SCHEME },
    payload: { txId, ...(secret && { secret: toHex(secret) }) },
  })
  /** Ways to offer a payment. */
  const doors: readonly [Door, ...Door[]] = [
    ['a header', (payment, request, headers) => call(request, { 'payment-signature': inBase64(payment), ...headers })],
    [
      'MCP',
      (payment, request, headers) => {
        const params = { name: AGAIN, arguments: { request }, _meta: { 'x402/payment': payment } }
        return post(url, '/api/mcp', rpc('tools/call', params), { ...HONEST, ...MCP, ...headers })
      },
    ],
    [
      'A2A',
      (payment, request, headers) => {
        const parts = [{ data: { serviceId: AGAIN, request } }]
        const metadata = { 'x402.payment.payload': payment }
        const message = { messageId: 'm', role: 'ROLE_USER', parts, metadata }
        return post(url, '/a2a', rpc('SendMessage', { message }), { ...HONEST, ...headers })
      },
    ],
  ]

  describe.each(doors)('over %s', (_, offer) => {
    it('need its secret, whatever strangers name', async () => {
      await open(ratesOf(0))
      const { txId, secret, request } = await rail.market.pay('ok:locked', { serviceId: AGAIN })
      const strangers = async (): Promise<readonly number[]> => {
        const named = [native(txId), native(txId, new Uint8Array(32).fill(7))]
        const replies = await Promise.all(Array.from({ length: 40 }, (__, i) => offer(named[i % 2] as object, 'ok:x')))
        return [...new Set(replies.map(({ status }) => status))]
      }
      for (const _state of ['open', 'claimed']) {
        expect(await strangers()).toEqual([429])
        expect(isPaid(await offer(native(txId, secret), request))).toBe(true)
      }
    })

    it('need its signature, whatever strangers make up', async () => {
      await open(ratesOf(1))
      const { payload } = paymentOf(rail.payer())
      const { payload: inner } = payload as { readonly payload: object }
      const forged = { ...payload, payload: { ...inner, signature: `0x${'11'.repeat(65)}` } }
      rail.market.workbench.hold()
      const first = offer(payload, 'ok:signed')
      await rail.reaches('executing')
      const strangers = await Promise.all(Array.from({ length: 40 }, () => offer(forged, 'ok:signed', STRANGER)))
      expect(strangers.filter(({ status }) => status !== 429)).toHaveLength(1)
      const joined = vi.spyOn(rail.till, 'settle')
      const again = offer(payload, 'ok:signed')
      await until('it waits for the answer', () => joined.mock.calls.length === 1)
      rail.market.workbench.release()
      expect([isPaid(await first), isPaid(await again)]).toEqual([true, true])
    })

    it('need its idempotency key, once its signature is public', async () => {
      await open(ratesOf(1))
      const { payload } = paymentOf(rail.payer())
      const key = { 'idempotency-key': 'my own' }
      expect(isPaid(await offer(payload, 'ok:named', key))).toBe(true)
      const strangers = [{}, { 'idempotency-key': 'made up' }].map((one) => ({ ...STRANGER, ...one }))
      const replies = await Promise.all(
        Array.from({ length: 40 }, (__, i) => offer(payload, 'ok:named', strangers[i % 2])),
      )
      expect(replies.filter(({ status }) => status !== 429)).toHaveLength(1)
      expect(isPaid(await offer(payload, 'ok:named', key))).toBe(true)
    })

    it('end when an answer without an idempotency key was handed over', async () => {
      await open(ratesOf(1))
      const { payload } = paymentOf(rail.payer())
      expect(isPaid(await offer(payload, 'ok:once'))).toBe(true)
      await until('that is written', async () => {
        const claim = await rail.claim()
        return claim?.state === 'settled' && claim.deliveredAtMs !== null
      })
      expect((await offer(payload, 'ok:once')).status).toBe(429)
    })
  })

  it('do not exist without a secret', async () => {
    await open(ratesOf(0))
    const { txId, request } = await rail.market.pay('ok:open', { serviceId: AGAIN, lock: 'none' })
    const [[, offer]] = doors
    for (const secret of [null, new Uint8Array(32)]) {
      expect((await offer(native(txId, secret), request)).status).toBe(429)
    }
  })

  it('need the secret of a payment without a lock, once it is claimed', async () => {
    await open(ratesOf(1))
    const { txId, secret, request } = await rail.market.pay('ok:bound', { serviceId: AGAIN, lock: 'commitment' })
    const [[, offer]] = doors
    expect(isPaid(await offer(native(txId, secret), request))).toBe(true)
    expect((await offer(native(txId, new Uint8Array(32)), request)).status).toBe(429)
    expect(isPaid(await offer(native(txId, secret), request))).toBe(true)
  })
})

describe('a caller who goes away', () => {
  it('has its place kept for as long as its call is worked on', async () => {
    await open({ concurrentMax: 4 })
    const list = (): Promise<Reply> => ask(url, '/api/v1/tokens', { headers: HONEST })
    rail.market.workbench.hold()
    for (let i = 0; i < 3; i++) {
      const body = JSON.stringify({ request: `ok:${i}` })
      const paid = { 'payment-signature': inBase64(paymentOf(rail.payer()).payload) }
      const from = { 'x-forwarded-for': `192.${i}.2.1`, 'content-length': body.length }
      const { socket } = raw.open(`${head(`POST ${PATH}`, { ...JSON_BODY, ...paid, ...from })}${body}`)
      await until('its work has begun', () => rail.runs === i + 1)
      socket.destroy()
      await until('the server saw it go', () => over === i + 1)
    }
    expect(verdict(await list())).toBe('503 node_busy')
    rail.market.workbench.release()
    await until('their places are free', async () => (await list()).status === 200)
    expect(rail.runs).toBe(3)
  })

  it('before its call was admitted has no work done for it', async () => {
    await open({ ratesPerMinute: { ...DEFAULT_HTTP_LIMITS.ratesPerMinute, settle: 1 } })
    const paid = await rail.market.order('ok:gone', { serviceId: AGAIN })
    expect((await call(paid.request, paidBy(paid))).status).toBe(402)
    const { store, till } = rail.market
    const settled = vi.spyOn(till, 'settle')
    let letIn: () => void = () => {}
    // A call with a known payment exceeds the rate limit after its payment was looked up.
    const asked = vi.spyOn(store, 'get').mockImplementationOnce(async () => {
      await new Promise<void>((resolve) => {
        letIn = resolve
      })
      return { opener: openerOf(paid.secret as Uint8Array) } as Awaited<ReturnType<typeof store.get>>
    })
    const body = JSON.stringify({ request: paid.request })
    const from = { ...HONEST, 'content-length': body.length }
    const { socket } = raw.open(`${head(`POST ${PATH}`, { ...JSON_BODY, ...paidBy(paid), ...from })}${body}`)
    await until('its payment is looked up', () => asked.mock.calls.length === 1)
    socket.destroy()
    await until('the server saw it go', () => over === 2)
    letIn()
    expect((await call('ok')).status).toBe(402)
    expect(settled).not.toHaveBeenCalled()
  })
})
