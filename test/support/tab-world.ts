import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { LAUNCH_RULES, TAB_RULES } from '../../config/networks/rules.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import { amount } from '../../consensus/primitives/amount.ts'
import type { Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { ClaimEntry } from '../../consensus/tx/tab-payloads.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { TABS, type Tab } from '../../marketplace/ledger/tab-records.ts'
import type { Mempool } from '../../mempool/mempool.ts'
import { buildTemplate } from '../../miner/template.ts'
import { type AgentClient, type ClientOptions, createClient } from '../../rpc/client/client.ts'
import { jsonOfBase64 } from '../../rpc/client/http.ts'
import type { NetworkFacts } from '../../rpc/client/sdk/shapes.ts'
import { type Wallet, walletFromWords } from '../../rpc/client/wallet.ts'
import { DEFAULT_HTTP_LIMITS } from '../../rpc/server/limits.ts'
import { createServer } from '../../rpc/server/server.ts'
import { networkFacts } from '../../src/market/network-facts.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { bareNodeOf } from './api-server.ts'
import { TestChain, wallet } from './chain.ts'
import { type Answer, type Json, LyingTabSeller } from './lying-tab-seller.ts'
import { testParams } from './network.ts'
import { agentId } from './unsigned.ts'

/** Its name makes the commands take the development wallets. */
const PARAMS: NetworkParams = { ...testParams({ tx: { ...LAUNCH_RULES.tx, tabs: TAB_RULES } }), name: 'devnet' }
const RATE = 1_000_000
const RATES = {
  ...{ read: RATE, list: RATE, transaction: RATE, simulate: RATE, quote: RATE, settle: RATE },
  ...{ mining: RATE, health: RATE, events: RATE, mcp: RATE, chat: RATE, 'sign-in': RATE, tab: RATE },
}

export const ACME = agentId('acme')
export const ECHO = 'node-echo'
export const OTHER = 'node-other'
/** What a call costs, in base units, unless a test changes it. */
export const PRICE = 200_000n

/** The wallet of a development key. */
export function devWallet(key: number): Wallet {
  return walletFromWords(wordsOfSeed(devSeed(key)))
}

/** The error of `work`, or `no error`. */
export function caught(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no error',
    (error: unknown) => error,
  )
}

/** What a test does to the next answers of the seller. */
export interface Mischief {
  /** Requests that are cut before the seller sees them. */
  deaf: number
  /** Answers that are cut after the seller did its work. */
  mute: number
  /** Changes an answer before it leaves. */
  lie: ((answer: Answer, path: string) => Answer) | null
}

/**
 * A real chain with a real API, and beside it a seller of calls on tabs that a test controls. Both answer at one address, as a
 * node does. Each transaction that comes is mined at once, unless `isMining` is false.
 */
export class TabWorld {
  readonly params: NetworkParams = PARAMS
  readonly network: NetworkFacts = networkFacts(PARAMS)
  readonly seller: LyingTabSeller
  readonly mischief: Mischief = { deaf: 0, mute: 0, lie: null }
  /** Transactions that came over HTTP. */
  readonly sent: string[] = []
  isMining = true
  readonly test: TestChain
  readonly #mempool: Mempool
  readonly #app: FastifyInstance
  readonly #front: Server
  #nodeUrl = ''
  #queue: Promise<unknown> = Promise.resolve()

  private constructor(test: TestChain, mempool: Mempool, app: FastifyInstance) {
    this.test = test
    this.#mempool = mempool
    this.#app = app
    this.#front = createHttp((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: String(error), code: 'internal_error' }))
      })
    })
    this.seller = new LyingTabSeller({
      network: test.chain.network,
      agentId: ACME,
      payTo: this.payout,
      tab: (tabId) => this.tab(tabId),
      height: () => test.height,
    })
  }

  static async open(): Promise<TabWorld> {
    const test = await TestChain.open(createRuleBook(PARAMS, PROTOCOL))
    const node = bareNodeOf(test)
    const limits = { ...DEFAULT_HTTP_LIMITS, ratesPerMinute: RATES, delayMsMax: 100_000 }
    const app = await createServer(node, { limits, trustProxy: false, onError: () => {}, onAnswer: () => {} })
    const world = new TabWorld(test, node.mempool as Mempool, app)
    // A test that mines many blocks holds this process longer than a connection may be idle.
    world.#front.keepAliveTimeout = 600_000
    world.#nodeUrl = await app.listen({ port: 0, host: '127.0.0.1' })
    await new Promise<void>((resolve) => world.#front.listen(0, '127.0.0.1', resolve))
    await world.#publish()
    return world
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#front.address() as AddressInfo).port}`
  }

  get payout(): string {
    return formatAddress(this.network.addressPrefix, wallet(3).address)
  }

  /** A client that pays with the first development wallet, unless told otherwise. */
  client(options: Partial<ClientOptions>): AgentClient {
    return createClient({ baseUrl: this.url, wallet: devWallet(1), network: this.network, ...options })
  }

  tab(tabId: string): Tab | undefined {
    return this.test.chain.database.get(TABS, tabId as TxId)
  }

  /** Mines what waits. */
  mine(): Promise<void> {
    const mined = this.#queue.then(async () => {
      this.test.nowMs += 3_000
      const template = await buildTemplate(this.test.chain, UNPACED, {
        miner: wallet(9).address,
        nowMs: this.test.nowMs,
        candidates: this.#mempool.candidates(),
        extra: new Uint8Array(32),
      })
      if (template === undefined) throw new Error('the head moved')
      await this.test.import(template.block)
    })
    this.#queue = mined.catch(() => {})
    return mined
  }

  /** Mines these transactions alone. */
  async mineThese(transactions: readonly Transaction[]): Promise<void> {
    const mined = this.#queue.then(() => this.test.mine(transactions))
    this.#queue = mined.catch(() => {})
    await mined
  }

  /** The seller claims; `change` makes it claim wrongly. */
  async claim(tabId: string, change: Partial<ClaimEntry> = {}): Promise<string> {
    const claim = await this.test.tx(wallet(2), 'tab_claim', { entries: [this.seller.entry(tabId, change)] })
    await this.mineThese([claim])
    return claim.txId
  }

  async close(): Promise<void> {
    this.#front.closeAllConnections()
    this.#front.close()
    await this.#app.close()
  }

  /** The state of a fresh test: an honest seller that remembers everything. */
  calm(): void {
    Object.assign(this.mischief, { deaf: 0, mute: 0, lie: null })
    this.seller.prices.clear()
    this.isMining = true
  }

  /** Changes the terms of the agent. */
  async setTerms(change: { receiptKey?: string; minDeposit?: bigint; minCloseDelay?: number } = {}): Promise<void> {
    const { receiptKey = this.seller.receiptKey, minDeposit = 1_000_000n, minCloseDelay = 400 } = change
    const terms = { agentId: ACME, receiptKey: receiptKey as Hash, minDeposit: amount(minDeposit), minCloseDelay }
    await this.mineThese([await this.test.tx(wallet(2), 'tab_terms', terms)])
  }

  async #publish(): Promise<void> {
    const owner = wallet(2)
    const payout = wallet(3).address
    const agent = { agentId: ACME, name: 'Acme', endpoint: '', capabilities: 1, payout, settlers: [] }
    const service = (id: string) => ({
      ...{ agentId: ACME, serviceId: id as ServiceId, capability: 0, priceUsdMicros: 500n, name: 'Echo' },
      ...{ requestFormat: '', description: 'Says it again.' },
    })
    await this.mineThese([
      await this.test.tx(owner, 'agent_register', agent),
      await this.test.tx(owner, 'service_publish', service(ECHO)),
      await this.test.tx(owner, 'service_publish', service(OTHER)),
    ])
    await this.setTerms()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://node')
    const bytes = await bodyOf(request)
    const isOfSeller = pathname.startsWith('/api/x402/') || pathname.startsWith('/api/tabs/')
    if (!isOfSeller) return this.#forward(request, bytes, response)
    const isPaid = request.headers['payment-signature'] !== undefined
    if (isPaid && this.mischief.deaf > 0) {
      this.mischief.deaf -= 1
      return void request.socket.destroy()
    }
    const told = await this.#sell(pathname, searchParams, request, bytes)
    const answer = this.mischief.lie?.(told, pathname) ?? told
    if (isPaid && this.mischief.mute > 0) {
      this.mischief.mute -= 1
      return void request.socket.destroy()
    }
    send(response, answer)
  }

  async #sell(path: string, query: URLSearchParams, request: IncomingMessage, bytes: Buffer): Promise<Answer> {
    const [, , door, name = '', more] = path.split('/')
    if (door === 'tabs') return more === 'receipts' ? this.#receipts(name, query) : this.#tab(name, query)
    const header = request.headers['payment-signature']
    const { payload } = typeof header === 'string' ? jsonOfBase64(header) : { payload: undefined }
    const { request: text = '', payment } = JSON.parse(bytes.toString('utf8') || '{}') as SingleCall
    if (payload === undefined && query.get('rail') !== 'tab')
      return payment === undefined ? this.seller.single(name) : this.seller.serveSingle(name, text)
    if (payload === undefined) return this.seller.terms(name, 'payment_required')
    const paid = payload as Json
    if (paid.channelId === undefined) return this.seller.serveSingle(name, text)
    if (paid.type === 'refund') return this.#refund(paid)
    // An opening that is still on its way is waited for.
    if (paid.type === 'deposit' && this.tab(String(paid.channelId)) === undefined) await this.mine()
    return this.seller.call(name, text, paid)
  }

  #tab(tabId: string, query: URLSearchParams): Answer {
    const tab = this.tab(tabId)
    if (tab === undefined) return { status: 404, body: { error: 'there is no such tab', code: 'tab_not_found' } }
    if (!this.#isAsked(tabId, query)) return { status: 200, body: { tabId } }
    const { channelState: state, voucherState: voucher = null, lastReceipt = null } = this.seller.state(tabId)
    return { status: 200, body: { tabId, state, voucher, lastReceipt } }
  }

  #receipts(tabId: string, query: URLSearchParams): Answer {
    if (!this.#isAsked(tabId, query)) return { status: 401, body: { error: 'who asks', code: 'tab_query' } }
    const from = Number(query.get('from') ?? 1)
    const receipts = this.seller.ledger(tabId).receipts.slice(from - 1, from - 1 + 2)
    const next = from + receipts.length
    const isLast = next > this.seller.ledger(tabId).receipts.length
    return { status: 200, body: { tabId, receipts, next: isLast ? null : next } }
  }

  #isAsked(tabId: string, query: URLSearchParams): boolean {
    const [timeMs, signature] = [query.get('timeMs'), query.get('signature')]
    return (
      timeMs !== null &&
      signature !== null &&
      this.seller.isAsked(tabId, 'state', { timeMs: Number(timeMs), signature })
    )
  }

  async #refund({ channelId, timeMs, signature }: Json): Promise<Answer> {
    const [tabId, query] = [String(channelId), { timeMs: Number(timeMs), signature: String(signature) }]
    if (!this.seller.isAsked(tabId, 'refund', query)) return this.seller.terms(ECHO, 'tab_query')
    const transaction = await this.claim(tabId, { close: true })
    const settled = { success: true, transaction, network: 'farthing:1', amount: '', payer: '', extra: {} }
    return { status: 200, body: { refunded: true }, settled }
  }

  async #forward(request: IncomingMessage, bytes: Buffer, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/'
    if (path.startsWith('/services.json'))
      return send(response, { status: 200, body: { services: [], nativeUsd: 0.25 } })
    const type = request.headers['content-type']
    const init = {
      method: request.method ?? 'GET',
      headers: type === undefined ? {} : { 'content-type': type },
      ...(bytes.length === 0 ? {} : { body: new Uint8Array(bytes) }),
    }
    const answer = await fetch(`${this.#nodeUrl}${path}`, init)
    const body = (await answer.json()) as Json
    if (request.method === 'POST' && path === '/api/v1/tx') {
      this.sent.push(String(body.txId))
      if (this.isMining) await this.mine()
    }
    send(response, { status: answer.status, body })
  }
}

interface SingleCall {
  readonly request?: string
  readonly payment?: unknown
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function send(response: ServerResponse, { status, body, settled }: Answer): void {
  const base64 = (json: Json): string => Buffer.from(JSON.stringify(json)).toString('base64')
  const paid = settled === undefined ? {} : { 'payment-response': base64(settled) }
  const terms = status === 402 ? { 'payment-required': base64({ ...body, x402Version: 2 }) } : {}
  response.writeHead(status, { 'content-type': 'application/json', ...paid, ...terms })
  response.end(JSON.stringify(body))
}
