import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { encodeBlock } from '../../consensus/block/block.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import { fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { decodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { capabilityNumber, capabilitySet } from '../../marketplace/ledger/capabilities.ts'
import { TABS, type Tab } from '../../marketplace/ledger/tab-records.ts'
import type { Mempool } from '../../mempool/mempool.ts'
import { buildTemplate } from '../../miner/template.ts'
import { jsonOfBase64 } from '../../rpc/client/http.ts'
import type { TabReceiptJson } from '../../rpc/client/sdk/tabs/tab-types.ts'
import { createServer } from '../../rpc/server/server.ts'
import { bareNodeOf, UNHURRIED } from './api-server.ts'
import { TestChain, wallet } from './chain.ts'
import { until } from './processes.ts'
import { killRuleBook, OWNER, PAYOUT, RECEIPT_SIGNER, SELLER, SETTLERS } from './tab-kill-order.ts'
import { TEST_SERVICES } from './test-services.ts'
import { units } from './unsigned.ts'

/** How long a transaction waits for others before it is mined, and a seller for a block, at most. */
const MINE_MS = 15
const WAIT_MS = 5_000
/** Parts of the answers that are lost on the way, and of the calls that go to both replicas at once. */
const LOST = 0.05
const TWICE = 0.2

/** The first answer to a paid call, as it went over the wire. */
export interface SeenAnswer {
  readonly tabId: TxId
  readonly seq: number
  readonly request: string
  readonly body: string
  readonly receipt: TabReceiptJson
  /** How often stores had been lost before it. */
  readonly losses: number
  times: number
}

/**
 * The network that outlives the sellers: the chain, a node's API over it, and the address at which clients find the seller. It sees all
 * answers to paid calls, and compares those to the same bytes.
 */
export class KillNetwork {
  readonly test: TestChain
  /** URLs of the sellers that run. */
  readonly sellers = new Set<string>()
  readonly seen = new Map<string, SeenAnswer>()
  /** What must not have happened. */
  readonly violations: string[] = []
  /** Heights at which the sellers' store was lost. */
  readonly losses: number[] = []
  /** What the payout account had before the first call. */
  payoutBefore = 0n
  repeated = 0
  readonly #mempool: Mempool
  readonly #app: FastifyInstance
  readonly #front: Server
  readonly #random: () => number
  readonly #waiting = new Set<() => void>()
  /** Heights of the sellers' chains, by URL. */
  readonly #heights = new Map<string, number>()
  #nodeUrl = ''
  #soon: NodeJS.Timeout | null = null
  #queue: Promise<unknown> = Promise.resolve()

  private constructor(test: TestChain, mempool: Mempool, app: FastifyInstance, random: () => number) {
    this.test = test
    this.#mempool = mempool
    this.#app = app
    this.#random = random
    this.#front = createHttp((request, response) => {
      this.#answer(request, response).catch(() => request.socket.destroy())
    })
  }

  /** A network on which the agent sells, and takes tabs. */
  static async open(random: () => number): Promise<KillNetwork> {
    const test = await TestChain.open(killRuleBook())
    const node = bareNodeOf(test)
    const app = await createServer(node, {
      limits: UNHURRIED,
      trustProxy: false,
      onError: () => {},
      onAnswer: () => {},
    })
    const network = new KillNetwork(test, node.mempool as Mempool, app, random)
    network.#nodeUrl = await app.listen({ port: 0, host: '127.0.0.1' })
    await new Promise<void>((resolve) => network.#front.listen(0, '127.0.0.1', resolve))
    await test.mine(await publications(test))
    network.payoutBefore = test.balance(wallet(PAYOUT).address)
    return network
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#front.address() as AddressInfo).port}`
  }

  /** The record of a tab. */
  tab(tabId: string): Tab | undefined {
    return this.test.chain.database.get(TABS, tabId as TxId)
  }

  /** Mines blocks, the first with all that waits. */
  async mine(count = 1): Promise<void> {
    for (let i = 0; i < count; i++) {
      const mined = this.#queue.then(() => this.#mineOne())
      this.#queue = mined.catch(() => {})
      await mined
    }
  }

  /** Waits until every seller that runs has all blocks. */
  async followed(): Promise<void> {
    const { height } = this.test
    const look = (): boolean => [...this.sellers.keys()].every((url) => (this.#heights.get(url) ?? 0) >= height)
    await until('the sellers have all blocks', look, { everyMs: 5 })
  }

  async close(): Promise<void> {
    if (this.#soon !== null) clearTimeout(this.#soon)
    await this.#queue
    for (const wake of this.#waiting) wake()
    this.#front.closeAllConnections()
    await new Promise((resolve) => this.#front.close(resolve))
    await this.#app.close()
  }

  async #mineOne(): Promise<void> {
    this.test.nowMs += 3_000
    const template = await buildTemplate(this.test.chain, UNPACED, {
      ...{ miner: wallet(9).address, nowMs: this.test.nowMs, extra: new Uint8Array(32) },
      candidates: this.#mempool.candidates(),
    })
    if (template === undefined) throw new Error('the head moved')
    await this.test.import(template.block)
    for (const wake of this.#waiting) wake()
  }

  #mineSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = null
      void this.mine()
    }, MINE_MS)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/'
    const bytes = await bodyOf(request)
    if (path.startsWith('/network/blocks')) return this.#blocks(new URL(path, 'http://network').searchParams, response)
    if (path === '/network/tx') return this.#take(bytes, response)
    if (path.startsWith('/services.json')) return send(response, 200, JSON.stringify({ services: [], nativeUsd: 0.25 }))
    const isOfSeller = path.startsWith('/api/x402/') || path.startsWith('/api/tabs/')
    if (isOfSeller) return this.#sell(request, bytes, response)
    const answer = await passed(this.#nodeUrl, request, bytes)
    if (request.method === 'POST') this.#mineSoon()
    send(response, answer.status, answer.body, answer.headers)
  }

  async #blocks(query: URLSearchParams, response: ServerResponse): Promise<void> {
    const after = Number(query.get('after'))
    this.#heights.set(query.get('by') ?? '', after)
    if (query.has('by') && after >= this.test.height) await this.#block()
    const { database } = this.test.chain
    const blocks: string[] = []
    for (let height = after + 1; height <= this.test.height && blocks.length < 200; height++) {
      const block = database.block(database.idAt(height) as never)
      if (block !== undefined) blocks.push(toHex(encodeBlock(block)))
    }
    send(response, 200, JSON.stringify(blocks))
  }

  #block(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, WAIT_MS)
      this.#waiting.add(wake)
    })
  }

  async #take(bytes: Buffer, response: ServerResponse): Promise<void> {
    const decoded = decodeTransaction(fromHex(bytes.toString()))
    if (!decoded.ok) throw new Error(decoded.fault.code)
    this.#checkClaim(decoded.value)
    const taken = await this.#mempool.submit(decoded.value)
    this.#mineSoon()
    send(response, 200, JSON.stringify(taken.ok ? null : taken.fault.code))
  }

  /** One replica claims a tab at a time. */
  #checkClaim({ body }: Transaction): void {
    if (body.kind !== 'tab_claim') return
    const tabs = new Set(body.payload.entries.map(({ tabId }) => tabId))
    for (const settler of SETTLERS.map((number) => wallet(number).address))
      for (const { body: other } of settler === body.sender ? [] : this.#mempool.ofAccount(settler))
        if (other.kind === 'tab_claim' && other.payload.entries.some(({ tabId }) => tabs.has(tabId)))
          this.violations.push('two replicas claim a tab at the same time')
  }

  /** Passes a request on to a seller that runs, and some paid ones to two at once. */
  async #sell(request: IncomingMessage, bytes: Buffer, response: ServerResponse): Promise<void> {
    const urls = [...this.sellers].sort(() => this.#random() - 0.5)
    const isPaid = request.method === 'POST' && request.headers['payment-signature'] !== undefined
    const asked = urls.slice(0, isPaid && this.#random() < TWICE ? 2 : 1)
    if (asked.length === 0) return void request.socket.destroy()
    const answers = asked.map(async (url) => {
      const answer = await passed(url, request, bytes)
      if (isPaid) this.#note(String(request.headers['payment-signature']), bytes.toString(), answer.body)
      return answer
    })
    const [first] = await Promise.allSettled(answers)
    const isLost = isPaid && this.#random() < LOST
    if (first?.status !== 'fulfilled' || isLost) return void request.socket.destroy()
    const { status, body, headers } = first.value
    send(response, status, body, headers)
  }

  #note(header: string, sent: string, body: string): void {
    const answer = JSON.parse(body) as { readonly receipt?: { readonly tab?: TabReceiptJson } }
    const receipt = answer.receipt?.tab
    if (receipt === undefined) return
    const key = `${header} ${sent}`
    const known = this.seen.get(key)
    if (known !== undefined && known.losses === this.losses.length) {
      known.times += 1
      this.repeated += 1
      if (known.body !== body) this.violations.push(`two answers to one call: ${known.body} and ${body}`)
      return
    }
    const { payload } = jsonOfBase64(header) as { payload: { channelId: TxId; voucher: { seq: number } } }
    const { request } = JSON.parse(sent) as { readonly request: string }
    const { channelId: tabId, voucher } = payload
    const place = { tabId, seq: voucher.seq, request, body, receipt }
    this.seen.set(known === undefined ? key : `${key} ${this.losses.length}`, {
      ...place,
      losses: this.losses.length,
      times: 1,
    })
  }
}

/** Transactions that make the agent known, with its settlers, services and terms. */
async function publications(test: TestChain): Promise<readonly Transaction[]> {
  const owner = wallet(OWNER)
  const capabilities = capabilitySet(TEST_SERVICES.map(({ capability }) => capability))
  const settlers = SETTLERS.map((number) => wallet(number).address)
  const agent = {
    agentId: SELLER,
    name: 'Seller',
    endpoint: '',
    capabilities,
    payout: wallet(PAYOUT).address,
    settlers,
  }
  const services = TEST_SERVICES.map(({ serviceId, name, requestFormat, description, capability, priceUsdMicros }) => {
    const texts = { serviceId, name, requestFormat, description, capability: capabilityNumber(capability) }
    return { agentId: SELLER, ...texts, priceUsdMicros }
  })
  const terms = { agentId: SELLER, receiptKey: RECEIPT_SIGNER.key, minDeposit: units(1_000_000), minCloseDelay: 400 }
  const published = [await test.tx(owner, 'agent_register', agent)]
  for (const service of services) published.push(await test.tx(owner, 'service_publish', service))
  return [...published, await test.tx(owner, 'tab_terms', terms)]
}

interface Passed {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Headers that are passed on, in both directions. */
const PASSED = [
  'content-type',
  'payment-signature',
  'payment-required',
  'payment-response',
  'retry-after',
  'retry-after-ms',
]

async function passed(url: string, request: IncomingMessage, bytes: Buffer): Promise<Passed> {
  const { method = 'GET' } = request
  const asked = PASSED.flatMap((name) => {
    const value = request.headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  const body = bytes.length === 0 ? {} : { body: new Uint8Array(bytes) }
  const answer = await fetch(`${url}${request.url}`, { method, headers: Object.fromEntries(asked), ...body })
  const told = PASSED.flatMap((name) => {
    const value = answer.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return { status: answer.status, body: await answer.text(), headers: Object.fromEntries(told) }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function send(response: ServerResponse, status: number, body: string, headers: Passed['headers'] = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body)
}
