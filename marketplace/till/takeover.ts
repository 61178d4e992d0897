import type { Timers } from '../../consensus/chain/ports.ts'
import { ClaimsAway, type SharedClaims } from './claim-store.ts'

const LOOK_MS = 1_000

/** A till over a shared store. */
export interface ClaimWorker {
  /** Takes up every open claim that it does not work on yet. */
  takeUp(): Promise<void>
  /** Lets go of its claims: other replicas have taken them over. */
  forget(): void
}

/**
 * For tills over a store that replicas share: takes up the claims of a dead replica, and lets go of claims that other replicas took
 * while this one was taken for dead.
 */
export class Takeover {
  readonly #shared: SharedClaims
  readonly #timers: Timers
  readonly #onAway: (reason: string) => void
  readonly #workers: ClaimWorker[] = []
  #isAway = false
  #arrivals: number
  #lapses: number
  #cancel: (() => void) | null = null
  #looking: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(shared: SharedClaims, timers: Timers, onAway: (reason: string) => void = () => {}) {
    this.#onAway = onAway
    this.#shared = shared
    this.#timers = timers
    this.#arrivals = shared.arrivals
    this.#lapses = shared.lapses
  }

  /** Why nothing may be taken or settled here at the moment, or null. */
  get heldBecause(): string | null {
    if (this.#shared.awayBecause !== null) return this.#shared.awayBecause
    return this.#lapses === this.#shared.lapses
      ? null
      : 'this replica was taken for dead and finds out what is still its own'
  }

  join(worker: ClaimWorker): void {
    this.#workers.push(worker)
  }

  start(): void {
    if (this.#stopped) return
    this.#cancel = this.#timers.after(LOOK_MS, () => {
      this.#looking = this.look().finally(() => this.start())
    })
  }

  /** If the store goes away meanwhile, the next look does the rest. */
  async look(): Promise<void> {
    const { awayBecause, arrivals, lapses } = this.#shared
    if (awayBecause !== null && !this.#isAway) this.#onAway(awayBecause)
    this.#isAway = awayBecause !== null
    if (awayBecause !== null || (arrivals === this.#arrivals && lapses === this.#lapses)) return
    if (lapses !== this.#lapses) for (const worker of this.#workers) worker.forget()
    try {
      for (const worker of this.#workers) await worker.takeUp()
    } catch (error) {
      if (error instanceof ClaimsAway) return
      throw error
    }
    this.#arrivals = arrivals
    this.#lapses = lapses
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    await this.#looking
  }
}
