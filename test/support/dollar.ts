import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import { evmAddressOf, signDigest } from '../../consensus/external/eip712.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { DollarCall, DollarSettled } from '../../marketplace/till/rails/dollar/claim.ts'
import {
  DOLLAR_CLAIMS,
  type DollarClaim,
  type DollarClaimStore,
  type DollarPayment,
} from '../../marketplace/till/rails/dollar/claim.ts'
import { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import { FacilitatorPool } from '../../marketplace/till/rails/dollar/facilitators.ts'
import { digestOf } from '../../marketplace/till/rails/dollar/identity.ts'
import { Refunder, type RefundWallet } from '../../marketplace/till/rails/dollar/refunds.ts'
import type { DollarTerms } from '../../marketplace/till/rails/dollar/terms.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/till/settings.ts'
import { Workshop } from '../../marketplace/till/workshop.ts'
import { EvmRpc } from '../../src/adapters/evm-rpc.ts'
import { HttpFacilitator } from '../../src/adapters/facilitator-http.ts'
import { systemTimers } from '../../src/daemon/runtime.ts'
import { LevelClaimStore } from '../../src/storage/level-claims.ts'
import { TestFacilitator } from './dollar-facilitator.ts'
import { AGAIN, type MarketParts, TestMarket } from './market.ts'
import { until } from './processes.ts'
import { TestToken } from './stable-token.ts'

/** Terms of a node on Base's test network. */
export const TERMS: DollarTerms = {
  network: { word: 'base-sepolia', caip2: 'eip155:84532', chainId: 84_532 },
  asset: {
    symbol: 'USDC',
    contract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    decimals: 6,
    domain: { name: 'USDC', version: '2' },
  },
  payTo: '0x4a62316623ad457F02cDC5D997deD67a383EC569',
  maxTimeoutSeconds: 120,
}
/** Extensions that a test's seller sends to facilitators. */
export const OWN_WORDS = { extensions: { bazaar: { info: {} }, 'payment-identifier': { info: { required: false } } } }
/** Price of test services, in units of the token. */
export const PRICE = 2_000n

export interface Payer {
  readonly key: Uint8Array
  readonly address: string
}

export function newPayer(): Payer {
  const key = new Uint8Array(randomBytes(32))
  return { key, address: evmAddressOf(key) as string }
}

/** A refund wallet with the key of a payer. */
export function walletOf({ key, address }: Payer): RefundWallet {
  return { address, sign: (message) => signDigest(key, digestOf(TERMS, message)) }
}

/** Parts of a payment that differ from the valid one. */
export type Change = Partial<Omit<DollarPayment['authorization'], 'from' | 'signature'>>

/** A signed payment for an offer, as the cashier reads it from a header. */
export function paymentOf(payer: Payer, change: Change = {}, version: 1 | 2 = 2): DollarPayment {
  const validBefore = BigInt(Math.floor(Date.now() / 1_000) + TERMS.maxTimeoutSeconds)
  const message = {
    ...{ from: payer.address, to: TERMS.payTo.toLowerCase(), value: PRICE, validAfter: 0n, validBefore },
    nonce: `0x${toHex(new Uint8Array(randomBytes(32)))}`,
    ...change,
  }
  const signature = signDigest(payer.key, digestOf(TERMS, message))
  const { network, asset, payTo, maxTimeoutSeconds } = TERMS
  const extra = asset.domain
  const accepted = {
    ...{ scheme: 'exact', network: network.caip2, amount: message.value.toString(), asset: asset.contract },
    ...{ payTo, maxTimeoutSeconds, extra },
  }
  const text = (number: bigint): string => number.toString()
  const authorization = {
    ...message,
    ...{ value: text(message.value), validAfter: text(message.validAfter), validBefore: text(message.validBefore) },
  }
  const payload = { signature, authorization }
  return {
    version,
    authorization: { ...message, signature },
    accepted: version === 2 ? accepted : null,
    payload:
      version === 2
        ? { x402Version: 2, accepted, payload }
        : { x402Version: 1, scheme: 'exact', network: network.word, payload },
    paymentIdentifier: null,
  }
}

/** Parts of a rail. What is left out gets a value that works. */
export interface RailParts extends MarketParts {
  readonly facilitators?: number
  readonly hasLedger?: boolean
  readonly hasRefundKey?: boolean
  /** The refund wallet, if it differs from that of the first start. */
  readonly refunder?: Payer
  readonly settleWaitMs?: number
  /** Whether work is held from the start. Otherwise the work of resumed claims begins before a test can hold it. */
  readonly holdsWork?: boolean
  /** Changes to the operator's terms. */
  readonly terms?: Partial<DollarTerms>
  readonly wrapStore?: (store: DollarClaimStore) => DollarClaimStore
  /** A clock and timers by which a day of this rail passes in seconds. */
  readonly clock?: Clock
  readonly timers?: Timers
}

/** Changes to a call. `client` is the sender's address, and `network` (by default the same text) names the network that it belongs to. */
export type OrderChange = Partial<DollarCall> & { readonly client?: string; readonly network?: string }

const opened: TestRail[] = []

/** The dollar rail in this process: real till, adapters over real sockets, LevelDB. Facilitators and token are fakes. */
export class TestRail {
  readonly market: TestMarket
  readonly token: TestToken
  readonly facilitators: readonly TestFacilitator[]
  readonly store: DollarClaimStore & { close(): Promise<void> }
  readonly dollar: DollarRail
  readonly till: DollarRail['till']
  readonly pool: FacilitatorPool
  readonly faults: Fault[] = []
  readonly errors: unknown[] = []
  readonly treasury: Payer
  readonly #parts: RailParts
  readonly #rpcUrl: string

  private constructor(parts: RailParts, made: Made) {
    this.#parts = parts
    this.market = made.market
    this.token = made.token
    this.facilitators = made.facilitators
    this.store = made.store
    this.treasury = made.treasury
    this.#rpcUrl = made.rpcUrl
    const { clock = { now: Date.now }, timers = systemTimers } = parts
    const { chain } = this.market.test
    const all = this.facilitators.map(({ url }) => new HttpFacilitator(url))
    this.pool = new FacilitatorPool({ facilitators: all, network: TERMS.network, clock, timers })
    const ledger = parts.hasLedger === false ? null : new EvmRpc(this.#rpcUrl, TERMS.network.chainId, Date.now)
    const onError = (error: unknown): void => void this.errors.push(error)
    const onFault = (cause: Fault): void => void this.faults.push(cause)
    const store = parts.wrapStore?.(this.store) ?? this.store
    const shared = { store, facilitators: this.pool, ledger, clock, timers, onError }
    const terms = { ...TERMS, ...parts.terms }
    const wallet = parts.hasRefundKey === false ? null : walletOf(parts.refunder ?? this.treasury)
    const refunder = new Refunder({ ...shared, terms, wallet, onFault })
    const { settleWaitMs = 5_000 } = parts
    this.dollar = new DollarRail({
      ...{ ...shared, chain, shop: this.market.shop, workshop: new Workshop(chain, clock), refunder, onFault },
      seller: {
        terms,
        offerOf: (id) => ({ ...OWN_WORDS, resource: { url: `http://127.0.0.1/api/x402/${id}?rail=stable` } }),
      },
      settings: { ...DEFAULT_MARKET_SETTINGS, settleWaitMs },
    })
    this.till = this.dollar.till
    opened.push(this)
  }

  static async open(parts: RailParts = {}): Promise<TestRail> {
    const market = await TestMarket.open(parts)
    const token = new TestToken(TERMS)
    const rpcUrl = await token.listen()
    const facilitators: TestFacilitator[] = []
    for (let i = 0; i < (parts.facilitators ?? 1); i++) facilitators.push(await new TestFacilitator(token).open())
    const store = await LevelClaimStore.open(join(market.folder, 'stable'), DOLLAR_CLAIMS)
    const treasury = newPayer()
    token.mint(treasury.address, 1_000_000n)
    const rail = new TestRail(parts, { market, token, facilitators, store, treasury, rpcUrl })
    await rail.start()
    return rail
  }

  async start(): Promise<void> {
    if (this.#parts.holdsWork === true) this.market.workbench.hold()
    await this.pool.start()
    await this.till.resume()
  }

  /** Abandons the till, as if its process was killed, and opens another rail on the same store. */
  async restart(change: Partial<RailParts> = {}): Promise<TestRail> {
    this.till.abandon()
    this.market.workbench.release()
    await this.till.stop()
    opened.splice(opened.indexOf(this), 1)
    const rail = new TestRail({ ...this.#parts, ...change }, this.#made())
    await rail.start()
    return rail
  }

  /** Opens another replica of the same operator, with the same store, facilitators and token. The test must stop it. */
  async replica(): Promise<TestRail> {
    const rail = new TestRail({ ...this.#parts, wrapStore: (store) => store }, this.#made())
    opened.splice(opened.indexOf(rail), 1)
    await rail.start()
    return rail
  }

  #made(): Made {
    const { market, token, facilitators, store, treasury } = this
    return { market, token, facilitators, store, treasury, rpcUrl: this.#rpcUrl }
  }

  get facilitator(): TestFacilitator {
    return this.facilitators[0] as TestFacilitator
  }

  /** A new payer with one dollar. */
  payer(): Payer {
    const payer = newPayer()
    this.token.mint(payer.address, 1_000_000n)
    return payer
  }

  order(request = 'ok', { client, network, ...change }: OrderChange = {}): DollarCall {
    const payment = change.payment ?? paymentOf(this.payer())
    const from = client === undefined ? {} : { from: { address: client, network: network ?? client } }
    return { serviceId: AGAIN, request, idempotencyKey: null, ...from, ...change, payment }
  }

  settle(call: DollarCall): Promise<Result<DollarSettled>> {
    return this.till.settle(call)
  }

  /** Makes a call and returns `settled`, `replayed` or the fault's code. */
  async codeOf(call: DollarCall): Promise<string> {
    const outcome = await this.settle(call)
    return outcome.ok ? (outcome.value.replayed ? 'replayed' : 'settled') : outcome.fault.code
  }

  /** The claim of the only payment. Undefined while there is none. */
  async claim(): Promise<DollarClaim | undefined> {
    const { claims } = await this.store.recent(1, null)
    return claims[0] === undefined ? undefined : this.store.get(claims[0].id)
  }

  /** Waits until the only payment's claim is in a state. */
  async reaches(state: DollarClaim['state']): Promise<DollarClaim> {
    return until(`the claim is ${state}`, async () => {
      const claim = await this.claim()
      return claim?.state === state ? claim : null
    })
  }

  /** How often services began to work. */
  get runs(): number {
    return this.market.workbench.begun.length
  }

  /** Units of the token that the seller was paid. */
  get income(): bigint {
    return this.token.balance(TERMS.payTo)
  }
}

/** A store with some of its methods replaced. */
export function storeWith(store: DollarClaimStore, methods: Partial<DollarClaimStore>): DollarClaimStore {
  const own = (name: string | symbol): unknown => {
    const member: unknown = Reflect.get(store, name, store)
    return typeof member === 'function' ? member.bind(store) : member
  }
  return new Proxy(store, { get: (_, name) => Reflect.get(methods, name) ?? own(name) })
}

interface Made {
  readonly market: TestMarket
  readonly token: TestToken
  readonly facilitators: readonly TestFacilitator[]
  readonly store: DollarClaimStore & { close(): Promise<void> }
  readonly treasury: Payer
  readonly rpcUrl: string
}

/** Closes every rail that a test has opened, except replicas. Must be called before the markets are closed. */
export async function closeRails(): Promise<void> {
  for (const rail of opened.splice(0)) {
    rail.till.abandon()
    rail.market.workbench.release()
    for (const facilitator of rail.facilitators) await facilitator.close()
    await rail.till.stop()
    await rail.store.close()
    await rail.token.close()
  }
}
