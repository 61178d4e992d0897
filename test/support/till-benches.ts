import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { ClaimStore, StoredClaim } from '../../marketplace/till/claim-store.ts'
import type { Settled, TillCall } from '../../marketplace/till/rail.ts'
import type { DollarCall, DollarClaim } from '../../marketplace/till/rails/dollar/claim.ts'
import type { Claim } from '../../marketplace/till/rails/native/claim.ts'
import type { TabPaidCall } from '../../marketplace/till/rails/tab/tab-call.ts'
import type { TabRail } from '../../marketplace/till/rails/tab/tab-rail.ts'
import type { AnsweredTabRow } from '../../marketplace/till/rails/tab/tab-store.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/till/settings.ts'
import { Workshop } from '../../marketplace/till/workshop.ts'
import { systemTimers } from '../../src/daemon/runtime.ts'
import { LevelClaimStore } from '../../src/storage/level-claims.ts'
import { TestRail } from './dollar.ts'
import { type Death, FragileClaims, FragileTabs } from './fragile-claims.ts'
import { TestMarket, type TestPayment } from './market.ts'
import { until } from './processes.ts'
import { PURSE_CLAIMS, Purse, type PurseCall, type PurseClaim, PurseRail } from './purse-rail.ts'
import { closeTabShops, TabShop } from './tabs.ts'

/** What every till can do, with any rail. */
export interface AnyTill<Call> {
  readonly runningCount: number
  settle(call: Call): Promise<Result<Settled<StoredClaim>>>
  resume(): Promise<void>
  takeUp(): Promise<void>
  forget(): void
  stop(): Promise<void>
  abandon(): void
}

/** A till with a rail under test. */
export interface TillBench<Call extends TillCall = TillCall> {
  readonly market: TestMarket
  readonly till: AnyTill<Call>
  /** The claim store of the till's process. */
  readonly claims: Pick<FragileClaims<StoredClaim>, 'died' | 'asked' | 'isAway' | 'open'>
  /** Code of the answer to a call whose payment was taken for another request. */
  readonly otherCode: string
  /** Begun work of all processes, in order: "service request". */
  readonly begun: readonly string[]
  /** A call with a valid payment for a request. */
  order(request: string, serviceId: string): Promise<Call>
  /** Code of an answer: `answered`, `replayed`, or the reason of a failure. */
  codeOf(outcome: Result<Settled<StoredClaim>>): string
  /** Whether the operator kept the payment. Otherwise the payer has it back. */
  isEarned(call: Call): boolean
  /** Kills the process and starts another on what is on disk. */
  restart(): Promise<void>
  /** Opens another replica over the same claims. It resumes the open claims. */
  replica(): Promise<AnyTill<Call>>
  /** Lets blocks and time go on until no call is under way. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** A rail under test. The first process of a bench dies at `death`. */
export interface TestedRail {
  readonly name: string
  readonly open: (death?: Death | null) => Promise<TillBench>
}

/** The rails of a node, and a test double of one more. */
export const TESTED_RAILS: readonly TestedRail[] = [
  { name: 'native', open: (death = null) => NativeBench.open(death) },
  { name: 'dollar', open: (death = null) => DollarBench.open(death) },
  { name: 'tab', open: (death = null) => TabBench.open(death) },
  { name: 'purse', open: (death = null) => PurseBench.open(death) },
]

/** A wrapper that puts a {@link FragileClaims} around a rail's store, and a function that returns this object afterwards. */
function fragile<C extends StoredClaim>(death: Death | null = null) {
  const made: { claims?: FragileClaims<C> } = {}
  const wrapStore = (store: ClaimStore<C>): ClaimStore<C> => (made.claims = new FragileClaims(store, death))
  return { wrapStore, claims: () => made.claims as FragileClaims<C> }
}

/** Code of an answer, for rails whose refund is a fault. */
function plainCode(outcome: Result<Settled<StoredClaim>>): string {
  if (!outcome.ok) return outcome.fault.code
  return outcome.value.replayed ? 'replayed' : 'answered'
}

/** Waits until the only open claims are those of unused authorizations, which are watched until they expire. */
async function settled(store: Pick<ClaimStore<StoredClaim>, 'open'>): Promise<void> {
  await until('nothing is under way', async () => (await store.open()).every(({ state }) => state === 'unpaid'))
}

class NativeBench implements TillBench<TestPayment> {
  readonly otherCode = 'pay/already-redeemed'
  readonly begun: string[] = []
  market: TestMarket
  claims: FragileClaims<Claim>
  #replica: TestMarket | null = null

  private constructor(market: TestMarket, claims: FragileClaims<Claim>) {
    this.market = market
    this.claims = claims
    this.#watch(market)
  }

  static async open(death: Death | null): Promise<NativeBench> {
    const { wrapStore, claims } = fragile<Claim>(death)
    return new NativeBench(await TestMarket.open({ wrapNativeStore: wrapStore }), claims())
  }

  get till() {
    return this.market.till
  }

  order(request: string, serviceId: string): Promise<TestPayment> {
    return this.market.pay(request, { serviceId })
  }

  codeOf(outcome: Result<Settled<StoredClaim>>): string {
    const claim = outcome.ok ? (outcome.value.claim as Claim) : undefined
    return claim?.state === 'failed' ? claim.reason : plainCode(outcome)
  }

  isEarned(call: TestPayment): boolean {
    return this.market.closure(call)?.how === 'delivered'
  }

  async restart(): Promise<void> {
    const { wrapStore, claims } = fragile<Claim>()
    this.market = await this.market.restart({ wrapNativeStore: wrapStore })
    this.claims = claims()
    this.#watch(this.market)
    await this.till.resume()
    await this.market.quiet()
  }

  async replica() {
    const market = await this.market.replica({ wrapNativeStore: (store) => store })
    this.#replica = market
    this.#watch(market)
    await market.till.resume()
    return market.till
  }

  async rest(): Promise<void> {
    for (const market of [this.market, this.#replica ?? this.market])
      for (let i = 0; i < 4; i++) {
        await market.pass(500)
        await market.mineWaiting()
      }
  }

  async close(): Promise<void> {}

  #watch({ workbench }: TestMarket): void {
    workbench.onWork = () => void this.begun.push(workbench.begun.at(-1) as string)
  }
}

class DollarBench implements TillBench<DollarCall> {
  readonly otherCode = 'stable/used'
  claims: FragileClaims<DollarClaim>
  #rail: TestRail
  #replica: TestRail | null = null

  private constructor(rail: TestRail, claims: FragileClaims<DollarClaim>) {
    this.#rail = rail
    this.claims = claims
  }

  static async open(death: Death | null): Promise<DollarBench> {
    const { wrapStore, claims } = fragile<DollarClaim>(death)
    return new DollarBench(await TestRail.open({ wrapStore }), claims())
  }

  get market() {
    return this.#rail.market
  }

  get till() {
    return this.#rail.till
  }

  get begun() {
    return this.market.workbench.begun
  }

  async order(request: string, serviceId: string): Promise<DollarCall> {
    return this.#rail.order(request, { serviceId })
  }

  codeOf = plainCode

  isEarned({ payment }: DollarCall): boolean {
    return this.#rail.token.uses.some(({ nonce }) => nonce === payment.authorization.nonce)
  }

  async restart(): Promise<void> {
    const { wrapStore, claims } = fragile<DollarClaim>()
    this.claims.bury()
    this.#rail = await this.#rail.restart({ wrapStore })
    this.claims = claims()
  }

  async replica() {
    this.#replica = await this.#rail.replica()
    return this.#replica.till
  }

  async rest(): Promise<void> {
    await settled(this.#rail.store)
  }

  async close(): Promise<void> {
    this.#replica?.till.abandon()
    await this.#replica?.till.stop()
  }
}

class PurseBench implements TillBench<PurseCall> {
  readonly otherCode = 'stable/used'
  readonly market: TestMarket
  claims: FragileClaims<PurseClaim>
  till: AnyTill<PurseCall>
  readonly #store: LevelClaimStore<PurseClaim>
  readonly #purse = new Purse()
  readonly #opened: AnyTill<PurseCall>[] = []

  private constructor(market: TestMarket, store: LevelClaimStore<PurseClaim>, death: Death | null) {
    this.market = market
    this.#store = store
    this.claims = new FragileClaims(store, death)
    this.till = this.#open(this.claims)
  }

  static async open(death: Death | null): Promise<PurseBench> {
    const market = await TestMarket.open()
    return new PurseBench(market, await LevelClaimStore.open(join(market.folder, 'purse'), PURSE_CLAIMS), death)
  }

  get begun() {
    return this.market.workbench.begun
  }

  async order(request: string, serviceId: string): Promise<PurseCall> {
    const entry = toHex(new Uint8Array(randomBytes(32)))
    this.#purse.entries.set(entry, 'open')
    return { serviceId, request, entry }
  }

  codeOf = plainCode

  isEarned({ entry }: PurseCall): boolean {
    return this.#purse.entries.get(entry) === 'ours'
  }

  async restart(): Promise<void> {
    this.claims.bury()
    this.till.abandon()
    this.market.workbench.release()
    this.claims = new FragileClaims(this.#store)
    this.till = this.#open(this.claims)
    await this.till.resume()
  }

  async replica() {
    const till = this.#open(this.#store)
    await till.resume()
    return till
  }

  async rest(): Promise<void> {
    await settled(this.#store)
  }

  async close(): Promise<void> {
    this.claims.bury()
    this.market.workbench.release()
    for (const till of this.#opened) {
      till.abandon()
      await till.stop()
    }
    await this.#store.close()
  }

  #open(store: ClaimStore<PurseClaim>): AnyTill<PurseCall> {
    const { shop, test } = this.market
    const { chain } = test
    const onError = (error: unknown): void => {
      throw error
    }
    const parts = {
      chain,
      shop,
      store,
      clock: { now: Date.now },
      timers: systemTimers,
      settings: DEFAULT_MARKET_SETTINGS,
      onError,
    }
    const { till } = new PurseRail({ ...parts, workshop: new Workshop(chain, parts.clock) }, this.#purse)
    this.#opened.push(till)
    return till
  }
}

class TabBench implements TillBench<TabPaidCall> {
  readonly otherCode = 'tabcall/signature'
  claims: FragileTabs
  readonly #shop: TabShop
  readonly #replicas: TabRail[] = []

  private constructor(shop: TabShop) {
    this.#shop = shop
    this.claims = shop.store as FragileTabs
  }

  static async open(death: Death | null): Promise<TabBench> {
    return new TabBench(await TabShop.open({ wrapTabs: (store) => new FragileTabs(store, death) }))
  }

  get market() {
    return this.#shop.market
  }

  get till() {
    return this.#shop.till
  }

  get begun() {
    return this.market.workbench.begun
  }

  async order(request: string, serviceId: string): Promise<TabPaidCall> {
    return this.#shop.order(await this.#shop.openTab(), request, { serviceId })
  }

  codeOf(outcome: Result<Settled<StoredClaim>>): string {
    const call = outcome.ok ? (outcome.value.claim as AnsweredTabRow) : undefined
    return call?.state === 'failed' ? (call.reason as string) : plainCode(outcome)
  }

  isEarned({ payment }: TabPaidCall): boolean {
    return (this.#shop.level.peek(payment.tabId)?.charged ?? 0n) > 0n
  }

  async restart(): Promise<void> {
    this.claims.bury()
    await this.#shop.restart((store) => new FragileTabs(store))
    this.claims = this.#shop.store as FragileTabs
  }

  async replica() {
    const rail = this.#shop.railOver(this.#shop.level)
    this.#replicas.push(rail)
    await rail.till.resume()
    return rail.till
  }

  async rest(): Promise<void> {
    await until('nothing is under way', async () => (await this.#shop.level.open()).length === 0)
  }

  async close(): Promise<void> {
    this.claims.bury()
    for (const { till } of this.#replicas) till.abandon()
    await closeTabShops()
  }
}
