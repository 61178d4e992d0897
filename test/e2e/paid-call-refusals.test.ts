import { beforeAll, describe, expect, it } from 'vitest'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { NodeClient } from '../../rpc/client/node-client.ts'
import { ask, type CallView, post, type Reply, verdict } from '../support/api.ts'
import { Caller, marketOpen, type Payment, runsIn } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'

const workshop = new Workshop()
const runsFile = workshop.path('runs')
let daemon: RunningDaemon
let buyer: Caller

beforeAll(async () => {
  const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile }
  daemon = await workshop.start(workshop.folder(), { env, flags: ['--market-settle-wait-ms', '2000'] })
  await marketOpen(daemon.url)
  buyer = new Caller(daemon.url, 1)
})

const PATH = '/api/x402/node-test-again'
const PRICE = 800_000n
const UNKNOWN = 'ab'.repeat(32)
const ran = (request: string): number =>
  [...runsIn(runsFile)].filter(([line]) => line.endsWith(` ${request}`)).reduce((sum, [, count]) => sum + count, 0)

/** Expects that no work ran and no money was taken: the status of the call is still `paid`. */
async function expectUntouched({ txId, request }: Payment): Promise<void> {
  expect(ran(request)).toBe(0)
  expect(await buyer.request(txId)).toMatchObject({ status: 'paid', refund: null, receiptTxId: null })
}

/** Expects that the payment still buys its call, once. */
async function expectUsable(payment: Payment): Promise<void> {
  await expectUntouched(payment)
  const reply = await buyer.settle(payment)
  expect(verdict(reply)).toBe('200 paid')
  expect(reply.body.result).toEqual({ echo: payment.request })
  expect(ran(payment.request)).toBe(1)
}

/** Expects no payment terms, so that an automatic client of x402 version 1 or 2 does not pay a second time. */
function expectNoTerms({ headers, body }: Reply<CallView>): void {
  const header = Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()
  expect([body.accepts, body.offers]).toEqual([[], undefined])
  expect(JSON.parse(header)).toMatchObject({ x402Version: 2, accepts: [] })
  expect(header).not.toContain('native-x402')
}

describe('a payment that does not fit is refused with a fresh quote and nothing is consumed:', () => {
  it.each([-1n, 1n, 100_000n])('an amount that differs by %i base units', async (difference) => {
    const request = `ok:amount${difference}`
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request, amount: PRICE + difference })
    const reply = await buyer.settle(payment)
    expect(verdict(reply)).toBe('402 payment_mismatch')
    expect(reply.body.details).toMatchObject({
      ...{ got: `${formatAmount(PRICE + difference, 8)} FAR`, gotBaseUnits: String(PRICE + difference) },
      ...{ expected: '0.008 FAR', expectedBaseUnits: [String(PRICE)] },
    })
    const { height } = await buyer.transaction(payment.txId)
    expect(reply.body.error).toContain(`returns to the caller by itself at height ${height + 9_600}`)
    expect(reply.body.accepts).toHaveLength(1)
    await expectUntouched(payment)
  })

  it('a payment to another agent, whose operator can still give it back', async () => {
    const rival = new Caller(daemon.url, 9)
    const agentId = 'rival-agent'
    const key = rival.key.address
    const agent = { name: 'Rival', endpoint: '', capabilities: 32, payout: key, settlers: [key] }
    await rival.send('agent_register', { agentId, ...agent } as never)
    const texts = { name: 'Copy', requestFormat: '', description: '' }
    const service = { agentId, serviceId: 'node-test-again', capability: 5, priceUsdMicros: 2_000n, ...texts }
    const published = await rival.send('service_publish', service as never)
    await rival.mined(published.txId)
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:rival', agentId })
    const reply = await buyer.settle(payment)
    expect(verdict(reply)).toBe('402 payment_mismatch')
    expect(reply.body.details).toMatchObject({ field: 'the agent', got: agentId })
    expect(ran('ok:rival')).toBe(0)
    const before = await buyer.balance()
    const zero = '0'.repeat(64)
    const entry = { txId: payment.txId, outcome: 1, resultHash: zero, opener: zero, durationMs: 0 }
    const returned = await rival.send('agent_receipt', { entries: [entry] } as never)
    expect((await rival.mined(returned.txId)).receipt).toMatchObject({ entries: [0] })
    expect(await buyer.balance()).toBe(before + PRICE)
  })

  it('a payment for another service', async () => {
    const payment = await buyer.payMined({ serviceId: 'node-test-once', request: 'ok:service' })
    const reply = await buyer.settle(payment, { serviceId: 'node-test-again' })
    expect(verdict(reply)).toBe('402 payment_mismatch')
    expect(reply.body.details).toMatchObject({ got: 'node-test-once', expected: 'node-test-again' })
    await expectUsable(payment)
  })

  it('a transfer', async () => {
    const sent = await buyer.send('transfer', { to: buyer.key.address, amount: PRICE as never, create: false })
    await buyer.mined(sent.txId)
    const reply = await post<CallView>(daemon.url, PATH, { request: 'ok:transfer', payment: { txId: sent.txId } })
    expect(verdict(reply)).toBe('402 payment_mismatch')
    expect(reply.body.details).toMatchObject({ got: 'transfer', expected: 'agent_invoke' })
    expect(ran('ok:transfer')).toBe(0)
  })

  it('a payment that this node has never seen', async () => {
    const reply = await post<CallView>(daemon.url, PATH, { request: 'ok:unknown', payment: { txId: UNKNOWN } })
    expect(verdict(reply)).toBe('402 payment_not_found')
    expect(reply.body.error).toMatch(/^Do not pay again: /)
    expectNoTerms(reply)
    expect(ran('ok:unknown')).toBe(0)
  })

  it('a payment that cannot be read', async () => {
    const headers = { 'content-type': 'application/json', 'x-payment': 'none' }
    const body = JSON.stringify({ request: 'ok:unreadable' })
    const reply = await ask<CallView>(daemon.url, PATH, { method: 'POST', headers, body })
    expect(verdict(reply)).toBe('402 invalid_payment')
    expect(reply.body.error).toContain('do not pay again')
    expectNoTerms(reply)
  })

  it('a payment that was mined but failed, because its service does not exist', async () => {
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:failed' })
    const failing = { ...payment.tx.body.payload, serviceId: 'node-test-nowhere' }
    const before = await buyer.balance()
    const sent = await buyer.send('agent_invoke', failing as never)
    const { receipt } = await buyer.mined(sent.txId)
    expect(receipt).toMatchObject({ success: false, outcome: expect.stringMatching(/service-unknown$/) })
    expect(await buyer.balance()).toBe(before - BigInt(receipt.fee))
    const reply = await post<CallView>(daemon.url, PATH, { request: 'ok:failed', payment: { txId: sent.txId } })
    expect(verdict(reply)).toBe('402 payment_failed')
    expect(ran('ok:failed')).toBe(0)
    await expectUsable(payment)
  })
})

describe('a payment whose service was retired in the same block', () => {
  it('is no payment, and costs its fee alone', async () => {
    const folder = workshop.folder()
    const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile }
    const selling = await workshop.start(folder, { env })
    await marketOpen(selling.url)
    await selling.stop()
    // Without mining both transactions wait. The next start mines them in one block. The retirement stands in front by its higher tip.
    const idle = await workshop.start(folder, { env, mine: 0 })
    const [owner, late] = [new Caller(idle.url, 2), new Caller(idle.url, 3)]
    const order = { serviceId: 'node-test-once', request: 'ok:retired' }
    const payload = await late.invoke(order, new Uint8Array(32))
    const { agentId, serviceId } = payload
    await owner.send('service_retire', { agentId, serviceId }, { tip: 50n, maxFeeRate: 1_000n })
    const tx = await late.send('agent_invoke', payload)
    const before = await late.balance()
    await idle.stop()
    const again = await workshop.start(folder, { env })
    late.url = again.url
    const { receipt } = await late.mined(tx.txId)
    expect(receipt).toMatchObject({ success: false, outcome: expect.stringMatching(/service-retired$/) })
    const reply = await late.settle({ tx, txId: tx.txId, secret: null, amount: PRICE, ...order })
    expect(verdict(reply)).toMatch(/^(402 payment_failed|503 service_unavailable)$/)
    await marketOpen(again.url)
    const later = await late.settle({ tx, txId: tx.txId, secret: null, amount: PRICE, ...order })
    expect(verdict(later)).toBe('402 payment_failed')
    expect(later.body.refund).toBeUndefined()
    expect(await late.balance()).toBe(before - BigInt(receipt.fee))
    expect(ran('ok:retired')).toBe(0)
    expect((await again.stop()).code).toBe(0)
  })
})

describe('a payment that is not mined yet', () => {
  it('is waited for, then answered with "Do not pay again", and works once it is mined', async () => {
    const late = new Caller(daemon.url, 8)
    const client = new NodeClient(daemon.url)
    const toBuyer = { to: buyer.key.address, amount: 1n as never, create: false }
    await late.mined((await late.send('transfer', toBuyer)).txId)
    const secret = new Uint8Array(32)
    const payload = await late.invoke({ serviceId: 'node-test-again', request: 'ok:late' }, secret)
    // The transaction before it is withheld, so that this one waits and cannot be mined.
    const first = await late.sign('transfer', toBuyer)
    const tx = await late.sign('agent_invoke', payload, { ahead: 1n })
    expect((await client.submit(tx)).ok).toBe(true)
    const payment = { tx, txId: tx.txId, secret: null, serviceId: 'node-test-again', request: 'ok:late', amount: PRICE }
    const early = await late.offer(payment)
    expect(verdict(early)).toBe('402 payment_unconfirmed')
    expect(early.body.error).toMatch(/^Do not pay again/)
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(ran('ok:late')).toBe(0)
    const waiting = late.settle(payment)
    expect((await client.submit(first)).ok).toBe(true)
    expect(verdict(await waiting)).toBe('200 paid')
    expect(ran('ok:late')).toBe(1)
  })
})

describe('a malformed call is refused at once and leaves its payment usable:', () => {
  const cases: readonly (readonly [string, string, (txId: string) => unknown])[] = [
    ['400 malformed_json', 'JSON that breaks off', (txId) => `{"request":"ok","payment":{"txId":"${txId}"`],
    ['400 malformed_json', 'no JSON', () => 'request=ok'],
    ['400 invalid_request', 'a list', () => []],
    ['400 invalid_request', 'a text', () => '"ok"'],
    ['400 invalid_request', 'a number for a request', (txId) => ({ request: 7, payment: { txId } })],
    ['400 invalid_request', 'a payment without txId', () => ({ request: 'ok', payment: {} })],
    ['400 invalid_request', 'a payment that is a text', (txId) => ({ request: 'ok', payment: txId })],
    ['400 invalid_request', 'a payment that is null', () => ({ request: 'ok', payment: null })],
    ['400 invalid_request', 'a txId in capitals', (txId) => ({ request: 'ok', payment: { txId: txId.toUpperCase() } })],
    ['400 invalid_request', 'a txId with 0x', (txId) => ({ request: 'ok', payment: { txId: `0x${txId}` } })],
    ['400 invalid_request', 'a txId too short', (txId) => ({ request: 'ok', payment: { txId: txId.slice(1) } })],
    ['400 invalid_request', 'a txId that is a list', (txId) => ({ request: 'ok', payment: { txId: [txId] } })],
    ['400 invalid_request', 'a secret too short', (txId) => ({ request: 'ok', payment: { txId, secret: 'ab' } })],
    ['400 invalid_request', 'a secret of words', (txId) => ({ request: 'ok', payment: { txId, secret: 'open' } })],
  ]
  let payment: Payment

  beforeAll(async () => {
    payment = await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:malformed' })
  })

  it.each(cases)('%s for %s', async (expected, _, bodyOf) => {
    const reply = await post<CallView>(daemon.url, PATH, bodyOf(payment.txId))
    expect(verdict(reply)).toBe(expected)
    expect(reply.body.requestId).toBe(reply.headers.get('x-request-id'))
  })

  it('400 for a service id that is missing or no text, where the body names it', async () => {
    for (const serviceId of [undefined, 7, '', null]) {
      const reply = await post<CallView>(daemon.url, '/api/x402', { serviceId, request: 'ok:malformed' })
      expect(verdict(reply)).toBe('400 invalid_request')
    }
  })

  it('404 with suggestions for a service that is not sold here, paid or not', async () => {
    const { txId } = payment
    const names = ['node-test-agian', 'node-network-stat', '__proto__', 'constructor', 'toString']
    for (const serviceId of names) {
      for (const body of [{ request: 'ok' }, { request: 'ok', payment: { txId } }]) {
        const reply = await post<CallView>(daemon.url, `/api/x402/${serviceId}`, body)
        expect(verdict(reply)).toBe('404 service_not_found')
        const named = await post<CallView>(daemon.url, '/api/x402', { serviceId, ...body })
        expect(verdict(named)).toBe('404 service_not_found')
      }
    }
    const { body } = await post<CallView>(daemon.url, '/api/x402/node-network-stat', {})
    expect(body.details?.suggestions).toContain('node-network-stats')
  })

  it('400 for another network than mainnet, paid or not', async () => {
    const { txId } = payment
    for (const net of ['testnet', 'devnet', 'MAINNET', '', '1']) {
      for (const body of [{ request: 'ok' }, { request: 'ok:malformed', payment: { txId } }]) {
        const reply = await post<CallView>(daemon.url, `${PATH}?net=${net}`, body)
        expect(verdict(reply)).toBe('400 unsupported_network')
        expect(reply.body.details?.supported).toEqual(['mainnet'])
      }
    }
  })

  it('400 for a request text that the service cannot use', async () => {
    for (const request of ['refuse', '']) {
      const reply = await buyer.offer(payment, { request })
      expect(verdict(reply)).toBe('400 invalid_request')
      const deadline = (await buyer.transaction(payment.txId)).height + 9_600
      expect(reply.body.details).toMatchObject({ payment: payment.txId, deadline })
      expect(reply.body.error).toContain(
        `The payment ${payment.txId} was not used for it. Send it again with a corrected`,
      )
      expect(reply.body.error).toContain(`unused, it is refunded on chain at height ${deadline} (about 20`)
    }
    expect(verdict(await post(daemon.url, PATH, { payment: { txId: payment.txId } }))).toBe('400 invalid_request')
  })

  it('and says so where the payment commits to one request, is for another service, or is not there', async () => {
    const order = { serviceId: 'node-test-again', request: 'ok:committed' }
    const committed = await buyer.payMined({ ...order, lock: 'commitment' })
    const other = await buyer.payMined({ ...order, serviceId: 'node-test-once' })
    const said = async (paid: Payment): Promise<unknown> =>
      (await buyer.offer({ ...paid, ...order }, { request: 'refuse' })).body.details?.refund
    expect(await said(committed)).toMatch(/^It commits to one request: send it again with that one; unused, .* height/)
    expect(await said(other)).toMatch(/^It pays for node-test-once of [a-z0-9-]+ alone; unused, .* height/)
    expect(await said({ ...committed, txId: UNKNOWN as never })).toMatch(/^This node knows no escrow of it/)
  })

  it('and after all of that the payment buys what it was made for', async () => {
    await expectUsable(payment)
  })
})

describe('a locked payment', () => {
  const WRONG = 'cd'.repeat(32)

  it('cannot be redeemed by a reader of the chain, neither before nor after delivery', async () => {
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:locked', lock: 'lock' })
    expect(verdict(await buyer.settle(payment, { secret: null }))).toBe('400 invalid_request')
    expect(verdict(await buyer.settle(payment, { secret: WRONG }))).toBe('402 payment_mismatch')
    await expectUsable(payment)
    for (const secret of [null, WRONG]) {
      const reply = await buyer.offer(payment, { secret })
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.text).not.toContain('"result"')
      expect(reply.text).not.toContain('ok:locked')
    }
    expect(verdict(await buyer.offer(payment))).toBe('200 paid')
    expect(ran('ok:locked')).toBe(1)
  })

  it('cannot be redeemed by another while it runs', async () => {
    const request = 'slow:1000'
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request, lock: 'lock' })
    const own = buyer.settle(payment)
    await buyer.requestIn(payment.txId, 'executing')
    for (const secret of [null, WRONG]) {
      const reply = await buyer.offer(payment, { secret })
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.text).not.toContain('"result"')
    }
    expect(verdict(await own)).toBe('200 paid')
  })

  it.each(['lock', 'commitment'] as const)('with a %s pays for the very request that it commits to', async (lock) => {
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request: `ok:committed-${lock}`, lock })
    const other = await buyer.settle(payment, { request: 'ok:another' })
    expect(verdict(other)).toBe('402 payment_mismatch')
    expect(other.body.details).toMatchObject({ field: 'the request' })
    expect(ran('ok:another')).toBe(0)
    await expectUsable(payment)
  })
})
