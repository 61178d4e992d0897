import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { LAUNCH_RULES, TAB_RULES } from '../../config/networks/rules.ts'
import type { Rules } from '../../consensus/chain/params.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { TAB_SCHEME } from '../../consensus/crypto/tab-signing.ts'
import { decodeReceipt, type ReceiptOf } from '../../consensus/ledger/receipt.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { requestCommitment } from '../../consensus/tx/request-hash.ts'
import { voucherMessage } from '../../consensus/tx/tab-messages.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { TABS, type Tab } from '../../marketplace/ledger/tab-records.ts'
import { Claimer, type ClaimerDependencies } from '../../marketplace/till/rails/tab/claimer.ts'
import type { HeldVoucher } from '../../marketplace/till/rails/tab/tab-call.ts'
import { sealer } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import type { ReservedTabCall, TabRow, TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { walletReceiptSigner } from '../../src/crypto/receipt-key.ts'
import type { WalletKey } from '../../src/crypto/wallet-key.ts'
import { LevelTabStore } from '../../src/storage/level-tabs.ts'
import { seedOf } from './actors.ts'
import { wallet } from './chain.ts'
import { AGAIN, type MarketParts, SHOP, TestMarket } from './market.ts'
import { testRuleBook } from './network.ts'
import { units } from './unsigned.ts'

/** The test network with tabs. `change` replaces rules. */
export function tabRuleBook(change: Partial<Rules> = {}): RuleBook {
  return testRuleBook({ tx: { ...LAUNCH_RULES.tx, tabs: TAB_RULES }, ...change })
}

/** A tab that a test opened. */
export interface TestTab {
  readonly tabId: TxId
  readonly payer: WalletKey
  readonly seed: Uint8Array
}

/** What a call is charged, and for which service; `charge` null: the service failed. */
export interface TestCall {
  readonly charge: bigint | null
  readonly serviceId?: string
}

/** Parts of a seller that a test may replace. */
export interface SellerParts extends MarketParts {
  readonly claimer?: Partial<ClaimerDependencies>
  readonly tabs?: TabStore & { close(): Promise<void> }
  /** Close delay of the terms and of all tabs. */
  readonly closeDelay?: number
}

const SIGNER = walletReceiptSigner(seedOf(77))

/**
 * A seller of tabs with real parts: chain, mempool, and a LevelDB store of calls. Calls are put into the store as the rail does it;
 * a claimer posts claims for them.
 */
export class TabSeller {
  readonly market: TestMarket
  readonly store: TabStore & { close(): Promise<void> }
  readonly claimer: Claimer
  /** Faults that the claimer reported. */
  readonly faults: Fault[] = []
  /** Kills the process before or after a claim is on disk. */
  diesAtClaim: 'before' | 'after' | null = null
  readonly #parts: SellerParts
  readonly #real: TabStore & { close(): Promise<void> }
  #running = 0
  #isDead = false

  private constructor(market: TestMarket, real: TabStore & { close(): Promise<void> }, parts: SellerParts) {
    this.market = market
    this.#real = real
    this.#parts = parts
    this.store = this.#watched(real)
    const { shop, sender, mempool, time, test } = market
    this.claimer = new Claimer({
      ...{ chain: test.chain, shop, sender, sink: mempool, clock: time, store: this.store },
      onFault: (cause) => this.faults.push(cause),
      ...parts.claimer,
    })
  }

  /** A seller whose agent is on chain and takes tabs. */
  static async open(parts: SellerParts = {}): Promise<TabSeller> {
    const market = await TestMarket.open({ ruleBook: tabRuleBook(), ...parts })
    const store = parts.tabs ?? (await LevelTabStore.open(join(market.folder, 'tabs')))
    const seller = new TabSeller(market, store, parts)
    if (market.shop.agent !== undefined && parts.test === undefined) await seller.postTerms()
    return seller
  }

  get #closeDelay(): number {
    return this.#parts.closeDelay ?? 400
  }

  async postTerms(minDeposit = 1_000_000n): Promise<void> {
    const terms = {
      agentId: SHOP,
      receiptKey: SIGNER.key,
      minDeposit: units(minDeposit),
      minCloseDelay: this.#closeDelay,
    }
    await this.mine([await this.market.test.tx(wallet(2), 'tab_terms', terms)])
  }

  /** Opens tabs for development wallets, all in one block. */
  async openTabs(payers: readonly number[], deposit = 100_000_000n, term = 1_200): Promise<readonly TestTab[]> {
    const tabs: TestTab[] = []
    const transactions: Transaction[] = []
    for (const number of payers) {
      const payer = wallet(number)
      const seed = seedOf(1_000 + this.market.test.height * 1_000 + tabs.length)
      const voucherKey = toHex(NATIVE_BACKEND.publicKeyEd25519(seed)) as Hash
      const payload = {
        agentId: SHOP,
        deposit: units(deposit),
        term,
        closeDelay: this.#closeDelay,
        scheme: TAB_SCHEME,
        voucherKey,
      }
      const tx = await this.market.test.tx(payer, 'tab_open', payload)
      transactions.push(tx)
      tabs.push({ tabId: tx.txId, payer, seed })
    }
    await this.mine(transactions)
    return tabs
  }

  async openTab(payer = 1, deposit = 100_000_000n, term = 1_200): Promise<TestTab> {
    const [tab] = await this.openTabs([payer], deposit, term)
    return tab as TestTab
  }

  /** Answers calls on a tab, one after the other. */
  async serve(tab: TestTab, calls: readonly TestCall[]): Promise<void> {
    for (const call of calls) await this.#finish(await this.begin(tab, call), call.charge)
  }

  /** Takes a call and does not answer it yet. */
  async begin(tab: TestTab, { charge, serviceId = AGAIN }: TestCall): Promise<ReservedTabCall> {
    const { tabId, payer } = tab
    const row = this.store.peek(tabId)
    const chain = this.#tabOf(tab) as Tab
    const seq = (row?.seqMax ?? 0) + 1
    const price = charge ?? 0n
    const ceiling = (row?.charged ?? chain.claimed) + (row?.reserved ?? 0n) + price
    const voucher = voucherOf(this.market.test.chain.network, tab, { seq, ceiling, serviceId })
    const call: ReservedTabCall = {
      ...{ tabId, seq, serviceId: serviceId as ServiceId, voucher, state: 'claimed', request: `${seq}` },
      ...{ requestHash: '11'.repeat(32) as Hash, caller: payer.address, isRepeatable: true },
      ...{ price: `${price}`, priceUsdMicros: '1000', claimedAtMs: this.market.time.nowMs },
    }
    const { claimed, receipts } = chain
    const held = await this.store.reserve(call, { most: chain.deposit, claimed, receipts })
    if (held.is !== 'held') throw new Error(held.is)
    return call
  }

  /** Answers a call that was begun. */
  async finish(call: ReservedTabCall): Promise<void> {
    await this.#finish(call, BigInt(call.price))
  }

  async #finish(call: ReservedTabCall, charge: bigint | null): Promise<void> {
    const outcome =
      charge === null
        ? { charge: units(0), result: null, resultHash: '00'.repeat(32) as Hash, reason: 'service/failed' as const }
        : { charge: units(charge), result: '"yes"', resultHash: '22'.repeat(32) as Hash, reason: null }
    const end = { call, ...outcome, message: null, finishedAtMs: this.market.time.nowMs }
    await this.store.commit([end], sealer(SIGNER, this.market.test.chain.network))
  }

  /** The record of a tab on chain. */
  tabOnChain(tab: TestTab): Tab | undefined {
    return this.#tabOf(tab)
  }

  row({ tabId }: TestTab): Promise<TabRow | undefined> {
    return this.#real.tab(tabId)
  }

  /** Asks the payer's node to close the tab. */
  closeTx({ tabId, payer }: TestTab): Promise<Transaction> {
    return this.market.test.tx(payer, 'tab_close', { tabId })
  }

  /** Mines these transactions and waits until all that follows from it is done. */
  async mine(transactions: readonly Transaction[] = []): Promise<void> {
    await this.market.mine(transactions)
    await this.quiet()
  }

  async mineEmpty(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.mine()
  }

  /** Mines blocks from the mempool. */
  async mineWaiting(count = 1): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.market.mineWaiting()
      await this.quiet()
    }
  }

  /** Lets the claimer look, and waits until it is done. */
  async check(): Promise<void> {
    this.claimer.check()
    await this.quiet()
  }

  /** Lets ten minutes pass: after them a claim is due for calls that are worth it. The next block or check makes it. */
  ripen(): Promise<void> {
    return this.market.pass(10 * 60_000)
  }

  async quiet(): Promise<void> {
    for (let idle = 0; idle < 5; idle = this.#running > 0 ? 0 : idle + 1) await setImmediate()
  }

  /** Claims that wait to be mined, oldest first. */
  get waiting(): readonly Transaction<'tab_claim'>[] {
    return this.market.sender.waiting.filter(({ body }) => body.kind === 'tab_claim') as never
  }

  /** The receipt of a mined transaction. */
  receiptOf(txId: TxId): ReceiptOf<'transaction'> | undefined {
    const { database } = this.market.test.chain
    const location = database.location(txId)
    const id = location === undefined ? undefined : database.idAt(location.height)
    const receipts = id === undefined ? [] : (database.receipts(id) ?? []).map(decodeReceipt)
    return receipts.find((one) => one.type === 'transaction' && one.txId === txId) as never
  }

  /** Kills the process and starts it on what is on disk. Its mempool is gone, the chain stays. */
  async restart(parts: SellerParts = {}): Promise<TabSeller> {
    this.#isDead = true
    await this.#real.close()
    const market = this.#inTime(await this.market.restart(parts))
    const store = await LevelTabStore.open(join(market.folder, 'tabs'))
    return new TabSeller(market, store, { ...this.#parts, ...parts })
  }

  /** Another replica with its own settler and mempool on the same chain and store. */
  async replica(parts: SellerParts): Promise<TabSeller> {
    const market = this.#inTime(await this.market.replica(parts))
    return new TabSeller(market, this.#real, { ...this.#parts, ...parts })
  }

  /** Sets the clock of another process by this one. */
  #inTime(market: TestMarket): TestMarket {
    market.time.nowMs = this.market.time.nowMs
    return market
  }

  async stop(): Promise<void> {
    if (!this.#isDead) await this.claimer.stop()
    await this.#real.close()
  }

  #tabOf({ tabId }: TestTab): Tab | undefined {
    return this.market.test.chain.database.get(TABS, tabId)
  }

  /** Counts calls under way. After the process was killed none of them returns. */
  #watched(real: TabStore & { close(): Promise<void> }): TabStore & { close(): Promise<void> } {
    const watch = (name: string | symbol, work: () => unknown): unknown => {
      if (name === 'putClaim' && this.diesAtClaim !== null) {
        this.#isDead = true
        if (this.diesAtClaim === 'after') void work()
      }
      if (this.#isDead) return new Promise(() => {})
      const result = work()
      if (!(result instanceof Promise)) return result
      this.#running += 1
      const ended = (end: () => unknown): unknown => {
        this.#running -= 1
        return this.#isDead ? new Promise(() => {}) : end()
      }
      return result.then(
        (value: unknown) => ended(() => value),
        (error: unknown) => ended(() => Promise.reject(error)),
      )
    }
    return new Proxy(real, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target) as unknown
        if (typeof member !== 'function') return member
        return (...values: unknown[]) => watch(name, () => Reflect.apply(member, target, values))
      },
    })
  }
}

function voucherOf(
  network: TestMarket['test']['chain']['network'],
  { tabId, seed }: TestTab,
  { seq, ceiling, serviceId }: { readonly seq: number; readonly ceiling: bigint; readonly serviceId: string },
): HeldVoucher {
  const secret = seedOf(seq)
  const context = requestCommitment(secret, { agentId: SHOP, serviceId: serviceId as ServiceId, request: `${seq}` })
  const body = { seq, ceiling: units(ceiling), context }
  return { ...body, signature: toHex(NATIVE_BACKEND.signEd25519(voucherMessage(network, tabId, body), seed)) }
}
