import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Amount } from '../../consensus/primitives/amount.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { requestCommitment } from '../../consensus/tx/request-hash.ts'
import { tabQueryMessage, voucherMessage } from '../../consensus/tx/tab-messages.ts'
import { encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import type { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/till/settings.ts'
import { TabCounter } from '../../rpc/market/tab-counter.ts'
import type { ChatApi, MarketApi, NodeApi } from '../../rpc/node/node-api.ts'
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../../rpc/server/limits.ts'
import { createServer } from '../../rpc/server/server.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { verifyTabLater } from '../../src/crypto/tab-verifier.ts'
import { ask, type CallView, type JsonBody, post, type Reply } from './api.ts'
import { AGAIN, closeMarkets, SHOP, type TestMarket } from './market.ts'
import { closeTabShops, TabShop, type TabShopParts, type TestTab } from './tabs.ts'
import { units } from './unsigned.ts'

/** What a voucher is signed over. What is left out continues the tab. */
export interface VoucherChange {
  readonly seq?: number
  readonly ceiling?: bigint
  readonly serviceId?: string
  /** The request that the voucher is bound to, if not that of the call. */
  readonly boundTo?: string
}

/** A voucher payload, as the wire has it. */
export interface VoucherPayload {
  readonly type: string
  readonly channelId: string
  readonly voucher: JsonBody
}

/** A payer with a tab, who speaks to the seller over the wire alone. */
export class TabPayer {
  readonly tabId: TxId
  readonly opening: Transaction
  readonly deposit: Amount
  readonly #door: TabDoor
  readonly #seed: Uint8Array
  seq = 0
  /** Sum that the payer allowed so far. */
  ceiling = 0n

  constructor(door: TabDoor, { opening, tabId, seed }: TestTab) {
    this.#door = door
    this.opening = opening
    this.tabId = tabId
    this.#seed = seed
    this.deposit = (opening.body as Extract<Transaction['body'], { kind: 'tab_open' }>).payload.deposit
  }

  /** The next voucher, for one request. */
  voucher(request: string, change: VoucherChange = {}): VoucherPayload {
    const { serviceId = AGAIN, boundTo = request } = change
    this.seq = change.seq ?? this.seq + 1
    this.ceiling = change.ceiling ?? this.ceiling + this.#door.price
    const secret = randomBytes(32)
    const call = { agentId: SHOP, serviceId: serviceId as ServiceId, request: boundTo }
    const context = requestCommitment(secret, call)
    const terms = { seq: this.seq, ceiling: units(this.ceiling), context }
    const signature = NATIVE_BACKEND.signEd25519(voucherMessage(this.#door.network, this.tabId, terms), this.#seed)
    const shown = { seq: this.seq, maxClaimableAmount: `${this.ceiling}`, secret: toHex(secret) }
    return { type: 'voucher', channelId: this.tabId, voucher: { ...shown, signature: toHex(signature) } }
  }

  /** A signed query: its time and its signature. */
  query(what: 'state' | 'refund', timeMs = this.#door.market.time.now()): { timeMs: number; signature: string } {
    const message = tabQueryMessage(this.#door.network, { tabId: this.tabId, what, timeMs })
    return { timeMs, signature: toHex(NATIVE_BACKEND.signEd25519(message, this.#seed)) }
  }

  refund(): JsonBody {
    return { type: 'refund', channelId: this.tabId, ...this.query('refund') }
  }
}

/** Parts of a door that a test may replace. */
export interface DoorParts extends TabShopParts {
  readonly stable?: DollarRail
  readonly limits?: Partial<HttpLimits>
  readonly chat?: ChatApi
}

const opened: TabDoor[] = []

/** A server on a real socket over a seller that takes tabs, with its LevelDB. The test mines the blocks. */
export class TabDoor {
  readonly shop: TabShop
  readonly node: NodeApi
  readonly url: string
  /** Exceptions that the node met while it answered: bugs. */
  readonly errors: unknown[]
  /** What the server reports of each request, for logs and metrics. */
  readonly reports: unknown[]
  /** How often a signature of a tab was checked. */
  readonly checks: { count: number }
  readonly #app: FastifyInstance

  private constructor(
    made: Pick<TabDoor, 'shop' | 'node' | 'url' | 'errors' | 'reports' | 'checks'>,
    app: FastifyInstance,
  ) {
    this.shop = made.shop
    this.node = made.node
    this.url = made.url
    this.errors = made.errors
    this.reports = made.reports
    this.checks = made.checks
    this.#app = app
    opened.push(this)
  }

  static async open({ stable, limits = {}, chat, ...parts }: DoorParts = {}): Promise<TabDoor> {
    const checks = { count: 0 }
    const backend = {
      verifyEd25519: (...signed: Parameters<typeof NATIVE_BACKEND.verifyEd25519>): boolean => {
        checks.count += 1
        return NATIVE_BACKEND.verifyEd25519(...signed)
      },
    }
    const verifyLater: typeof verifyTabLater = (job) => {
      checks.count += 1
      return verifyTabLater(job)
    }
    const shop = await TabShop.open({ ...parts, rail: { backend, verifyLater, ...parts.rail } })
    const { market, rail, store } = shop
    const { chain } = market.test
    const tabs = new TabCounter({ rail, chain, store, shop: market.shop, backend })
    const node = { ...nodeOf(market, { tabs, stable: stable ?? null }), chat: chat ?? null }
    const errors: unknown[] = []
    const reports: unknown[] = []
    const app = await createServer(node, {
      limits: { ...DEFAULT_HTTP_LIMITS, delayMsMax: 100_000, ...limits },
      trustProxy: false,
      onError: (error) => void errors.push(error),
      onAnswer: (facts) => void reports.push(facts),
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return new TabDoor({ shop, node, url, errors, reports, checks }, app)
  }

  get market(): TestMarket {
    return this.shop.market
  }

  get network() {
    return this.market.test.chain.network
  }

  /** What a call of {@link AGAIN} costs. */
  get price(): bigint {
    return this.market.priceOf(AGAIN)
  }

  /** A payer whose opening is signed and not sent. */
  async newPayer(change: Parameters<TabShop['opening']>[0] = {}, from = 1): Promise<TabPayer> {
    return new TabPayer(this, await this.shop.opening(change, from))
  }

  /** A payer whose tab is open. */
  async payer(from = 1): Promise<TabPayer> {
    const payer = await this.newPayer({}, from)
    await this.market.mine([payer.opening])
    return payer
  }

  /** Calls a service over HTTP, with a payload or without. */
  call(
    request: string | undefined,
    payload: object | null,
    { serviceId = AGAIN, query = '', ...headers }: Readonly<Record<string, string>> = {},
  ): Promise<Reply<CallView>> {
    const signed = payload === null ? {} : { 'payment-signature': headerOf(payload) }
    return post(this.url, `/api/x402/${serviceId}${query}`, { request }, { ...signed, ...headers })
  }

  /** Hands a transaction over at `POST /api/tabs`. */
  handOver(tx: Transaction): Promise<Reply> {
    return post(this.url, '/api/tabs', { transaction: toHex(encodeTransaction(tx)) })
  }

  /** A GET of the paid address. */
  get(payload: object | null, query = ''): Promise<Reply<CallView>> {
    const headers: Record<string, string> = payload === null ? {} : { 'payment-signature': headerOf(payload) }
    return ask(this.url, `/api/x402/${AGAIN}${query}`, { headers })
  }

  /** Ends the rail as a killed process does, and starts another on what is on disk, behind the same address. */
  async restart(): Promise<void> {
    await this.shop.restart()
    const { rail, store, market } = this.shop
    const parts = { rail, store, shop: market.shop, chain: market.test.chain, backend: NATIVE_BACKEND }
    Object.assign(this.node.market as MarketApi, { tabs: new TabCounter(parts) })
  }

  async close(): Promise<void> {
    await this.#app.close()
  }
}

/** A payment as our own client sends it: scheme and network alone. */
export function paymentOf(payload: object): JsonBody {
  return { x402Version: 2, accepted: { scheme: 'batch-settlement', network: 'farthing:1' }, payload }
}

/** A payment as the header has it. */
export function headerOf(payload: object): string {
  return base64({ ...paymentOf(payload) })
}

/** JSON in base64. */
export function base64(json: object): string {
  return Buffer.from(JSON.stringify(json)).toString('base64')
}

/** The JSON of a header in base64; `{}` without the header. */
export function decoded({ headers }: { readonly headers: Headers }, name: string): JsonBody {
  const value = headers.get(name)
  return value === null ? {} : (JSON.parse(Buffer.from(value, 'base64').toString()) as JsonBody)
}

/** Closes every door that a test has opened, and the markets. */
export async function closeDoors(): Promise<void> {
  const errors: unknown[] = []
  for (const door of opened.splice(0)) {
    await door.close()
    errors.push(...door.errors)
  }
  await closeTabShops()
  await closeMarkets()
  if (errors.length > 0) throw errors[0]
}

/** What a server shows of a market with some rails. */
export function nodeOf(market: TestMarket, rails: Pick<MarketApi, 'tabs' | 'stable' | 'channels'>): NodeApi {
  const { shop, price, store, settler, sender, mempool, till } = market
  const api = { shop, price, store, settler, sender, till, settings: DEFAULT_MARKET_SETTINGS, ...rails }
  return {
    version: 'test',
    startedAtMs: 0,
    clock: market.time,
    chain: market.test.chain,
    mempool,
    market: api as unknown as MarketApi,
    mining: () => ({ threads: 0, hashesPerSecond: 0, rewardTo: null }),
    peerCount: () => 0,
    notReadyBecause: () => [],
    metrics: async () => '',
    publicUrl: null,
  } as unknown as NodeApi
}
