import { parsePaymentRequired } from '@x402/core/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type CallView, post } from '../../support/api.ts'
import { marketOpen, runsIn, tabsOpen } from '../../support/caller.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { mineOnDemand } from '../../support/mine-by-hand.ts'
import { nativePayment, signNative } from './buyer.ts'
import { type AgentClient, CLIENTS, connect, type ResultView } from './clients.ts'

const workshop = new Workshop()
const runsFile = workshop.path('runs')
let daemon: RunningDaemon
let endMining: () => Promise<void>
let requests = 0

beforeAll(async () => {
  const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile }
  daemon = await workshop.start(workshop.folder(), { mine: 0, env })
  // A quote lasts some tens of blocks. A steady miner could find them while a busy machine signs, so mine on demand.
  endMining = mineOnDemand(daemon.url)
  await marketOpen(daemon.url)
  await tabsOpen(daemon.url)
})
afterAll(() => endMining())

const FREE = ['search_services', 'get_service', 'get_quote', 'get_receipt', 'node_status', 'submit_transaction']
const SOLD = 'node-test-again'
const LIST_BYTES_MAX = 400_000
const PAYMENT = 'x402/payment'
const RESPONSE = 'x402/payment-response'

const newRequest = (): string => `ok:${++requests}`
const runs = (request: string): number => runsIn(runsFile).get(`${SOLD} ${request}`) ?? 0
const textOf = ({ content }: ResultView): unknown => JSON.parse(content[0]?.text ?? '')

describe.each(CLIENTS)('the official client %s', (name) => {
  let client: AgentClient

  beforeAll(async () => {
    client = await connect(name, daemon.url)
  })
  afterAll(() => client?.close())

  /** Signs a payment and sends its transaction over MCP. */
  async function pay(request: string) {
    const payment = await signNative(daemon.url, SOLD, request)
    const sent = await client.call('submit_transaction', { tx: payment.raw })
    expect(sent).toMatchObject({ structuredContent: { txId: payment.txId, status: 'mempool' } })
    return payment
  }

  it('is told how to pay in five lines', () => {
    expect(client.instructions?.split('\n')).toHaveLength(5)
    if (name === '2026-07-28') expect(client.version).toBe('2026-07-28')
  })

  it('lists the free tools and one for each service that can be bought', async () => {
    const tools = await client.tools()
    const { body } = await ask<{ readonly services: readonly { serviceId: string; available: boolean }[] }>(
      daemon.url,
      '/services.json',
    )
    const available = body.services.filter((service) => service.available).map(({ serviceId }) => serviceId)
    expect(available.length).toBeLessThan(body.services.length)
    expect(tools.map((tool) => tool.name)).toEqual([...FREE, ...available])
    expect(JSON.stringify(tools).length).toBeLessThan(LIST_BYTES_MAX)
    for (const { title, description, annotations, outputSchema, name: tool } of tools) {
      expect(title).toEqual(expect.any(String))
      expect(description).toMatch(tool.startsWith('node-') ? /Price: \$.+ per call/ : /./)
      expect(Object.keys(annotations ?? {})).toEqual(
        expect.arrayContaining(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']),
      )
      expect(outputSchema !== undefined).toBe(!tool.startsWith('node-'))
    }
  })

  it('uses the free tools, whose results fit their schemas and are there as text too', async () => {
    const results = [
      await client.call('search_services', { query: 'test', maxPriceUsd: 0.002, limit: 1 }),
      await client.call('get_service', { serviceId: SOLD }),
      await client.call('get_quote', { serviceId: SOLD, request: 'refuse' }),
      await client.call('node_status'),
    ]
    for (const result of results) {
      expect(result.isError).toBeFalsy()
      expect(textOf(result)).toEqual(result.structuredContent)
    }
    const [found, service, quote, status] = results.map(({ structuredContent }) => structuredContent)
    expect(found).toMatchObject({ total: 3, services: [{ serviceId: SOLD, priceUsd: 0.002 }] })
    expect(service).toMatchObject({ service: { serviceId: SOLD }, request: 'ok', result: { echo: 'ok' } })
    expect(quote).toMatchObject({ x402: true, requestValid: false, accepts: [], offers: [{ scheme: 'native-x402' }] })
    expect(status).toMatchObject({ ready: true, chainId: 1 })
  })

  it('is told as a result what is wrong with its arguments', async () => {
    const refused = [
      await client.call('search_services', { limit: 'many' }),
      await client.call('get_service', { serviceId: 'node-network-stat' }),
      await client.call('get_receipt', { txId: 'ab'.repeat(32) }),
      await client.call('submit_transaction', { tx: 'abcd' }),
      await client.call(SOLD, { request: 7 }),
    ]
    expect(refused.map((result) => [result.isError, (textOf(result) as CallView).code])).toEqual([
      [true, 'invalid_request'],
      [true, 'service_not_found'],
      [true, 'request_not_found'],
      [true, 'malformed_bytes'],
      [true, 'invalid_request'],
    ])
    expect(textOf(refused[1] as ResultView)).toMatchObject({
      details: { suggestions: expect.arrayContaining(['node-network-stats']) },
    })
    await expect(client.call('node-nothing')).rejects.toMatchObject({ code: -32_602 })
  })

  it('is shown the terms of a paid tool, which the official x402 library reads', async () => {
    await client.tools()
    const unpaid = await client.call(SOLD, { request: 'ok' })
    expect(unpaid.isError).toBe(true)
    expect(textOf(unpaid)).toEqual(unpaid.structuredContent)
    expect(parsePaymentRequired(unpaid.structuredContent)).toMatchObject({
      success: true,
      data: {
        ...{ x402Version: 2, resource: { url: `mcp://tool/${SOLD}` } },
        accepts: [{ scheme: 'native-x402' }, { scheme: 'batch-settlement' }],
      },
    })
    const mistyped = await client.call(SOLD, { request: 'refuse' })
    expect(mistyped.structuredContent).toMatchObject({ requestValid: false, requestError: { example: 'ok' } })
  })

  it.each([1, 2] as const)('pays in generation %i, gets the result once and the same again', async (generation) => {
    const request = newRequest()
    const payment = await pay(request)
    const meta = { [PAYMENT]: nativePayment(payment, generation) }
    const paid = await client.call(SOLD, { request }, meta)
    expect(paid.isError).toBeFalsy()
    expect(paid.structuredContent).toMatchObject({
      paid: true,
      result: { echo: request },
      receipt: { txId: payment.txId },
    })
    expect(textOf(paid)).toEqual(paid.structuredContent)
    const settlement = { success: true, transaction: payment.txId, network: 'farthing:1', payer: expect.any(String) }
    expect(paid._meta?.[RESPONSE]).toEqual(settlement)
    const again = await client.call(SOLD, { request }, meta)
    expect(again.structuredContent).toEqual(paid.structuredContent)
    const { txId, secret } = payment
    const overHttp = await post<CallView>(daemon.url, `/api/x402/${SOLD}`, { request, payment: { txId, secret } })
    expect(overHttp.status).toBe(200)
    expect(overHttp.body).toEqual(paid.structuredContent)
    expect(runs(request)).toBe(1)
    const receipt = await client.call('get_receipt', { txId })
    expect(receipt.structuredContent).toMatchObject({ txId, status: 'completed' })
  })

  it('pays through an argument', async () => {
    const request = newRequest()
    const { txId, secret } = await pay(request)
    const paid = await client.call(SOLD, { request, payment: { txId, secret } })
    expect(paid.structuredContent).toMatchObject({ paid: true, result: { echo: request } })
    const other = await client.call(SOLD, { request: newRequest(), payment: { txId, secret } })
    expect(other.isError).toBe(true)
    expect(other.structuredContent).toMatchObject({ code: 'payment_already_redeemed' })
    expect(other.structuredContent).not.toHaveProperty('accepts')
  })

  it('is not asked to pay again for a payment that is merely not there yet', async () => {
    const payment = await signNative(daemon.url, SOLD, newRequest())
    const early = await client.call(SOLD, { request: 'ok' }, { [PAYMENT]: nativePayment(payment) })
    expect(early.isError).toBe(true)
    expect(early.structuredContent).toMatchObject({ code: 'payment_not_found', retry: true })
    expect(early.structuredContent).not.toHaveProperty('accepts')
  })

  it('is not asked to pay again for a payment that cannot be read', async () => {
    const unreadable = await client.call(SOLD, { request: 'ok' }, { [PAYMENT]: { scheme: 'native-x402', payload: {} } })
    expect(unreadable.isError).toBe(true)
    expect(unreadable.structuredContent).toMatchObject({ code: 'invalid_payment', retry: false })
    expect(unreadable.structuredContent).not.toHaveProperty('accepts')
  })

  it('is refunded for a service that fails', async () => {
    const payment = await signNative(daemon.url, 'node-test-once', 'fail')
    await client.call('submit_transaction', { tx: payment.raw })
    const failed = await client.call('node-test-once', { request: 'fail' }, { [PAYMENT]: nativePayment(payment) })
    expect(failed.isError).toBe(true)
    expect(failed.structuredContent).toMatchObject({ code: 'upstream_failed', refund: { amount: 0.008 } })
    expect(failed.structuredContent).not.toHaveProperty('result')
  })

  it('may go away: the call is finished, and a repeat has its answer', async () => {
    const request = `slow:${1_500 + ++requests}`
    const payment = await pay(request)
    const meta = { [PAYMENT]: nativePayment(payment) }
    const gone = new AbortController()
    const call = client.call(SOLD, { request }, meta, gone.signal)
    setTimeout(() => gone.abort(), 300)
    await expect(call).rejects.toThrow()
    const paid = await client.call(SOLD, { request }, meta)
    expect(paid.structuredContent).toMatchObject({ paid: true, result: { echo: request } })
    expect(runs(request)).toBe(1)
  })

  it('reads resources and prompts', async () => {
    expect(await client.resources()).toEqual(['node://services', 'node://llms.txt', 'node://openapi'])
    expect(await client.templates()).toEqual(['node://services/{serviceId}'])
    expect(JSON.parse(await client.read('node://services'))).toMatchObject({ network: 'mainnet' })
    expect(await client.read('node://llms.txt')).toMatch(/^# /)
    expect(JSON.parse(await client.read('node://openapi'))).toMatchObject({ openapi: '3.1.0' })
    expect(JSON.parse(await client.read(`node://services/${SOLD}`))).toMatchObject({ service: { serviceId: SOLD } })
    for (const uri of ['node://services/none', 'node://services/__proto__', 'node://other', 'file:///etc/passwd'])
      await expect(client.read(uri)).rejects.toMatchObject({ code: -32_602 })
    expect(await client.prompts()).toEqual(['pay_and_call', 'find_service'])
    expect(await client.prompt('pay_and_call', { serviceId: SOLD })).toContain(SOLD)
    expect(await client.prompt('find_service', { task: 'a price', maxPriceUsd: '0.01' })).toContain('0.01')
    await expect(client.prompt('find_service', {})).rejects.toMatchObject({ code: -32_602 })
    await expect(client.prompt('toString', {})).rejects.toMatchObject({ code: -32_602 })
  })
})
