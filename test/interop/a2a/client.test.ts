import { randomUUID } from 'node:crypto'
import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk'
import { type Client, ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type JsonBody, post } from '../../support/api.ts'
import { marketOpen, runsIn, tabsOpen } from '../../support/caller.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { mineOnDemand } from '../../support/mine-by-hand.ts'
import { nativePayment, signNative } from '../mcp/buyer.ts'

const workshop = new Workshop()
const runsFile = workshop.path('runs')
const folder = workshop.folder()
const SOLD = 'node-test-again'
const STATUS = 'x402.payment.status'
let daemon: RunningDaemon
let endMining: () => Promise<void>
let client: Client
let requests = 0

async function start(): Promise<void> {
  daemon = await workshop.start(folder, { mine: 0, env: { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile } })
  // A quote lasts some tens of blocks. A steady miner could find them while a busy machine signs, so mine on demand.
  endMining = mineOnDemand(daemon.url)
  await marketOpen(daemon.url)
  await tabsOpen(daemon.url)
  client = await new ClientFactory({ transports: [new JsonRpcTransportFactory()] } as never).createFromUrl(daemon.url)
}

async function kill(): Promise<void> {
  await endMining()
  await daemon.kill()
}

beforeAll(start)
afterAll(kill)

const newRequest = (): string => `ok:a2a${++requests}`
const runs = (request: string): number => runsIn(runsFile).get(`${SOLD} ${request}`) ?? 0

/** Parts of a message; absent parts are not sent. */
interface Said {
  readonly text?: string
  readonly data?: object
  readonly task?: Task
  readonly metadata?: JsonBody
}

function messageOf({ text, data, task, metadata }: Said): Message {
  const parts = [
    ...(text === undefined ? [] : [{ content: { $case: 'text', value: text } }]),
    ...(data === undefined ? [] : [{ content: { $case: 'data', value: data } }]),
  ].map((part) => ({ ...part, metadata: undefined, filename: '', mediaType: '' }))
  return {
    messageId: randomUUID(),
    contextId: task?.contextId ?? '',
    taskId: task?.id ?? '',
    role: Role.ROLE_USER,
    parts,
    metadata,
    extensions: [],
    referenceTaskIds: [],
  } as never
}

async function send(said: Said, returnImmediately = false): Promise<Task> {
  const configuration = { acceptedOutputModes: [], returnImmediately } as never
  const answer = await client.sendMessage({ message: messageOf(said), tenant: '', configuration, metadata: undefined })
  return answer as Task
}

const metadataOf = (task: Task): JsonBody => (task.status?.message?.metadata ?? {}) as JsonBody
const dataOf = (task: Task): unknown => task.artifacts[0]?.parts[0]?.content?.value

/** Pays natively and submits the transaction over the HTTP API. */
async function pay(request: string) {
  const payment = await signNative(daemon.url, SOLD, request)
  await post(daemon.url, '/api/v1/tx', { raw: payment.raw })
  const metadata = { [STATUS]: 'payment-submitted', 'x402.payment.payload': nativePayment(payment) }
  return { ...payment, metadata }
}

describe('the official A2A client', () => {
  it('discovers the node by its card', async () => {
    const card = await client.getAgentCard()
    expect(card.supportedInterfaces[0]).toMatchObject({ url: `${daemon.url}/a2a`, protocolVersion: '1.0' })
    expect(card.skills.map(({ id }) => id)).toContain(SOLD)
    expect(client.protocolVersion).toBe('1.0')
  })

  it('asks a question and is answered by a message', async () => {
    const answer = await client.sendMessage({ message: messageOf({ text: 'network statistics' }) } as never)
    const { parts } = answer as Message
    expect(JSON.stringify(parts)).toContain('node-network-stats')
    expect(answer).not.toHaveProperty('status')
  })

  it.each(['text', 'data'] as const)('buys a call that it names in %s', async (how) => {
    const request = newRequest()
    const named = how === 'text' ? { text: `${SOLD} ${request}` } : { data: { serviceId: SOLD, request } }
    const unpaid = await send(named)
    expect(unpaid.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
    expect(metadataOf(unpaid)).toMatchObject({
      [STATUS]: 'payment-required',
      'x402.payment.required': {
        x402Version: 2,
        accepts: [{ scheme: 'native-x402' }, { scheme: 'batch-settlement' }],
      },
    })
    const payment = await pay(request)
    const paid = await send({ text: 'paid', task: unpaid, metadata: payment.metadata })
    expect(paid.id).toBe(unpaid.id)
    expect(paid.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(metadataOf(paid)).toMatchObject({
      [STATUS]: 'payment-completed',
      'x402.payment.receipts': [{ success: true, transaction: payment.txId, network: 'farthing:1' }],
    })
    expect(dataOf(paid)).toMatchObject({ paid: true, result: { echo: request }, receipt: { txId: payment.txId } })
    const again = await send({ text: 'paid', task: unpaid, metadata: payment.metadata })
    const asked = await client.getTask({ id: unpaid.id } as never)
    expect([dataOf(again), dataOf(asked)]).toEqual([dataOf(paid), dataOf(paid)])
    expect(runs(request)).toBe(1)
  })

  it('pays at once, without waiting, and looks for the outcome later', async () => {
    const request = newRequest()
    const payment = await pay(request)
    const begun = await send({ data: { serviceId: SOLD, request }, metadata: payment.metadata }, true)
    expect([TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED]).toContain(begun.status?.state)
    const done = await send({ text: 'and?', task: begun, metadata: payment.metadata })
    expect(dataOf(done)).toMatchObject({ result: { echo: request } })
    expect(runs(request)).toBe(1)
  })

  it('is given no fresh terms for a payment that cannot be read, or that is not there yet', async () => {
    const request = newRequest()
    const unpaid = await send({ text: `${SOLD} ${request}` })
    const unreadable = await send({
      text: 'paid',
      task: unpaid,
      metadata: { 'x402.payment.payload': { scheme: 'none' } },
    })
    expect(metadataOf(unreadable)).toMatchObject({
      [STATUS]: 'payment-submitted',
      'x402.payment.error': 'invalid_payment',
    })
    expect(metadataOf(unreadable)).not.toHaveProperty(['x402.payment.required'])
    const early = nativePayment(await signNative(daemon.url, SOLD, request))
    const waiting = await send({ text: 'paid', task: unpaid, metadata: { 'x402.payment.payload': early } })
    expect(waiting.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
    expect(metadataOf(waiting)).toMatchObject({
      [STATUS]: 'payment-submitted',
      'x402.payment.error': 'payment_not_found',
    })
    expect(metadataOf(waiting)).not.toHaveProperty(['x402.payment.required'])
  })

  it('cancels what is not paid, and nothing else', async () => {
    const unpaid = await send({ text: `${SOLD} ${newRequest()}` })
    const canceled = await client.cancelTask({ id: unpaid.id } as never)
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    await expect(client.cancelTask({ id: unpaid.id } as never)).rejects.toThrow(/canceled/)
    await expect(send({ text: 'more', task: unpaid })).rejects.toThrow(/canceled/)
    await expect(client.getTask({ id: randomUUID() } as never)).rejects.toThrow(/no such task/)
  })

  it('finds a paid call again after a restart, and gets its result with the same payment', async () => {
    const request = newRequest()
    const payment = await pay(request)
    const paid = await send({ data: { serviceId: SOLD, request }, metadata: payment.metadata })
    await kill()
    await start()
    await expect(client.getTask({ id: paid.id } as never)).rejects.toThrow(/no such task/)
    const found = await client.getTask({ id: payment.txId } as never)
    expect(found.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(metadataOf(found)).toMatchObject({ 'x402.payment.receipts': [{ transaction: payment.txId }] })
    expect(found.artifacts).toEqual([])
    await expect(client.cancelTask({ id: payment.txId } as never)).rejects.toThrow(/paid/)
    const again = await send({ data: { serviceId: SOLD, request }, metadata: payment.metadata })
    expect(dataOf(again)).toEqual(dataOf(paid))
    expect(runs(request)).toBe(1)
  })
})
