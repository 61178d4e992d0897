import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { ModelRole, ModelUsage } from '../../ports/models.ts'
import { causeOf, UpstreamBreakers } from '../../ports/upstream-breaker.ts'
import { Admission } from './admission.ts'
import type { BackendEntry } from './backend.ts'
import { LatencyBook, type LatencyFigures } from './latencies.ts'
import { addUsage, NO_USAGE } from './usage.ts'

/** Longest pause that a request waits for. */
export const PATIENCE_MS = 8_000
/** Pause after the backend refused the operator's key. */
const LOCKED_OUT_MS = 60_000

/** Counted since the pool was made. */
export interface BackendTotals {
  readonly calls: number
  readonly failures: number
  readonly usage: ModelUsage
}

/** Response times over the last day. */
export interface ModelLatency {
  readonly model: string
  readonly role: ModelRole
  /** Until the complete answer. */
  readonly whole: LatencyFigures | null
  /** Until the first word, for streamed answers. */
  readonly firstToken: LatencyFigures | null
}

/** A backend in the pool, with its state. */
export class Member {
  readonly entry: BackendEntry
  readonly admission: Admission
  readonly breakers = new UpstreamBreakers()
  /** Null while all is well. */
  trouble: Fault | null = null
  /** Whether the backend ever answered, or passed a check. */
  known = false
  totals: BackendTotals = { calls: 0, failures: 0, usage: NO_USAGE }
  readonly #clock: Clock
  /** When each model last sent anything, to any caller. */
  readonly #heardMs = new Map<string, number>()
  readonly #latencies = { whole: new LatencyBook(), firstToken: new LatencyBook() }

  constructor(entry: BackendEntry, clock: Clock, timers: Timers) {
    this.entry = entry
    this.admission = new Admission(entry.limits, clock, timers)
    this.#clock = clock
  }

  isUsable(isFree: boolean): boolean {
    return this.known && !this.isResting(isFree)
  }

  isResting(isFree: boolean): boolean {
    return this.breakers.isOpen(this.#clock.now(), isFree)
  }

  get isWell(): boolean {
    return this.isUsable(false) && this.isUsable(true)
  }

  restMs(isFree: boolean): number {
    return this.breakers.restMs(this.#clock.now(), isFree)
  }

  /** Settings to correct before it can be asked. Empty if it worked before, or if the fault may pass by itself. */
  get lacks(): readonly string[] {
    return this.known || this.trouble === null ? [] : (this.entry.backend.requires ?? [])
  }

  heard(model: string): void {
    this.#heardMs.set(model, this.#clock.now())
  }

  /** How long a model has been silent to all callers, at most since `sinceMs`. */
  quietMs(model: string, sinceMs: number): number {
    return this.#clock.now() - Math.max(sinceMs, this.#heardMs.get(model) ?? 0)
  }

  /** A call that its caller gave up proves nothing. */
  note(outcome: Fault | null | 'given-up', isFree: boolean): void {
    this.totals = { ...this.totals, calls: this.totals.calls + 1 }
    if (outcome === 'given-up') {
      this.breakers.abandoned(isFree)
      return
    }
    this.noteHealth(outcome, isFree)
    if (outcome !== null) this.totals = { ...this.totals, failures: this.totals.failures + 1 }
  }

  noteHealth(trouble: Fault | null, isFree: boolean): void {
    this.known = this.known || trouble === null
    this.trouble = trouble
    if (trouble === null) this.breakers.succeeded()
    else this.breakers.failed(this.#clock.now(), { askedMs: restOf(trouble), isFree, cause: causeOf(trouble) })
  }

  took(what: 'whole' | 'firstToken', model: string, role: ModelRole, ms: number): void {
    this.#latencies[what].note(`${role} ${model}`, ms, this.#clock.now())
  }

  get latencies(): readonly ModelLatency[] {
    const nowMs = this.#clock.now()
    const all = this.entry.models.flatMap(({ id, roles }) =>
      roles.map((role): ModelLatency => {
        const [whole, firstToken] = [this.#latencies.whole, this.#latencies.firstToken]
        const name = `${role} ${id}`
        return { model: id, role, whole: whole.figures(name, nowMs), firstToken: firstToken.figures(name, nowMs) }
      }),
    )
    return all.filter(({ whole, firstToken }) => whole !== null || firstToken !== null)
  }

  used(usage: ModelUsage): void {
    this.totals = { ...this.totals, usage: addUsage(this.totals.usage, usage) }
  }
}

function restOf({ detail: { status, retryAfterMs } }: Fault): number {
  if (status === 401) return LOCKED_OUT_MS
  return Number(retryAfterMs ?? 0) > PATIENCE_MS ? Number(retryAfterMs) : 0
}
