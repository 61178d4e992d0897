import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/checkout/settings.ts'
import type { StablePayment } from '../../marketplace/stable/claim.ts'
import { DEFAULT_HTTP_LIMITS } from '../../rpc/limits.ts'
import type { MarketApi, NodeApi } from '../../rpc/node.ts'
import { createServer } from '../../rpc/server.ts'
import { type JsonBody, post, type Reply } from '../support/api.ts'
import { AGAIN, closeMarkets } from '../support/market.ts'
import { until } from '../support/processes.ts'
import { closeRails, PRICE, paymentOf, TestRail } from '../support/stable.ts'

const MCP = { accept: 'application/json, text/event-stream' }
const PATH = `/api/x402/${AGAIN}`
let rail: TestRail
let app: FastifyInstance
let url: string
let bugs: unknown[]

beforeEach(async () => {
  rail = await TestRail.open({ settleWaitMs: 20_000 })
  bugs = []
  const options = { limits: DEFAULT_HTTP_LIMITS, trustProxy: false, onAnswer: () => {} }
  app = await createServer(nodeOf(rail), { ...options, onError: (error) => void bugs.push(error) })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(async () => {
  await closeRails()
  await app.close()
  await closeMarkets()
  expect(bugs).toEqual([])
})

/** A node that sells the test services over both rails. */
function nodeOf({ market, checkout }: TestRail): NodeApi {
  const { shop, price, store, settler, sender, mempool } = market
  const sold = { shop, price, store, settler, sender, checkout: market.checkout, settings: DEFAULT_MARKET_SETTINGS }
  return {
    version: 'test',
    startedAtMs: 0,
    clock: { now: Date.now },
    chain: market.test.chain,
    mempool,
    market: { ...sold, stable: checkout } as unknown as MarketApi,
    mining: () => ({ threads: 0, hashesPerSecond: 0, rewardTo: null }),
    peerCount: () => 0,
    notReadyBecause: () => [],
    metrics: async () => '',
    publicUrl: null,
  } as unknown as NodeApi
}

const inBase64 = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64')

function overHttp({ version, payload }: StablePayment, request: string): Promise<Reply> {
  return post(url, PATH, { request }, { [version === 1 ? 'x-payment' : 'payment-signature']: inBase64(payload) })
}

function overMcp(payment: unknown, request: string): Promise<Reply> {
  const params = { name: AGAIN, arguments: { request }, _meta: { 'x402/payment': payment } }
  return post(url, '/api/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, MCP)
}

function overA2a(data: object, payment?: unknown): Promise<Reply> {
  const metadata = payment === undefined ? {} : { metadata: { 'x402.payment.payload': payment } }
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data }], ...metadata }
  return post(url, '/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } })
}

describe('one authorization through every door at once', () => {
  it('in both generations and other spellings is one run, one payment and the same answer', async () => {
    const payer = rail.payer()
    const second = paymentOf(payer)
    const { authorization, payload } = second
    const { payload: inner } = payload as { payload: { signature: string; authorization: object } }
    const { from, nonce } = authorization
    const upper = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`
    const shouted = { ...inner.authorization, from: upper(from), nonce: upper(nonce) }
    const first: StablePayment = {
      ...second,
      version: 1,
      payload: {
        ...{ x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
        payload: { signature: upper(inner.signature), authorization: shouted },
      },
    }
    rail.market.workbench.hold()
    const answers = Promise.all([
      ...[overHttp(first, 'ok:doors'), overHttp(second, 'ok:doors')],
      ...[overMcp(payload, 'ok:doors'), overA2a({ serviceId: AGAIN, request: 'ok:doors' }, payload)],
    ])
    await rail.reaches('executing')
    rail.market.workbench.release()
    for (const { status, text } of await answers) {
      expect(status).toBe(200)
      expect(text.replaceAll('\\"', '"')).toMatch(/"paid":true/)
    }
    expect([rail.runs, rail.income, rail.facilitator.count('/settle')]).toEqual([1, PRICE, 1])
  })
})

describe('hostile input at the doors', () => {
  it('names no service by an object', async () => {
    const answers = [
      await overA2a({ serviceId: { toString: 1, valueOf: 2 }, request: 'ok' }),
      await overA2a({ serviceId: [[]], request: 'ok' }),
      await overA2a(JSON.parse('{"__proto__":{"serviceId":"x"},"serviceId":{"__proto__":null}}') as object),
    ]
    expect(answers.map(({ status }) => status < 500)).toEqual([true, true, true])
  })

  it('is no text where it holds half a character', async () => {
    const { payload } = paymentOf(rail.payer())
    const broken = `ok:\ud800`
    const answers = [
      await overA2a({ serviceId: AGAIN, request: broken }, payload),
      await overMcp(payload, broken),
      await post(url, PATH, `{"request":"ok:\\ud800"}`, { 'payment-signature': inBase64(payload) }),
    ]
    expect(answers.every(({ status }) => status < 500)).toBe(true)
    expect([rail.runs, rail.income]).toEqual([0, 0n])
  })

  it.each([
    ['is nested deep', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['is long', JSON.stringify('x'.repeat(200_000))],
    ['is a prototype', '{"__proto__":{"scheme":"exact"}}'],
  ])('that %s is refused, and nothing runs', async (_, text) => {
    const { payload } = paymentOf(rail.payer())
    const { accepted } = payload as { accepted: JsonBody }
    const more = JSON.parse(text) as unknown
    const forms = [
      { ...payload, extensions: more },
      { ...payload, accepted: { ...accepted, extra: more } },
      { ...payload, payload: more },
      { ...payload, payload: { signature: more, authorization: more } },
    ]
    const written = (form: object): string => {
      // Written by hand: what is this deep cannot be written by the runtime.
      const mark = JSON.stringify('MORE')
      const marked = JSON.stringify(form, (_key, value: unknown) => (value === more ? 'MORE' : value))
      return marked.replaceAll(mark, text)
    }
    for (const form of forms) {
      const body = (params: string): string => `{"jsonrpc":"2.0","id":1,${params}}`
      const call = `"method":"tools/call","params":{"name":"${AGAIN}","arguments":{"request":"ok"},"_meta":{"x402/payment":${written(form)}}}`
      const message = `{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"serviceId":"${AGAIN}","request":"ok"}}],"metadata":{"x402.payment.payload":${written(form)}}}`
      const answers = [
        await post(url, '/api/mcp', body(call), MCP),
        await post(url, '/a2a', body(`"method":"SendMessage","params":{"message":${message}}`)),
        await post(
          url,
          PATH,
          { request: 'ok' },
          { 'payment-signature': Buffer.from(written(form)).toString('base64').slice(0, 14_000) },
        ),
      ]
      expect(answers.every(({ status }) => status < 500)).toBe(true)
    }
    expect(rail.income).toBe(rail.runs === 0 ? 0n : PRICE)
  })
})

describe('a client that goes away', () => {
  it('while the service works gets its answer when it comes again, without a name', async () => {
    const payment = paymentOf(rail.payer())
    rail.market.workbench.hold()
    const body = JSON.stringify({ request: 'ok:cut' })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const head = [
      ...[`POST ${PATH} HTTP/1.1`, 'host: 127.0.0.1', 'content-type: application/json'],
      ...[`content-length: ${body.length}`, `payment-signature: ${inBase64(payment.payload)}`],
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    await rail.reaches('executing')
    socket.destroy()
    await until('the server saw it go', async () => (await connections()) === 0)
    rail.market.workbench.release()
    await rail.reaches('settled')
    expect(await rail.claim()).toMatchObject({ deliveredAtMs: null })
    const again = await overHttp(payment, 'ok:cut')
    expect([again.status, rail.income]).toEqual([200, PRICE])
    await until('it is delivered', async () => {
      const claim = await rail.claim()
      return claim?.state === 'settled' && claim.deliveredAtMs !== null
    })
    expect((await overHttp(payment, 'ok:cut')).status).toBe(409)
  })
})

function connections(): Promise<number> {
  return new Promise((resolve, reject) =>
    app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  )
}
