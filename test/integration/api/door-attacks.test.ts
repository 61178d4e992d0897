import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import type { DollarPayment } from '../../../marketplace/till/rails/dollar/claim.ts'
import { NATIVE_SCHEME } from '../../../rpc/cashier/options.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../rpc/server/limits.ts'
import { createServer } from '../../../rpc/server/server.ts'
import { type JsonBody, post, type Reply } from '../../support/api.ts'
import { closeRails, PRICE, paymentOf, TestRail } from '../../support/dollar.ts'
import { AGAIN, closeMarkets, type TestPayment } from '../../support/market.ts'
import { until } from '../../support/processes.ts'
import { railNode } from '../../support/rail-node.ts'

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
  app = await createServer(railNode(rail), { ...options, onError: (error) => void bugs.push(error) })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(async () => {
  await closeRails()
  await app.close()
  await closeMarkets()
  expect(bugs).toEqual([])
})

const inBase64 = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64')

function overHttp({ version, payload }: DollarPayment, request: string): Promise<Reply> {
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

describe('what a facilitator tells its operator', () => {
  const PATHS = [
    '/services.json',
    '/.well-known/x402',
    '/.well-known/x402.json',
    '/llms.txt',
    '/llms-full.txt',
    '/agents',
  ]
  const SEEN = /org.?4711|12\.34/

  /** Everything that callers are told, before and after they pay. */
  async function told(profile: 'refuses' | 'lying', words: string): Promise<string> {
    rail.facilitator.profile = profile
    rail.facilitator.words = words
    const texts: string[] = []
    for (const version of [1, 2] as const) {
      const paid = paymentOf(rail.payer(), {}, version)
      texts.push(JSON.stringify(await overHttp(paid, 'ok')))
      texts.push(JSON.stringify(await overHttp(paid, 'ok')))
      texts.push(JSON.stringify(await overMcp(paymentOf(rail.payer(), {}, version).payload, 'ok')))
    }
    for (const path of PATHS) texts.push(await (await fetch(url + path)).text())
    texts.push(JSON.stringify(await post(url, PATH, { request: 'ok' })))
    return texts.join('\n')
  }

  it.each([
    ['refuses', 'org-4711_owes_12.34'],
    ['lying', 'org-4711_owes_12.34'],
    ['lying', 'unexpected_balance_12.34_of_org-4711'],
    ['lying', 'unexpected: org 4711 owes 12.34'],
  ] as const)('is told no caller: it %s, and says %s', async (profile, words) => {
    expect(await told(profile, words)).not.toMatch(SEEN)
    expect(rail.pool.facts).toMatchObject([{ trouble: expect.stringMatching(SEEN) }])
  })

  it('shows callers no address either, if it cannot be reached', async () => {
    await rail.facilitator.close()
    const paid = paymentOf(rail.payer())
    const texts = [JSON.stringify(await overHttp(paid, 'ok')), await (await fetch(`${url}/.well-known/x402`)).text()]
    const { evmStableRail } = JSON.parse(texts[1] as string) as { evmStableRail: { authDetail: string; note: string } }
    expect(texts[0]).not.toContain(rail.facilitator.url)
    expect(`${texts[0]} ${evmStableRail.authDetail} ${evmStableRail.note}`).not.toMatch(/ECONN|127\.0\.0\.1/)
    expect(rail.pool.facts).toMatchObject([{ trouble: expect.stringContaining('ECONNREFUSED') }])
  })

  it('is shown to callers if it is a reason of x402', async () => {
    rail.facilitator.profile = 'refuses'
    expect(JSON.stringify(await overHttp(paymentOf(rail.payer()), 'ok'))).toContain('insufficient_funds')
  })
})

describe('one authorization through every door at once', () => {
  it('in both generations and other spellings is one run, one payment and the same answer', async () => {
    const payer = rail.payer()
    const second = paymentOf(payer)
    const { authorization, payload } = second
    const { payload: inner } = payload as { payload: { signature: string; authorization: object } }
    const { from, nonce } = authorization
    const upper = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`
    const shouted = { ...inner.authorization, from: upper(from), nonce: upper(nonce) }
    const first: DollarPayment = {
      ...second,
      version: 1,
      payload: {
        ...{ x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
        payload: { signature: upper(inner.signature), authorization: shouted },
      },
    }
    rail.market.workbench.hold()
    const taken = vi.spyOn(rail.till, 'settle')
    const answers = Promise.all([
      ...[overHttp(first, 'ok:doors'), overHttp(second, 'ok:doors')],
      ...[overMcp(payload, 'ok:doors'), overA2a({ serviceId: AGAIN, request: 'ok:doors' }, payload)],
    ])
    await rail.reaches('executing')
    // A call that arrives after the answer was handed over gets an error that says so.
    await until('all doors have taken it', () => taken.mock.calls.length === 4)
    expect(taken.mock.calls.map(([{ from }]) => from?.address)).toEqual(new Array(4).fill('127.0.0.1'))
    rail.market.workbench.release()
    for (const { status, text } of await answers) {
      expect(status).toBe(200)
      expect(text.replaceAll('\\"', '"')).toMatch(/"paid":true/)
    }
    expect([rail.runs, rail.income, rail.facilitator.count('/settle')]).toEqual([1, PRICE, 1])
  })
})

describe('hostile input at the doors', () => {
  it('does not take an object for the name of a service', async () => {
    const answers = [
      await overA2a({ serviceId: { toString: 1, valueOf: 2 }, request: 'ok' }),
      await overA2a({ serviceId: [[]], request: 'ok' }),
      await overA2a(JSON.parse('{"__proto__":{"serviceId":"x"},"serviceId":{"__proto__":null}}') as object),
    ]
    expect(answers.map(({ status }) => status < 500)).toEqual([true, true, true])
  })

  it('is not a text if it has half a surrogate pair', async () => {
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
      // Written by hand, because JSON.stringify cannot write such depth.
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
  it('has its native result kept longer than a result that was read', async () => {
    const { market } = rail
    const nativeHeader = ({ txId, secret }: TestPayment): string =>
      inBase64({
        x402Version: 2,
        accepted: { scheme: NATIVE_SCHEME },
        payload: { txId, secret: toHex(secret as Uint8Array) },
      })
    const cut = await market.pay(`ok:cut${'c'.repeat(5_000)}`, { serviceId: AGAIN })
    const read = await market.pay(`ok:read${'r'.repeat(4_999)}`, { serviceId: AGAIN })
    market.workbench.hold()
    const body = JSON.stringify({ request: cut.request })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const head = [
      ...[`POST ${PATH} HTTP/1.1`, 'host: 127.0.0.1', 'content-type: application/json'],
      ...[`content-length: ${body.length}`, `payment-signature: ${nativeHeader(cut)}`],
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    await until('the work has begun', () => rail.runs === 1)
    socket.destroy()
    await until('the server saw it go', async () => (await connections()) === 0)
    market.workbench.release()
    await until('the work is done', async () => (await market.store.get(cut.txId))?.state === 'delivered')
    market.time.nowMs += 1_000
    const answer = await post(url, PATH, { request: read.request }, { 'payment-signature': nativeHeader(read) })
    expect(answer.status).toBe(200)
    await until('it is noted', () => market.store.calls.includes('handedOver') && !market.store.busy)
    expect(await market.store.pruneResults(0, 6_000)).toBe(1)
    expect(await market.settle(cut)).toMatchObject({ ok: true, value: { replayed: true } })
    expect(await market.settle(read)).toMatchObject({ ok: false, fault: { code: 'pay/result-expired' } })
  })

  it('while the service works gets its answer when it comes again, even without an idempotency key', async () => {
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
