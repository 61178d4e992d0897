import { createPrivateKey, randomBytes, sign } from 'node:crypto'
import { join } from 'node:path'
import { LAUNCH_RULES, TAB_RULES } from '../../config/networks/rules.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import { TAB_SCHEME } from '../../consensus/crypto/tab-signing.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { Hash, TxId } from '../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../consensus/tx/kinds.ts'
import { requestCommitment } from '../../consensus/tx/request-hash.ts'
import { tabQueryMessage, voucherMessage } from '../../consensus/tx/tab-messages.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { TABS, type Tab } from '../../marketplace/ledger/tab-records.ts'
import { ValueAtRisk } from '../../marketplace/till/rails/native/payment.ts'
import type { TabPaidCall, TabQuery } from '../../marketplace/till/rails/tab/tab-call.ts'
import { TabRail, type TabRailDependencies } from '../../marketplace/till/rails/tab/tab-rail.ts'
import type { ReceiptSigner } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/till/settings.ts'
import { Workshop } from '../../marketplace/till/workshop.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { verifyTabLater } from '../../src/crypto/tab-verifier.ts'
import { LevelTabStore } from '../../src/storage/level-tabs.ts'
import { wallet } from './chain.ts'
import { AGAIN, type MarketParts, SHOP, TestMarket } from './market.ts'
import { testRuleBook } from './network.ts'
import { units } from './unsigned.ts'

/** Rules of a chain that has tabs. */
export const tabRuleBook = () => testRuleBook({ tx: { ...LAUNCH_RULES.tx, tabs: TAB_RULES } })

const RECEIPT_SEED = new Uint8Array(32).fill(7)
const RECEIPT_KEY = createPrivateKey({
  key: RECEIPT_SEED,
  format: 'raw-private',
  asymmetricKeyType: 'ed25519',
} as never)

/** Signs the receipts of the test seller. */
export const TEST_SIGNER: ReceiptSigner = {
  key: toHex(NATIVE_BACKEND.publicKeyEd25519(RECEIPT_SEED)) as Hash,
  sign: (message) => sign(null, message, RECEIPT_KEY),
}

/** A tab as its payer has it. */
export interface TestTab {
  readonly tabId: TxId
  readonly seed: Uint8Array
  readonly opening: Transaction
  /** The next number of a call, and the ceiling that was signed last. */
  seq: number
  ceiling: bigint
}

/** What a test orders on a tab. What is left out gets a value that works. */
export interface TabOrderParts {
  readonly serviceId?: string
  readonly seq?: number
  readonly ceiling?: bigint
  readonly secret?: Uint8Array
  /** Signs in place of the voucher key of the tab. */
  readonly seed?: Uint8Array
  readonly transaction?: TxId
  readonly change?: Partial<TabPaidCall>
}

/** What a tab rail is made with, besides a market. */
export interface TabShopParts extends MarketParts {
  readonly wrapTabs?: (store: TabStore) => TabStore
  readonly rail?: Partial<TabRailDependencies>
}

const opened: TabShop[] = []

/** A seller with tabs: a market in this process, its tab rail, and a LevelDB of its own. */
export class TabShop {
  readonly market: TestMarket
  readonly #parts: TabShopParts
  level: LevelTabStore
  store: TabStore
  rail: TabRail

  private constructor(market: TestMarket, level: LevelTabStore, parts: TabShopParts) {
    this.market = market
    this.level = level
    this.#parts = parts
    this.store = parts.wrapTabs?.(level) ?? level
    this.rail = this.railOver(this.store)
    opened.push(this)
  }

  static async open(parts: TabShopParts = {}): Promise<TabShop> {
    const market = await TestMarket.open({ ruleBook: tabRuleBook(), ...parts })
    const level = await LevelTabStore.open(join(market.folder, 'tabs'))
    const shop = new TabShop(market, level, parts)
    await shop.publishTerms()
    return shop
  }

  get till() {
    return this.rail.till
  }

  /** A rail over a store of tabs, as another replica has it. */
  railOver(store: TabStore): TabRail {
    const { market } = this
    const { chain } = market.test
    return new TabRail({
      ...{ chain, store, shop: market.shop, sink: market.mempool, price: market.price },
      settings: { ...DEFAULT_MARKET_SETTINGS, ...this.#parts.settings },
      ...{ clock: market.time, timers: market.time, workshop: new Workshop(chain, market.time) },
      ...{ signer: TEST_SIGNER, backend: NATIVE_BACKEND, verifyLater: verifyTabLater, pacer: UNPACED },
      atRisk: new ValueAtRisk(chain, market.price),
      onError: (error) => {
        throw error
      },
      ...this.#parts.rail,
    })
  }

  async publishTerms(change: Partial<PayloadOf<'tab_terms'>> = {}): Promise<void> {
    const terms = { agentId: SHOP, receiptKey: TEST_SIGNER.key, minDeposit: units(1_000_000), minCloseDelay: 400 }
    await this.market.mine([await this.market.test.tx(wallet(2), 'tab_terms', { ...terms, ...change })])
  }

  /** Signs an opening and does not send it. */
  async opening(change: Partial<PayloadOf<'tab_open'>> = {}, from = 1): Promise<TestTab> {
    const seed = new Uint8Array(randomBytes(32))
    const voucherKey = toHex(NATIVE_BACKEND.publicKeyEd25519(seed)) as Hash
    const payload = { agentId: SHOP, deposit: units(100_000_000), term: 1_200, closeDelay: 400, scheme: TAB_SCHEME }
    const opening = await this.market.test.tx(wallet(from), 'tab_open', { ...payload, voucherKey, ...change })
    return { tabId: opening.txId, seed, opening, seq: 1, ceiling: 0n }
  }

  /** Opens a tab and mines blocks on it. */
  async openTab(change: Partial<PayloadOf<'tab_open'>> = {}, depth = 1): Promise<TestTab> {
    const tab = await this.opening(change)
    await this.market.mine([tab.opening])
    for (let i = 1; i < depth; i++) await this.market.mine()
    return tab
  }

  /** A call with a voucher for one more call at the price of now. */
  order(tab: TestTab, request: string, parts: TabOrderParts = {}): TabPaidCall {
    const { serviceId = AGAIN, seq = tab.seq, secret = new Uint8Array(randomBytes(32)) } = parts
    const ceiling = units(parts.ceiling ?? tab.ceiling + this.market.priceOf(serviceId))
    if (parts.seq === undefined) tab.seq += 1
    if (parts.ceiling === undefined) tab.ceiling = ceiling
    const call = { agentId: SHOP, serviceId: serviceId as never, request }
    const context = requestCommitment(secret, call)
    const message = voucherMessage(this.market.test.chain.network, tab.tabId, { seq, ceiling, context })
    const signature = NATIVE_BACKEND.signEd25519(message, parts.seed ?? tab.seed)
    const voucher = { seq, ceiling, secret, signature }
    const payment = { tabId: tab.tabId, voucher, transaction: parts.transaction ?? null }
    return { serviceId, request, payment, ...parts.change }
  }

  /** Orders and settles. */
  settle(tab: TestTab, request: string, parts: TabOrderParts = {}) {
    return this.till.settle(this.order(tab, request, parts))
  }

  query(tab: TestTab, what: 'state' | 'refund', timeMs = this.market.time.now()): TabQuery {
    const message = tabQueryMessage(this.market.test.chain.network, { tabId: tab.tabId, what, timeMs })
    return { tabId: tab.tabId, timeMs, signature: NATIVE_BACKEND.signEd25519(message, tab.seed) }
  }

  record({ tabId }: Pick<TestTab, 'tabId'>): Tab | undefined {
    return this.market.test.chain.database.get(TABS, tabId)
  }

  /** Ends the process of the rail, and starts another on what is on disk. `wrap` replaces the wrapper of its store. */
  async restart(wrap: (store: TabStore) => TabStore = (store) => store): Promise<void> {
    this.till.abandon()
    this.market.workbench.release()
    await this.market.quiet()
    await this.level.close()
    this.level = await LevelTabStore.open(join(this.market.folder, 'tabs'))
    this.store = wrap(this.level)
    this.rail = this.railOver(this.store)
    await this.till.resume()
    await this.market.quiet()
  }

  async close(): Promise<void> {
    this.till.abandon()
    this.market.workbench.release()
    await this.market.quiet()
    await this.level.close()
  }
}

/** Closes every seller that a test has opened. Call it before `closeMarkets`. */
export async function closeTabShops(): Promise<void> {
  for (const shop of opened.splice(0)) await shop.close()
}
