import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { searchNonce } from '../../consensus/block/pow.ts'
import { transactionToJson } from '../../consensus/tx/json.ts'
import { encodeTransaction } from '../../consensus/tx/transaction.ts'
import { CAPABILITIES } from '../../marketplace/ledger/capabilities.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { askJob } from '../../rpc/client/mining.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { ask, atOneMoment, atRest, type JsonBody, post, type Reply } from '../support/api.ts'
import { Caller, marketOpen, type Payment } from '../support/caller.ts'
import { ChatDaemon } from '../support/chat-daemon.ts'
import { infoRequests, KEY_OPERATIONS, openAiRequests } from '../support/chat-requests.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { discoveryRequests } from '../support/discovery-requests.ts'
import { DOOR_REQUESTS } from '../support/door-requests.ts'
import { ExampleRecorder } from '../support/example-recorder.ts'
import { FACILITATOR_REQUESTS } from '../support/facilitator-requests.ts'
import { breaches, ENTRY_TABLE, FACILITATOR_TABLE, PROTOCOL_TABLE } from '../support/interface-tables.ts'
import { type Asked, doSomethingOfEverything, type LedgerScene, ledgerRequests } from '../support/ledger-requests.ts'
import { ApiChecker, type ApiDocument } from '../support/openapi-check.ts'
import { ROOT } from '../support/source-tree.ts'
import { TEST_SERVICES } from '../support/test-services.ts'

const workshop = new Workshop()
const committed = JSON.parse(readFileSync(join(ROOT, 'rpc/openapi.json'), 'utf8')) as ApiDocument
const checker = new ApiChecker(committed)
const UNKNOWN = 'ab'.repeat(32)
/** All services of the node under test, in the order of the tables. */
const SOLD = [...SERVICE_TABLE, ...TEST_SERVICES].map(({ serviceId }) => serviceId)
let daemon: RunningDaemon
/** A node with models behind it. */
let chat: ChatDaemon
const examples = new ExampleRecorder()
/** Path of the file for recorded examples of the document. Only `npm run gen:examples` sets it. */
const { RECORD_EXAMPLES } = process.env
if (RECORD_EXAMPLES !== undefined) afterAll(() => examples.write(RECORD_EXAMPLES))
/** A node with the shipped services, for examples that count services; started only to record them. */
let shipped: RunningDaemon | null = null
/** Operations whose answers count services. */
const COUNTING = ['getStatus', 'listServices', 'getProtocol', 'getProtocolJson', 'listAgents', 'getAgent']
let buyer: Caller
let paid: Payment
let scene: LedgerScene

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' } })
  chat = await ChatDaemon.start(workshop)
  await marketOpen(daemon.url)
  buyer = new Caller(daemon.url, 1)
  paid = await buyer.payMined({ serviceId: 'node-network-stats', request: '' })
  await buyer.settle(paid)
  const failing = await buyer.payMined({ serviceId: 'node-test-once', request: 'fail' })
  await buyer.settle(failing)
  await buyer.payMined({ serviceId: 'node-test-again', request: 'ok' })
  const { agentId } = (await buyer.quote('node-network-stats', '')).body.accepts![0]!.extra
  if (RECORD_EXAMPLES !== undefined) {
    const env = { TEST_FAST_BLOCKS: '1', TEST_SOLD_AS_SHIPPED: 'true' }
    shipped = await workshop.start(workshop.folder(), { env })
    await marketOpen(shipped.url)
  }
  scene = { agentId, address: buyer.address, absent: absent(), ...(await doSomethingOfEverything(buyer)) }
})

/** Records the examples of an operation that counts services, from a node that sells only the shipped services. */
async function recordShipped(operationId: string): Promise<void> {
  if (shipped === null || !COUNTING.includes(operationId)) return
  const { url } = shipped
  const { market } = (await ask<{ market: { agentId: string } }>(url, '/api/v1/status')).body
  const send: Parameters<Asked>[0] = async (path) => {
    const reply = await ask(url, path.replace(scene.agentId, market.agentId))
    examples.record(operationId, reply)
    return reply
  }
  await Promise.all(REQUESTS[operationId]!(send))
}

/** Valid and invalid calls of one service, which is named in the body or in `path`. */
function calls(path: string, named: JsonBody): Asked {
  const { serviceId, ...rest } = { serviceId: 'node-network-stats', ...named }
  const body = path.endsWith('x402') ? { serviceId, ...rest } : rest
  return (send) => [
    send(path, body),
    send(`${path}?net=mainnet&rail=native`, body),
    send(`${path}?net=other`, body),
    send(`${path}?rail=other`, body),
    send(path, { ...body, request: '', payment: { txId: paid.txId } }),
    send(path, { ...body, request: 'other', payment: { txId: paid.txId } }),
    send(path, { ...body, payment: { txId: UNKNOWN } }),
    send(path, { ...body, payment: { txId: 'short' } }),
    send(path, { ...body, request: 7 }),
    send(path, '{'),
  ]
}

afterAll(() => chat.close())

const OPEN_AI_REQUESTS = openAiRequests(() => chat.key)

/** Requests of every operation but those in {@link OPERATORS} and {@link OF_TABS}, some served and some refused. */
const REQUESTS: Readonly<Record<string, Asked>> = {
  submitTransaction: (send) => submits(send, '/api/v1/tx'),
  submitTransactionAlias: (send) => submits(send, '/api/tx'),
  listBlocks: (send) =>
    [
      '',
      '?limit=3',
      '?limit=200&cursor=5',
      '?cursor=0',
      '?limit=0',
      '?limit=201',
      '?limit=x',
      '?cursor=x',
      '?more=1',
    ].map((query) => send(`/api/v1/blocks${query}`)),
  getBlock: (send) => ['latest', '0', '1', UNKNOWN, '4000000000', 'x', '-1'].map((id) => send(`/api/v1/blocks/${id}`)),
  getAncestry: (send) => ['0', '1', '5', 'latest', UNKNOWN, 'x'].map((id) => send(`/api/v1/blocks/${id}/ancestry`)),
  getTransaction: (send) => [paid.txId, UNKNOWN, 'x', paid.txId.toUpperCase()].map((id) => send(`/api/v1/tx/${id}`)),
  getAccount: (send) =>
    [buyer.address, absent(), `x${buyer.address}`, buyer.address.slice(0, -1), 'far1'].map((address) =>
      send(`/api/v1/accounts/${address}`),
    ),
  getMempool: (send) => ['', '?limit=1', '?limit=0'].map((query) => send(`/api/v1/mempool${query}`)),
  getFees: (send) => [send('/api/v1/fees')],
  simulateTransaction: (send) => submits(send, '/api/v1/tx/simulate'),
  ...ledgerRequests(() => scene),
  ...DOOR_REQUESTS,
  ...FACILITATOR_REQUESTS,
  getFacilitatorOffer: (send) =>
    [
      `${scene.agentId}/node-network-stats`,
      `${scene.agentId}/node-nothing`,
      'nobody-there/node-network-stats',
      'x/y',
    ].map((names) => send(`/facilitator/offers/${names}?maxTimeoutSeconds=60`)),
  call: calls('/api/x402', {}),
  callService: calls('/api/x402/node-network-stats', {}),
  getExample: (send) => ['node-tx-lookup', 'node-test-closed', 'nothing'].map((id) => send(`/services/${id}/example`)),
  listServices: (send) =>
    ['', '?capability=utility', '?capability=none', '?q=network', '?q=zzz', '?more=1'].map((query) =>
      send(`/services.json${query}`),
    ),
  getProtocol: (send) => [send('/.well-known/x402')],
  getProtocolJson: (send) => [send('/.well-known/x402.json')],
  ...discoveryRequests,
  ...infoRequests,
  ...OPEN_AI_REQUESTS,
  listRequests: (send) =>
    ['', '?limit=1', '?limit=201', '?serviceId=node-test-once', '?cursor=x', `?cursor=000000000000001/${UNKNOWN}`].map(
      (query) => send(`/api/x402/requests${query}`),
    ),
  getRequest: (send) => [paid.txId, UNKNOWN, 'x'].map((id) => send(`/api/x402/requests/${id}`)),
  getMiningTemplate: (send) => [
    send(`/api/v1/mining/template?address=${buyer.address}`),
    send('/api/v1/mining/template'),
    send('/api/v1/mining/template?address=far1nobody-at-all-is-here'),
  ],
  submitWork: (send) => [
    submitFirstNonce(),
    send('/api/v1/mining/submit', { jobId: '00'.repeat(16), nonce: '0' }),
    send('/api/v1/mining/submit', { jobId: '00'.repeat(16), nonce: String(2n ** 64n) }),
    send('/api/v1/mining/submit', { jobId: 7 }),
  ],
  followMiningJobs: (send) => [
    beginningOf(`/api/v1/mining/jobs?address=${buyer.address}`),
    send('/api/v1/mining/jobs'),
    send('/api/v1/mining/jobs?address=far1nobody-at-all-is-here'),
  ],
  followEvents: (send) => [
    beginningOf('/api/v1/events'),
    beginningOf(`/api/v1/events?types=block&after=${UNKNOWN}.0`),
    ...['types=nothing', 'txId=x', 'after=x'].map((query) => send(`/api/v1/events?${query}`)),
  ],
  listPeers: (send) => [send('/api/v1/peers')],
}

/**
 * Operations of operators and of page forms. test/integration/api/api-{peers,keys}.test.ts and
 * test/e2e/services-command.test.ts check them.
 */
const OPERATORS = ['tryService', 'listBans', 'banPeer', 'unbanPeer', ...KEY_OPERATIONS]
/** Operations that need a seller with tabs. test/integration/api/tab-document.test.ts checks them. */
const OF_TABS = ['quoteService', 'openTab', 'getTab', 'listTabReceipts']

function submits(send: Parameters<Asked>[0], path: string): Promise<Reply>[] {
  const raw = Buffer.from(encodeTransaction(paid.tx))
  const json = transactionToJson('dfar', paid.tx) as JsonBody
  return [
    submitFresh(path),
    send(path, json),
    send(path, { ...json, nonce: 7 }),
    send(path, { ...json, chainId: 2 }),
    send(path, { ...json, kind: 'nothing' }),
    send(path, { raw: raw.toString('hex') }),
    send(path, { raw: raw.subarray(1).toString('hex') }),
    send(path, { raw: '' }),
    send(path, { raw: 7 }),
    send(path, {}),
    send(path, '{'),
  ]
}

/** Submits a nonce as an external miner, and tries again if another block was faster. */
async function submitFirstNonce(): Promise<Reply> {
  for (;;) {
    const asked = await askJob(daemon.url, { address: buyer.key.address, text: buyer.address })
    const job = asked.ok ? asked.value : expect.fail('no job')
    const nonce = searchNonce({ ...job, start: 0n, stride: 1n }, nativePowHasher, { stopped: () => false, onHash() {} })
    const reply = await post(daemon.url, '/api/v1/mining/submit', { jobId: job.jobId, nonce: String(nonce) })
    if (reply.body.code !== 'stale_job') return reply
  }
}

/** The first chunk of an endless answer. */
async function beginningOf(path: string): Promise<Reply> {
  const over = new AbortController()
  const { status, headers, body } = await fetch(`${daemon.url}${path}`, { signal: over.signal })
  const { value = '' } = await body!.pipeThrough(new TextDecoderStream()).getReader().read()
  over.abort()
  return { status, headers, text: value, body: {} }
}

async function submitFresh(path: string): Promise<Reply> {
  const payload = { to: buyer.key.address, amount: 1n as never, create: false }
  return post(daemon.url, path, transactionToJson('dfar', await buyer.sign('transfer', payload)))
}

/** An address without an account. */
function absent(): string {
  return new Caller('', { ...buyer.key, address: 'ee'.repeat(32) as never }).address
}

describe('the document of the API', () => {
  it('is served as committed, with this node as the server', async () => {
    const { body, text } = await ask<ApiDocument>(daemon.url, '/openapi.json')
    expect(body.servers).toEqual([{ url: daemon.url }])
    const served = JSON.parse(text.replaceAll(daemon.url, committed.servers[0]?.url ?? '')) as ApiDocument
    const ofServices = Object.keys(served.paths).filter((path) => /^\/api\/x402\/node-/.test(path))
    expect(ofServices.length).toBeGreaterThan(20)
    const general = Object.entries(served.paths).filter(([path]) => !ofServices.includes(path))
    expect({ ...served, paths: Object.fromEntries(general) }).toEqual(committed)
  })

  it('has no operation that is not called here', () => {
    const called = [...Object.keys(REQUESTS), ...OPERATORS, ...OF_TABS]
    expect(checker.operations.map(({ operationId }) => operationId).sort()).toEqual(called.sort())
  })

  it('is held against answers by a check that sees what is wrong', async () => {
    const headers = new Headers({ 'content-type': 'application/json' })
    const reply = (status: number, body: object) => ({ status, headers, text: JSON.stringify(body), body })
    expect(checker.misfits('getHealth', reply(200, { status: 'ok' }))).toEqual([])
    expect(checker.misfits('getHealth', reply(200, { status: 'well' }))).not.toEqual([])
    expect(checker.misfits('getFees', reply(404, { error: 'x', code: 'y' }))).not.toEqual([])
    expect(checker.misfits('getFees', reply(302, {}))).not.toEqual([])
    const refusal = (code: string) => ({ error: 'x', code, requestId: 'y' })
    expect(checker.misfits('getBlock', reply(404, refusal('block_not_found')))).toEqual([])
    expect(checker.misfits('getBlock', reply(404, refusal('asset_not_found')))).not.toEqual([])
    expect(checker.misfits('getBlock', reply(409, refusal('block_not_found')))).not.toEqual([])
    const { body } = await ask(daemon.url, '/api/v1/status')
    expect(checker.misfits('getStatus', reply(200, { ...body, blockTime: 'today' }))).not.toEqual([])
  })

  it.each(Object.keys(REQUESTS))('describes what %s really answers', async (operationId) => {
    const operation = checker.operations.find((each) => each.operationId === operationId)!
    const send: Parameters<Asked>[0] = async (path, body, headers) => {
      const { url } = operationId in OPEN_AI_REQUESTS ? chat : daemon
      const isRead = operation.method === 'GET'
      const reply = await atRest(() => (isRead ? ask(url, path) : post(url, path, body, headers)))
      examples.record(operationId, reply, body)
      return reply
    }
    await recordShipped(operationId)
    const replies = await Promise.all(REQUESTS[operationId]!(send))
    expect(replies.some(({ status }) => status < 300)).toBe(true)
    for (const reply of replies) {
      expect(checker.misfits(operationId, reply), `${reply.status} ${reply.text.slice(0, 300)}`).toEqual([])
      expect(reply.status, reply.text).toBeLessThan(500)
    }
    const inJson = ({ headers }: Reply): boolean => headers.get('content-type')?.startsWith('application/json') === true
    const refused = replies.filter((reply) => reply.status >= 400 && inJson(reply))
    for (const { body, headers } of refused) {
      if (operationId in DOOR_REQUESTS)
        expect(body).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } })
      else if (operationId in OPEN_AI_REQUESTS)
        expect(body).toMatchObject({
          error: { code: expect.stringMatching(/^[a-z0-9_]+$/), message: expect.any(String) },
        })
      else {
        expect(body).toMatchObject({ error: expect.any(String), code: expect.stringMatching(/^[a-z0-9_]+$/) })
        expect(body.requestId).toBe(headers.get('x-request-id'))
      }
      expect(JSON.stringify(body)).not.toMatch(/node_modules|\.ts\b|at .*:\d+:\d+/)
    }
    for (const { headers } of replies) {
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  it('has examples that are as it says', () => {
    expect(checker.exampleMisfits()).toEqual([])
    expect(checker.exampleCount).toBeGreaterThan(checker.operations.length)
  })

  it('describes the refunds of failed, slow and unavailable services', async () => {
    const order = [
      ['node-test-once', 'wrong', 502],
      ['node-test-again', 'hang', 504],
      ['node-test-closed', 'ok', 503],
    ] as const
    for (const [serviceId, request, status] of order) {
      const reply = await buyer.settle(await buyer.payMined({ serviceId, request }))
      expect(reply.status).toBe(status)
      expect(checker.misfits('callService', reply)).toEqual([])
      expect(reply.body).toMatchObject({ refund: expect.any(Object), requestId: reply.headers.get('x-request-id') })
    }
    const list = await ask(daemon.url, '/api/x402/requests')
    expect(checker.misfits('listRequests', list)).toEqual([])
  })
})

describe('the interface tables', () => {
  it('hold for every entry of the registry', async () => {
    const { body } = await ask<{ services: readonly JsonBody[]; nodeOperatedCount: number }>(
      daemon.url,
      '/services.json',
    )
    expect(body.services.map(({ serviceId }) => serviceId)).toEqual(SOLD)
    expect(body.nodeOperatedCount).toBe(SOLD.length)
    for (const entry of body.services) {
      expect(breaches(entry, ENTRY_TABLE), String(entry.serviceId)).toEqual([])
      expect(CAPABILITIES).toContain(entry.capability)
      expect(entry.nodeOperated).toBe(true)
      expect(entry.endpoint).toBe(`${daemon.url}/api/x402/${String(entry.serviceId)}`)
      expect((await post(String(entry.endpoint), '', {})).status).toBe(402)
    }
  })

  it('hold for the payment protocol document, under both its names', async () => {
    const read = (path: string) => () => ask(daemon.url, path)
    // Its prices and counts change with each block.
    const [{ body, text }, other] = await atOneMoment(read('/.well-known/x402'), read('/.well-known/x402.json'))
    expect(other.text).toBe(text)
    expect(breaches(body, PROTOCOL_TABLE)).toEqual([])
    expect(body).toMatchObject({ version: 1, network: 'mainnet', chainId: 1, nodeOperatedCount: SOLD.length })
    expect(body).toMatchObject({ payment: { scheme: 'native-x402' }, evmStableRail: { scheme: 'exact' } })
    for (const entry of body.services as readonly JsonBody[]) expect(breaches(entry, ENTRY_TABLE)).toEqual([])
    const facilitators = body.facilitators as readonly JsonBody[]
    expect(facilitators).toHaveLength(2)
    for (const facilitator of facilitators) expect(breaches(facilitator, FACILITATOR_TABLE)).toEqual([])
    expect(facilitators.filter((facilitator) => facilitator.default).length).toBe(1)
    const { majors } = body.priceFeed as { majors: JsonBody }
    expect(Object.keys(majors).sort()).toEqual(['BNB', 'BTC', 'ETH', 'LTC', 'SOL'])
    for (const price of Object.values(majors)) expect(price === null || typeof price === 'number').toBe(true)
  })

  it('hold for receipts, quotes and the numbers in them', async () => {
    const { body } = await buyer.offer(paid)
    const table = { serviceId: 'string', caller: 'string', amount: 'number', txId: 'string' }
    expect(breaches(body.receipt, table)).toEqual([])
    expect(body.paid).toBe(true)
    const quote = (await buyer.quote('node-network-stats', '')).body
    expect(breaches(quote, { x402: 'boolean', error: 'string', accepts: 'array' })).toEqual([])
    expect(breaches(quote.accepts?.[0], { scheme: 'string', payTo: 'string', maxAmountRequired: 'string' })).toEqual([])
  })
})
