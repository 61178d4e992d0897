import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CallView, type JsonBody, post } from '../../support/api.ts'
import { marketOpen, runsIn } from '../../support/caller.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { mineOnDemand } from '../../support/mine-by-hand.ts'
import { signNative } from '../mcp/buyer.ts'
import { type DollarOffer, paymentObject, signOffer } from '../x402/payments.ts'
import { PRICE, PURSE, Shop } from '../x402/shop.ts'

const workshop = new Workshop()
const SOLD = 'node-test-again'
const ACCEPT = { accept: 'application/json, text/event-stream' }
const runsFile = workshop.path('runs')
let shop: Shop
let daemon: RunningDaemon
let endMining: () => Promise<void>

beforeAll(async () => {
  shop = await Shop.open(workshop)
  const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile }
  daemon = await workshop.start(workshop.folder(), { mine: 0, env })
  // A quote lasts some tens of blocks. A steady miner could find them while a busy machine signs, so mine on demand.
  endMining = mineOnDemand(daemon.url)
  await marketOpen(daemon.url)
})
afterAll(async () => {
  await endMining()
  await shop.close()
})

interface Rpc {
  readonly result: JsonBody & { readonly task: TaskView; readonly structuredContent: CallView }
}
interface TaskView {
  readonly id: string
  readonly metadata?: { readonly paymentId: string }
  readonly status: { readonly state: string; readonly message: { readonly metadata: JsonBody } }
  readonly artifacts?: readonly { readonly parts: readonly { readonly data: CallView }[] }[]
}

async function rpc(url: string, path: string, method: string, params: object): Promise<Rpc['result']> {
  const body = { jsonrpc: '2.0', id: 1, method, params }
  return (await post<Rpc & JsonBody>(url, path, body, ACCEPT)).body.result
}

function overA2a(url: string, request: string, payment?: object): Promise<Rpc['result']> {
  const parts = [{ data: { serviceId: SOLD, request } }]
  const metadata = payment && { metadata: { 'x402.payment.payload': payment } }
  return rpc(url, '/a2a', 'SendMessage', {
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...metadata },
  })
}

function overMcp(url: string, request: string, payment: object): Promise<Rpc['result']> {
  const _meta = { 'x402/payment': payment }
  return rpc(url, '/api/mcp', 'tools/call', { name: SOLD, arguments: { request }, _meta })
}

const artifactOf = ({ task }: Rpc['result']): CallView | undefined => task.artifacts?.[0]?.parts[0]?.data

/** Signs a dollar payment for a task. */
async function order(request: string) {
  const { task } = await overA2a(shop.url, request)
  const required = task.status.message.metadata['x402.payment.required'] as { readonly accepts: readonly DollarOffer[] }
  const offer = required.accepts.find(({ scheme }) => scheme === 'exact') as DollarOffer
  const payer = await shop.chain.payer(PURSE)
  return { payer, payment: paymentObject(2, offer, await signOffer(payer, offer)) }
}

it('is paid in dollars over A2A, and the paid call is found by the id of its payment', async () => {
  const request = shop.newRequest()
  const { payer, payment } = await order(request)
  const paid = await overA2a(shop.url, request, payment)
  expect(paid.task.status.state).toBe('TASK_STATE_COMPLETED')
  expect(artifactOf(paid)).toMatchObject({ paid: true, result: { echo: request } })
  expect([await shop.spent(payer), shop.runs({ serviceId: SOLD, request })]).toEqual([PRICE, 1])
  const [receipt] = paid.task.status.message.metadata['x402.payment.receipts'] as readonly JsonBody[]
  expect(receipt).toMatchObject({ success: true, network: 'eip155:84532' })
  const task = (await rpc(shop.url, '/a2a', 'GetTask', { id: paid.task.metadata?.paymentId })) as unknown as TaskView
  expect(task.status.state).toBe('TASK_STATE_COMPLETED')
  expect(task.status.message.metadata['x402.payment.receipts']).toEqual([receipt])
})

it('one authorization through all doors at once runs once and is charged once', async () => {
  const request = shop.newRequest()
  const { payer, payment } = await order(request)
  const [overHttp, tool, task] = await Promise.all([
    post<CallView>(
      shop.url,
      `/api/x402/${SOLD}`,
      { request },
      { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') },
    ),
    overMcp(shop.url, request, payment),
    overA2a(shop.url, request, payment),
  ])
  const results = [overHttp.body.result, tool.structuredContent.result, artifactOf(task)?.result]
  expect(results.filter((result) => result !== undefined).length).toBeGreaterThan(0)
  for (const result of results) expect([undefined, request]).toContain(result?.echo)
  expect([await shop.spent(payer), shop.runs({ serviceId: SOLD, request })]).toEqual([PRICE, 1])
})

it('one native payment through all doors at once runs once, and every door has the same answer', async () => {
  const request = 'ok:native'
  const { url } = daemon
  const { txId, secret, raw } = await signNative(url, SOLD, request)
  await post(url, '/api/v1/tx', { raw })
  const payment = { x402Version: 1, scheme: 'native-x402', network: 'mainnet', payload: { txId, secret } }
  const [overHttp, tool, task] = await Promise.all([
    post<CallView>(url, `/api/x402/${SOLD}`, { request, payment: { txId, secret } }),
    overMcp(url, request, payment),
    overA2a(url, request, payment),
  ])
  expect(overHttp.body).toMatchObject({ paid: true, result: { echo: request } })
  expect([tool.structuredContent, artifactOf(task)]).toEqual([overHttp.body, overHttp.body])
  expect(runsIn(runsFile).get(`${SOLD} ${request}`)).toBe(1)
})
