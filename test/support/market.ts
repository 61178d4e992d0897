import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Block } from '../../consensus/block/block.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import { epochOf } from '../../consensus/ledger/epoch.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { ReceiptEntry } from '../../consensus/tx/payloads.ts'
import { lockOf, openerOf } from '../../consensus/tx/redeem-lock.ts'
import { requestCommitment } from '../../consensus/tx/request-hash.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import type { Service } from '../../marketplace/ledger/agents.ts'
import { capabilityNumber, capabilitySet } from '../../marketplace/ledger/capabilities.ts'
import { type Closure, closureOf } from '../../marketplace/ledger/closures.ts'
import { ESCROWS, type Escrow } from '../../marketplace/ledger/escrow.ts'
import type { Outside } from '../../marketplace/ports/outside.ts'
import type { ServiceContext } from '../../marketplace/services/context.ts'
import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import type { Settled } from '../../marketplace/till/rail.ts'
import {
  type FinishedClaim,
  NATIVE_CLAIMS,
  type NativeClaimStore,
  type PaidCall,
} from '../../marketplace/till/rails/native/claim.ts'
import { NativeRail } from '../../marketplace/till/rails/native/native-rail.ts'
import { chainPrice, type NativePriceSource, priceIn } from '../../marketplace/till/rails/native/price.ts'
import { Sender } from '../../marketplace/till/rails/native/sender.ts'
import { Settler } from '../../marketplace/till/rails/native/settler.ts'
import { DEFAULT_MARKET_SETTINGS, type MarketSettings } from '../../marketplace/till/settings.ts'
import { type Offer, type Operator, Shop } from '../../marketplace/till/shop.ts'
import { Workshop } from '../../marketplace/till/workshop.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import { buildTemplate } from '../../miner/template.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { halfVerdicts, isTabSignature } from '../../src/crypto/signature-facts.ts'
import type { WalletKey } from '../../src/crypto/wallet-key.ts'
import { mempoolFacts } from '../../src/market/open-market.ts'
import { LevelClaimStore } from '../../src/storage/level-claims.ts'
import { TestChain, type TxOptions, wallet } from './chain.ts'
import { TestTime, WatchedClaims, Workbench } from './market-parts.ts'
import { outsideOf } from './outside.ts'
import { removeFolder, temporaryFolder } from './processes.ts'
import { TEST_SERVICES } from './test-services.ts'
import { agentId, serviceId, units } from './unsigned.ts'

/** The agent that sells in these tests. */
export const SHOP = agentId('shop')
/** Test services: one that may run twice, and one that may not. */
export const AGAIN = serviceId('node-test-again')
export const ONCE = serviceId('node-test-once')

/** Parts of a market that a test may replace. */
export interface MarketParts {
  readonly ruleBook?: RuleBook
  /** A chain to sell on, with the blocks that it has. */
  readonly test?: TestChain
  /** A store that another replica has opened. */
  readonly store?: WatchedClaims
  /** Wraps the rail's store. */
  readonly wrapNativeStore?: (store: NativeClaimStore) => NativeClaimStore
  readonly folder?: string
  readonly services?: readonly ServiceDefinition[]
  /** Prices in millionths of a dollar, for services whose price differs from the default. */
  readonly prices?: Readonly<Record<string, bigint>>
  readonly settings?: Partial<MarketSettings>
  /** What services can use besides the chain. By default nothing. */
  readonly outside?: Partial<Outside>
  readonly operator?: Partial<Operator>
  /** Whether agent and services are published on chain at once. By default if the agent is not there yet. */
  readonly published?: boolean
}

/** What a test pays for. What is left out gets a value that works. */
export interface Order {
  /** Number of a development wallet, or a key. */
  readonly from?: number | WalletKey
  readonly serviceId?: string
  readonly agentId?: string
  readonly amount?: bigint
  readonly term?: number
  readonly lock?: 'lock' | 'commitment' | 'none'
  readonly tx?: TxOptions
}

/** A payment with everything that redeems it. */
export interface TestPayment extends PaidCall {
  readonly tx: Transaction
}

const opened: TestMarket[] = []

/**
 * A market in this process with real parts: chain, mempool, LevelDB claims in its own folder. Time passes only when the
 * test says so. A receipt is sent 500 ms after its call.
 */
export class TestMarket {
  readonly test: TestChain
  readonly mempool: Mempool
  readonly store: WatchedClaims
  readonly operator: Operator
  readonly shop: Shop
  readonly sender: Sender
  readonly settler: Settler
  readonly till: NativeRail['till']
  readonly price: NativePriceSource
  readonly time = new TestTime()
  readonly workbench = new Workbench()
  /** Faults that the settler reported. */
  readonly faults: Fault[] = []
  readonly #parts: MarketParts
  readonly folder: string
  #dead = false

  private constructor(test: TestChain, store: WatchedClaims, folder: string, parts: MarketParts) {
    this.test = test
    this.store = store
    this.folder = folder
    this.#parts = parts
    const { chain } = test
    const verifier = createInlineVerifier(NATIVE_BACKEND)
    this.mempool = new Mempool({ chain, verifier, policy: DEFAULT_MEMPOOL_POLICY })
    const key = wallet(2)
    const names = { agentId: SHOP, name: 'Shop', endpoint: '', url: null }
    this.operator = { ...names, owner: key.address, payout: key.address, settler: key, ...parts.operator }
    const { services = TEST_SERVICES, prices = {}, settings = {} } = parts
    const offers = services.map((definition): Offer => {
      const priceUsdMicros = prices[definition.serviceId] ?? definition.priceUsdMicros
      return { definition: this.workbench.watch(definition), priceUsdMicros }
    })
    this.shop = new Shop(this.operator, offers, this.#context())
    this.sender = new Sender(chain, this.mempool, this.operator.settler)
    const { shop, sender, time } = this
    this.settler = new Settler({
      chain,
      shop,
      store,
      sender,
      timers: time,
      onFault: (cause) => this.faults.push(cause),
    })
    this.price = chainPrice(chain)
    this.till = new NativeRail({
      ...{ chain, shop, sink: this.mempool, price: this.price, settler: this.settler },
      store: parts.wrapNativeStore?.(store) ?? store,
      ...{ settings: { ...DEFAULT_MARKET_SETTINGS, ...settings }, clock: time, timers: time },
      workshop: new Workshop(chain, time),
      onError: (error) => {
        throw error
      },
    }).till
    opened.push(this)
  }

  static async open(parts: MarketParts = {}): Promise<TestMarket> {
    const test = parts.test ?? (await TestChain.open(parts.ruleBook))
    const folder = parts.folder ?? temporaryFolder()
    const store = parts.store ?? new WatchedClaims(await LevelClaimStore.open(join(folder, 'market'), NATIVE_CLAIMS))
    const market = new TestMarket(test, store, folder, parts)
    if (parts.published ?? market.shop.agent === undefined) await market.publish()
    return market
  }

  /** Publishes agent and services on chain by hand, at the prices of the offers. */
  async publish(): Promise<void> {
    const { owner, payout, settler } = this.operator
    const signer = owner === settler.address ? (settler as WalletKey) : keyOf(owner)
    const capabilities = capabilitySet(this.shop.offers.map(({ definition }) => definition.capability))
    const agent = { agentId: SHOP, name: this.operator.name, endpoint: this.operator.endpoint, capabilities }
    const register = await this.test.tx(signer, 'agent_register', { ...agent, payout, settlers: [settler.address] })
    const services = await Promise.all(this.shop.offers.map((offer) => this.publication(offer)))
    await this.mine([register, ...services])
  }

  /** The transaction that publishes an offer, at its own price or another. */
  publication({ definition, priceUsdMicros }: Offer, price: bigint = priceUsdMicros): Promise<Transaction> {
    const { serviceId: id, name, requestFormat, description, capability } = definition
    const texts = { serviceId: id, capability: capabilityNumber(capability), name, requestFormat, description }
    const payload = { agentId: SHOP, ...texts, priceUsdMicros: price }
    return this.test.tx(keyOf(this.operator.owner), 'service_publish', payload)
  }

  /** The price of a service in a quote at this head. */
  priceOf(id: string): bigint {
    const { chain, height } = this.test
    const epoch = epochOf(height, chain.ruleBook.at(height).market)
    return priceIn(this.price, this.shop.record(id as ServiceId) as Service, epoch) as bigint
  }

  /** Signs a payment and does not send it. */
  async order(request: string, order: Order = {}): Promise<TestPayment> {
    const { from = 1, serviceId: id = ONCE, term = 400, lock = 'lock' } = order
    const secret = new Uint8Array(randomBytes(32))
    const call = { agentId: (order.agentId ?? SHOP) as typeof SHOP, serviceId: id as ServiceId }
    const payload = {
      ...call,
      amount: units(order.amount ?? this.priceOf(id)),
      units: 1,
      term,
      requestCommitment: lock === 'none' ? (ZERO_HEX_32 as Hash) : requestCommitment(secret, { ...call, request }),
      redeemLock: lock === 'lock' ? lockOf(openerOf(secret)) : (ZERO_HEX_32 as Hash),
    }
    const tx = await this.test.tx(typeof from === 'number' ? wallet(from) : from, 'agent_invoke', payload, order.tx)
    return { tx, txId: tx.txId, secret: lock === 'none' ? null : secret, serviceId: id, request }
  }

  /** Signs a payment and mines it. */
  async pay(request: string, order: Order = {}): Promise<TestPayment> {
    const payment = await this.order(request, order)
    await this.mine([payment.tx])
    return payment
  }

  /** Repeats the call with its payment. `change` replaces parts of it. */
  settle({ txId, secret, serviceId: id, request }: TestPayment, change: Partial<PaidCall> = {}) {
    return this.till.settle({ txId, secret, serviceId: id, request, ...change })
  }

  /** Pays, mines and settles. */
  async buy(
    request: string,
    order: Order = {},
  ): Promise<{ payment: TestPayment; answer: Result<Settled<FinishedClaim>> }> {
    const payment = await this.pay(request, order)
    return { payment, answer: await this.settle(payment) }
  }

  /** Mines a block and waits until all that follows from it is done. */
  async mine(transactions: readonly Transaction[] = []): Promise<Block> {
    const block = await this.test.mine(transactions)
    await this.quiet()
    return block
  }

  /** Mines blocks from the mempool, as a miner would. */
  async mineWaiting(count = 1): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.test.nowMs += 3_000
      const template = await buildTemplate(this.test.chain, UNPACED, {
        miner: wallet(9).address,
        nowMs: this.test.nowMs,
        candidates: this.mempool.candidates(),
        extra: new Uint8Array(32),
      })
      if (template === undefined) throw new Error('the head moved')
      await this.test.import(template.block)
      await this.quiet()
    }
  }

  /** Lets time pass and waits until all that follows from it is done. */
  async pass(ms: number): Promise<void> {
    this.time.pass(ms)
    await this.quiet()
  }

  /** Admits a transaction to the mempool. */
  async submit(tx: Transaction): Promise<void> {
    const submitted = await this.mempool.submit(tx)
    if (!submitted.ok) throw new Error(JSON.stringify(submitted.fault))
  }

  /** Waits until only held work is under way: until no claim is being read or written for three turns of the event loop. */
  async quiet(): Promise<void> {
    for (let idle = 0; idle < 3; idle = this.store.busy ? 0 : idle + 1) await setImmediate()
  }

  /** The open escrow of a payment. */
  escrow({ txId }: { readonly txId: TxId }): Escrow | undefined {
    return this.test.chain.database.get(ESCROWS, txId)
  }

  /** How the escrow of a payment ended. */
  closure({ txId }: { readonly txId: TxId }): Closure | undefined {
    return closureOf(this.test.chain.database, txId)
  }

  /** Entries of the receipts that wait to be mined. */
  get waitingEntries(): readonly ReceiptEntry[] {
    return this.sender.waiting.flatMap(({ body }) => (body.kind === 'agent_receipt' ? body.payload.entries : []))
  }

  /** Kills the node and starts it on what is on disk. The chain stays. */
  async restart(parts: MarketParts = {}): Promise<TestMarket> {
    this.#dead = true
    await this.settler.stop()
    await this.store.close()
    return TestMarket.open({ ...this.#parts, ...parts, test: this.test, folder: this.folder })
  }

  /** Opens another replica of the same operator: same chain and claims, own mempool. */
  replica(parts: MarketParts = {}): Promise<TestMarket> {
    const shared = { test: this.test, store: this.store, folder: this.folder }
    return TestMarket.open({ ...this.#parts, ...shared, ...parts })
  }

  async stop(): Promise<void> {
    if (this.#dead) return
    this.workbench.release()
    await this.till.stop()
    await this.settler.stop()
  }

  /** Closes the store and removes its folder. */
  async remove(): Promise<void> {
    await this.store.close()
    removeFolder(this.folder)
  }

  #context(): ServiceContext {
    const { mempool, time } = this
    return {
      chain: this.test.chain,
      mempool: mempoolFacts(mempool),
      clock: time,
      peerCount: () => 0,
      signatureFacts: () => {
        throw new Error('no service of these tests asks')
      },
      halfVerdicts,
      isTabSignature,
      powHasher: nativePowHasher,
      shelf: null,
      outside: outsideOf(this.#parts.outside),
    }
  }
}

/** Closes every market that a test has opened. */
export async function closeMarkets(): Promise<void> {
  const markets = opened.splice(0)
  for (const market of markets) await market.stop()
  for (const market of markets) await market.remove()
}

function keyOf(address: string): WalletKey {
  const key = Array.from({ length: 10 }, (_, i) => wallet(i + 1)).find((one) => one.address === address)
  if (key === undefined) throw new Error('the owner is no development wallet')
  return key
}
