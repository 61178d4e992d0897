import { afterEach, describe, expect, it } from 'vitest'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { type Fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { callA2a } from '../../../rpc/a2a/endpoint.ts'
import { callService } from '../../../rpc/cashier/cashier.ts'
import { httpFault } from '../../../rpc/contract/http-faults.ts'
import { getExample } from '../../../rpc/handlers/market.ts'
import type { NodeApi } from '../../../rpc/node/node-api.ts'
import { isFault } from '../../../rpc/server/answer.ts'
import { HERE, sellingNode } from '../../support/discovery-node.ts'
import { AGAIN, closeMarkets, ONCE, type TestMarket, type TestPayment } from '../../support/market.ts'

afterEach(closeMarkets)

interface Told {
  readonly status?: number
  readonly error: string
  readonly code: string
  readonly accepts?: readonly unknown[]
}

const REQUEST = { params: {}, query: {}, headers: {}, address: '127.0.0.1', requestId: 'r', baseUrl: HERE }

async function selling(): Promise<{ readonly node: NodeApi; readonly market: TestMarket }> {
  const { node, market } = await sellingNode()
  const { till, store, sender, time } = market
  const api = { ...node.market, till, store, sender }
  return { node: { ...node, clock: time, market: api } as unknown as NodeApi, market }
}

/** A call over HTTP, with or without a payment. */
async function ask(node: NodeApi, change: object, query = {}): Promise<Told> {
  const { serviceId = ONCE, ...body } = change as { serviceId?: string }
  const answer = await callService(node, { ...REQUEST, query, params: { serviceId }, body } as never)
  if (isFault(answer)) return toldFault(answer)
  const { json, content } = answer as { json?: Told; content?: string }
  return json ?? (JSON.parse(content as string) as Told)
}

const toldFault = (cause: Fault): Told => ({ error: faultMessage(cause), code: httpFault(cause.code).api })

const offer = (node: NodeApi, { txId, secret, serviceId, request }: TestPayment, change: object = {}): Promise<Told> =>
  ask(node, {
    ...{ serviceId, request, payment: { txId, ...(secret !== null && { secret: toHex(secret) }) } },
    ...change,
  })

const WRONG_SECRET = 'cd'.repeat(32)

describe('a payment that works once the call is corrected', () => {
  it('is refused without new terms: with another secret or request, before and after it is claimed', async () => {
    const { node, market } = await selling()
    const payment = await market.pay('ok')
    const wrongSecret = { payment: { txId: payment.txId, secret: WRONG_SECRET } }
    for (const change of [wrongSecret, { request: 'ok:other' }]) {
      const told = await offer(node, payment, change)
      expect(told).toMatchObject({ code: 'payment_mismatch', accepts: [] })
      expect(told.error).toMatch(/Do not pay again: repeat the call .* at height [0-9]+\.$/)
    }
    expect(await offer(node, payment)).toMatchObject({ paid: true })
    const late = await offer(node, payment, wrongSecret)
    expect(late).toMatchObject({ code: 'payment_mismatch', accepts: [] })
    expect(late.error).toMatch(/Do not pay again: the payment was taken for this call/)
  })

  it('is refused with new terms if another payment is needed: with another amount', async () => {
    const { node, market } = await selling()
    const payment = await market.pay('ok', { amount: 100_000n })
    expect((await offer(node, payment)).accepts).toHaveLength(1)
  })
})

it('the refusal of a payment for another service says what it buys, and until when', async () => {
  const { node, market } = await selling()
  const payment = await market.pay('ok', { serviceId: AGAIN })
  const { deadline } = market.escrow(payment) as { deadline: number }
  const told = await offer(node, payment, { serviceId: ONCE })
  expect(told.error).toContain(`The payment still buys ${AGAIN} of shop.`)
  expect(told.error).toContain(`returns to the caller by itself at height ${deadline}`)
  expect(await offer(node, payment)).toMatchObject({ paid: true })
})

it('the refusal of a refunded payment says so, and in which transaction', async () => {
  const { node, market } = await selling()
  const payment = await market.pay('fail')
  const failed = await offer(node, payment)
  expect(failed.error).toMatch(/\. The payment goes back to its payer on chain: see refund\.$/)
  expect((await offer(node, payment, { request: 'ok' })).error).toMatch(/which failed, and its refund is on the way$/)
  await market.pass(500)
  await market.mineWaiting()
  const { receiptTxId } = market.closure(payment) as { receiptTxId: string }
  const again = await offer(node, payment, { request: 'ok' })
  expect(again.code).toBe('payment_already_redeemed')
  expect(again.error).toContain(`it was refunded in the transaction ${receiptTxId}`)
})

it('the refusal of a payment that consensus gave back says so', async () => {
  const { node, market } = await selling()
  const payment = await market.pay('ok', { term: 100 })
  await market.mineWaiting(101)
  expect(await offer(node, payment)).toMatchObject({
    code: 'payment_closed',
    error: expect.stringMatching(/it was refunded at its deadline, in the block at height [0-9]+$/),
  })
})

it('a closed service says what happens to a payment that it did not accept', async () => {
  const { node, market } = await selling()
  const payment = await market.pay('ok')
  await market.till.stop()
  const { error, code } = await offer(node, payment)
  expect(code).toBe('service_unavailable')
  expect(error).toMatch(/The payment [0-9a-f]{64} was not used\. .* unused, it is refunded on chain at height [0-9]+/)
})

it('a quote for a rail that is off says so', async () => {
  const { node } = await selling()
  expect((await ask(node, { request: 'ok' }, { rail: 'stable' })).error).toContain('this node takes no stablecoin')
  expect((await ask(node, { request: 'ok' })).error).not.toContain('stablecoin')
})

it('an example request for a mistyped service names the likely one', async () => {
  const { node } = await selling()
  const answer = await getExample(node, { ...REQUEST, params: { serviceId: 'node-test-onse' } } as never)
  expect(answer).toMatchObject({
    code: 'service/not-found',
    detail: { suggestions: ['node-test-once', AGAIN, 'node-test-closed'] },
  })
})

describe('over A2A', () => {
  interface Spoken {
    readonly result?: {
      readonly task?: { readonly status: { readonly message: { readonly parts: readonly { text: string }[] } } }
    }
    readonly error?: { readonly message: string; readonly data?: object }
  }
  const PAYMENT = { 'x402.payment.payload': { scheme: 'native-x402', payload: { txId: 'ab'.repeat(32) } } }

  async function say(parts: readonly object[], metadata: object = {}): Promise<Spoken> {
    const { node } = await selling()
    const message = { messageId: 'm', role: 'user', parts, metadata }
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    const answer = await callA2a(node, { ...REQUEST, body } as never)
    return JSON.parse((answer as { content: string }).content) as Spoken
  }

  it('a misspelt member of our own data is refused, but not one of other parties’ data', async () => {
    const { error } = await say([{ data: { serviceId: ONCE, reqest: 'ok' } }])
    expect(error?.message).toBe('there is no member reqest; did you mean request?')
    expect((await say([{ text: `${ONCE} ok` }, { data: { reqest: 'ok' } }])).error).toBeUndefined()
  })

  it('the refusal of an unknown service names likely ones, and says what happens to the payment', async () => {
    const data = { serviceId: 'node-test-onse', request: 'ok' }
    const unpaid = await say([{ data }])
    expect(unpaid.error).toMatchObject({
      message:
        'there is no service node-test-onse; did you mean node-test-once or node-test-again or node-test-closed?',
      data: { code: 'service_not_found', details: { suggestions: [ONCE, AGAIN, 'node-test-closed'] } },
    })
    for (const part of [{ data }, { text: 'node-test-onse ok' }])
      expect((await say([part], PAYMENT)).error?.message).toMatch(
        /node-test-once .*\? Nothing of your payment was used/,
      )
  })

  it('the refusal of an unusable request says not to pay for it', async () => {
    const { result } = await say([{ data: { serviceId: ONCE, request: 'refuse' } }])
    expect(result?.task?.status.message.parts[0]?.text).toMatch(/nothing to do.*Do not pay now/)
  })
})
