import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import type { ClaimPage } from '../../marketplace/till/claim-store.ts'
import type { Claim, NativeClaimStore } from '../../marketplace/till/rails/native/claim.ts'

/** Time as a test lets it pass. The clock can be set besides, as on any machine; timers do not care. */
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

  /** Lets time pass, and what is due by then go off. */
  pass(ms: number): void {
    this.#elapsedMs += ms
    this.nowMs += ms
    const due = this.#pending.filter(({ atMs }) => atMs <= this.#elapsedMs).sort((a, b) => a.atMs - b.atMs)
    this.#pending = this.#pending.filter(({ atMs }) => atMs > this.#elapsedMs)
    for (const { callback } of due) callback()
  }
}

type ClosableStore = NativeClaimStore & { close(): Promise<void> }

/** A store of claims that counts what it is asked, and knows whether it is still at it. */
export class WatchedClaims implements NativeClaimStore {
  /** Calls in order, by the name of the method. */
  readonly calls: string[] = []
  /** Called before a claim moves to another state, so that a test can do something in between. */
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

  /** Closes the store behind it, once. Whoever asks afterwards belongs to a process that is dead, and hears nothing. */
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

/** Least time limit of watched services: work that a test holds must not run out of it on a busy machine. */
const WORK_MS = 30_000

/** Where services do their work under the eyes of a test. */
export class Workbench {
  /** Work in the order in which it was begun: "service request". */
  readonly begun: string[] = []
  /** Called when work begins. */
  onWork: () => void = () => {}
  #waiting: (() => void)[] | null = null

  /** The service, watched. */
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

  /** From now on work waits until it is released. */
  hold(): void {
    this.#waiting ??= []
  }

  /** Lets the oldest `count` that wait go on; without a count all of them, and nothing waits any more. */
  release(count?: number): void {
    for (const resolve of this.#waiting?.splice(0, count ?? Number.POSITIVE_INFINITY) ?? []) resolve()
    if (count === undefined) this.#waiting = null
  }
}
