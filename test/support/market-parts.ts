import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import type { ClaimPage } from '../../marketplace/till/claim-store.ts'
import type { Claim, NativeClaimStore } from '../../marketplace/till/rails/native/claim.ts'

/** Time that passes when the test says so. A test can also set the clock, as an operator can; timers do not notice. */
export class TestTime implements Clock, Timers {
  nowMs = 1_800_000_000_000
  #elapsedMs = 0
  #pending: { readonly atMs: number; readonly callback: () => void }[] = []

  now(): number {
    return this.nowMs
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { atMs: this.#elapsedMs + ms, callback }
    this.#pending.push(timer)
    return () => {
      this.#pending = this.#pending.filter((one) => one !== timer)
    }
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#pending.length
  }

  /** Lets time pass and runs the timers that are due. */
  pass(ms: number): void {
    this.#elapsedMs += ms
    this.nowMs += ms
    const due = this.#pending.filter(({ atMs }) => atMs <= this.#elapsedMs).sort((a, b) => a.atMs - b.atMs)
    this.#pending = this.#pending.filter(({ atMs }) => atMs > this.#elapsedMs)
    for (const { callback } of due) callback()
  }
}

type ClosableStore = NativeClaimStore & { close(): Promise<void> }

/** A claim store that records its calls and knows whether one is under way. */
export class WatchedClaims implements NativeClaimStore {
  /** Names of the methods called, in order. */
  readonly calls: string[] = []
  /** Called before a claim moves to another state, so that a test can act first. */
  beforeAdvance: (next: Claim) => Promise<void> = async () => {}
  readonly #store: ClosableStore
  #running = 0
  #closed = false

  constructor(store: ClosableStore) {
    this.#store = store
  }

  /** Whether a call is under way. */
  get busy(): boolean {
    return this.#running > 0
  }

  get(id: string): Promise<Claim | undefined> {
    return this.#watch('get', () => this.#store.get(id))
  }

  claim(claim: Claim): Promise<Claim | null> {
    return this.#watch('claim', () => this.#store.claim(claim))
  }

  advance(from: Claim['state'], next: Claim): Promise<boolean> {
    return this.#watch('advance', async () => {
      await this.beforeAdvance(next)
      return this.#store.advance(from, next)
    })
  }

  release(from: Claim['state'], id: string): Promise<boolean> {
    return this.#watch('release', () => this.#store.release(from, id))
  }

  open(): Promise<readonly Claim[]> {
    return this.#watch('open', () => this.#store.open())
  }

  recent(limit: number, cursor: string | null, serviceId?: string): Promise<ClaimPage<Claim>> {
    return this.#watch('recent', () => this.#store.recent(limit, cursor, serviceId))
  }

  handedOver(id: string): Promise<void> {
    return this.#watch('handedOver', () => this.#store.handedOver(id))
  }

  pruneResults(beforeMs: number, bytesMax: number): Promise<number> {
    return this.#watch('pruneResults', () => this.#store.pruneResults(beforeMs, bytesMax))
  }

  /** Closes the real store, once. After that the other methods of this object never return, as for a node that was killed. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#store.close()
  }

  async #watch<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.#closed) return new Promise(() => {})
    this.calls.push(name)
    this.#running += 1
    try {
      return await work()
    } finally {
      this.#running -= 1
    }
  }
}

/** Least time limit of watched services, so that held work does not time out on a busy machine. */
const WORK_MS = 30_000

/** Watches the work of services and can hold it. */
export class Workbench {
  /** Begun work in order: "service request". */
  readonly begun: string[] = []
  /** Called when work begins. */
  onWork: () => void = () => {}
  #waiting: (() => void)[] | null = null

  /** Makes a watched copy of a service. */
  watch(definition: ServiceDefinition): ServiceDefinition {
    const execute: ServiceDefinition['execute'] = async (input, context, signal) => {
      this.begun.push(`${definition.serviceId} ${String(input)}`)
      this.onWork()
      const held = this.#waiting
      if (held !== null) await new Promise<void>((resolve) => held.push(resolve))
      return definition.execute(input, context, signal)
    }
    return { ...definition, timeoutMs: Math.max(WORK_MS, definition.timeoutMs), execute }
  }

  /** Holds work that begins from this moment on. */
  hold(): void {
    this.#waiting ??= []
  }

  /** Releases the oldest `count` held calls. Without a count, releases all and holds no more. */
  release(count?: number): void {
    for (const resolve of this.#waiting?.splice(0, count ?? Number.POSITIVE_INFINITY) ?? []) resolve()
    if (count === undefined) this.#waiting = null
  }
}
