import { fault } from '../../consensus/primitives/fault.ts'
import { type ClaimPage, type ClaimStore, ClaimsAway, type StoredClaim } from '../../marketplace/till/claim-store.ts'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'

/** Where a process dies: right before or right after its n-th write, counted from 1. */
export interface Death {
  readonly when: 'before' | 'after'
  readonly write: number
}

/** A store whose process may die at a write. The store can also be unreachable for a while. */
class Fragile {
  /** Resolves when the process has died. Its later calls wait until `bury`. */
  readonly died: Promise<void>
  /** Whether the store cannot be reached. */
  isAway = false
  /** How many calls the store got. A write counts twice. */
  asked = 0
  readonly #death: Death | null
  readonly #die: () => void
  readonly #burial = Promise.withResolvers<void>()
  #isDead = false
  #writes = 0

  constructor(death: Death | null) {
    this.#death = death
    const { promise, resolve } = Promise.withResolvers<void>()
    this.died = promise
    this.#die = resolve
  }

  /** Fails the calls of a dead process that still wait, so that a test can end. */
  bury(): void {
    this.#burial.resolve()
  }

  protected async ask<T>(work: () => Promise<T>): Promise<T> {
    this.asked += 1
    if (this.#isDead) await this.#burial.promise
    if (this.isAway || this.#isDead)
      throw new ClaimsAway(fault('market/claims-away', { reason: 'a test has taken it away' }))
    return work()
  }

  protected async write<T>(work: () => Promise<T>): Promise<T> {
    this.#writes += 1
    const dies = this.#writes === this.#death?.write ? this.#death.when : null
    if (dies === 'before') this.#end()
    const written = await this.ask(work)
    if (dies === 'after') this.#end()
    return this.ask(async () => written)
  }

  #end(): void {
    this.#isDead = true
    this.#die()
  }
}

/** A fragile store of claims. */
export class FragileClaims<C extends StoredClaim> extends Fragile implements ClaimStore<C> {
  readonly #store: ClaimStore<C>

  constructor(store: ClaimStore<C>, death: Death | null = null) {
    super(death)
    this.#store = store
  }

  get(id: string): Promise<C | undefined> {
    return this.ask(() => this.#store.get(id))
  }

  claim(claim: C): Promise<C | null> {
    return this.write(() => this.#store.claim(claim))
  }

  advance(from: C['state'], next: C): Promise<boolean> {
    return this.write(() => this.#store.advance(from, next))
  }

  release(from: C['state'], id: string): Promise<boolean> {
    return this.write(() => this.#store.release(from, id))
  }

  open(): Promise<readonly C[]> {
    return this.ask(() => this.#store.open())
  }

  recent(limit: number, cursor: string | null, serviceId?: string): Promise<ClaimPage<C>> {
    return this.ask(() => this.#store.recent(limit, cursor, serviceId))
  }

  handedOver(id: string): Promise<void> {
    return this.ask(() => this.#store.handedOver(id))
  }

  pruneResults(beforeMs: number, bytesMax: number): Promise<number> {
    return this.ask(() => this.#store.pruneResults(beforeMs, bytesMax))
  }
}

/** A fragile store of tabs. */
export class FragileTabs extends Fragile implements TabStore {
  readonly #store: TabStore

  constructor(store: TabStore, death: Death | null = null) {
    super(death)
    this.#store = store
  }

  peek: TabStore['peek'] = (tabId) => this.#store.peek(tabId)
  tab: TabStore['tab'] = (tabId) => this.ask(() => this.#store.tab(tabId))
  call: TabStore['call'] = (tabId, seq) => this.ask(() => this.#store.call(tabId, seq))
  open: TabStore['open'] = () => this.ask(() => this.#store.open())
  reserve: TabStore['reserve'] = (call, bounds) => this.write(() => this.#store.reserve(call, bounds))
  begin: TabStore['begin'] = (call) => this.write(() => this.#store.begin(call))
  commit: TabStore['commit'] = (ended, seal) => this.write(() => this.#store.commit(ended, seal))
  mark: TabStore['mark'] = (tabId, mark) => this.write(() => this.#store.mark(tabId, mark))
  receiptsFrom: TabStore['receiptsFrom'] = (...asked) => this.ask(() => this.#store.receiptsFrom(...asked))
  unclaimed: TabStore['unclaimed'] = () => this.ask(() => this.#store.unclaimed())
  putClaim: TabStore['putClaim'] = (claim) => this.ask(() => this.#store.putClaim(claim))
  claims: TabStore['claims'] = () => this.ask(() => this.#store.claims())
  dropClaim: TabStore['dropClaim'] = (txId) => this.ask(() => this.#store.dropClaim(txId))
  prune: TabStore['prune'] = (...bounds) => this.ask(() => this.#store.prune(...bounds))
}
