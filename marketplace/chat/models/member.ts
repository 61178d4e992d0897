import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { ModelRole, ModelUsage } from '../../ports/models.ts'
import { causeOf, UpstreamBreakers } from '../../ports/upstream-breaker.ts'
import { Admission } from './admission.ts'
import type { BackendEntry } from './backend.ts'
import { LatencyBook, type LatencyFigures } from './latencies.ts'
import { addUsage, NO_USAGE } from './usage.ts'

/** Pauses up to this are waited for; whoever asks for a longer one is left alone for it. */
export const PATIENCE_MS = 8_000
/** A backend that knows our key no more is not asked again and again. */
const LOCKED_OUT_MS = 60_000

/** What a backend did since the start. */
export interface BackendTotals {
  readonly calls: number
  readonly failures: number
  readonly usage: ModelUsage
}

/** How long a model took within the last day, where it was asked in a role. */
export interface ModelLatency {
  readonly model: string
  readonly role: ModelRole
  /** Until the whole answer was there. */
  readonly whole: LatencyFigures | null
  /** Until something was said, of answers in pieces. */
  readonly firstToken: LatencyFigures | null
}

/** A backend in the pool, with what is known of it. */
export class Member {
  readonly entry: BackendEntry
  readonly admission: Admission
  readonly breakers = new UpstreamBreakers()
  /** What went wrong last, in the words of the backend; null while all is well. */
  trouble: Fault | null = null
  /** Whether it ever answered, or its check went well. */
  known = false
  totals: BackendTotals = { calls: 0, failures: 0, usage: NO_USAGE }
  readonly #clock: Clock
  /** When each model said something last, to whomever. */
  readonly #heardMs = new Map<string, number>()
  readonly #latencies = { whole: new LatencyBook(), firstToken: new LatencyBook() }

  constructor(entry: BackendEntry, clock: Clock, timers: Timers) {
    this.entry = entry
    this.admission = new Admission(entry.limits, clock, timers)
    this.#clock = clock
  }

  /** Whether it would be asked now, for paid work or for what is free. */
  isUsable(isFree: boolean): boolean {
    return this.known && !this.isResting(isFree)
  }

  /** Whether it is left alone now. */
  isResting(isFree: boolean): boolean {
    return this.breakers.isOpen(this.#clock.now(), isFree)
  }

  /** Whether it would be asked now for either. */
  get isWell(): boolean {
    return this.isUsable(false) && this.isUsable(true)
  }

  /** Time until it is left alone no longer, milliseconds. */
  restMs(isFree: boolean): number {
    return this.breakers.restMs(this.#clock.now(), isFree)
  }

  /** Settings that have to change before it can be asked, as its server is not to blame; empty where that may pass by itself. */
  get lacks(): readonly string[] {
    return this.known || this.trouble === null ? [] : (this.entry.backend.requires ?? [])
  }

  /** Notes that something came from a model. */
  heard(model: string): void {
    this.#heardMs.set(model, this.#clock.now())
  }

  /** How long a model has said nothing to anybody, from a moment on. */
  quietMs(model: string, sinceMs: number): number {
    return this.#clock.now() - Math.max(sinceMs, this.#heardMs.get(model) ?? 0)
  }

  /** Notes how a call went. What the caller gave up says nothing. */
  note(outcome: Fault | null | 'given-up', isFree: boolean): void {
    this.totals = { ...this.totals, calls: this.totals.calls + 1 }
    if (outcome === 'given-up') {
      this.breakers.abandoned(isFree)
      return
    }
    this.noteHealth(outcome, isFree)
    if (outcome !== null) this.totals = { ...this.totals, failures: this.totals.failures + 1 }
  }

  /** Notes whether it is well. */
  noteHealth(trouble: Fault | null, isFree: boolean): void {
    this.known = this.known || trouble === null
    this.trouble = trouble
    if (trouble === null) this.breakers.succeeded()
    else this.breakers.failed(this.#clock.now(), { askedMs: restOf(trouble), isFree, cause: causeOf(trouble) })
  }

  /** Notes how long a model took in a role. */
  took(what: 'whole' | 'firstToken', model: string, role: ModelRole, ms: number): void {
    this.#latencies[what].note(`${role} ${model}`, ms, this.#clock.now())
  }

  /** What is known of that, for each model and role that answered within the last day. */
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

  /** Adds what a call used. */
  used(usage: ModelUsage): void {
    this.totals = { ...this.totals, usage: addUsage(this.totals.usage, usage) }
  }
}

function restOf({ detail: { status, retryAfterMs } }: Fault): number {
  if (status === 401) return LOCKED_OUT_MS
  return Number(retryAfterMs ?? 0) > PATIENCE_MS ? Number(retryAfterMs) : 0
}
