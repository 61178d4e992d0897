import type { Clock } from '../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { ServiceDefinition } from '../services/service.ts'
import { RecentCounts } from './recent-counts.ts'

/** Calls of one payer that may be under way at once: what waits for a place costs memory, and others wait behind it. */
const AT_ONCE_MAX = 64
const SPAN = { withinMs: 10 * 60_000, namesMax: 10_000 }
/** Works that a payer may leave unpaid within the time: the service works before it is paid, so this is what it gives away. */
const UNPAID = { ...SPAN, most: 5 }
/**
 * Works that may fail for a payer within the time at addresses of its choice, or in models. They cost it nothing: without this
 * bound it could have this node knock anywhere, and models think, for free. An honest caller meets broken pages, too, so there are
 * more of them.
 */
const FAILED = { ...SPAN, most: 10 }
/** Ends of work that the other side can cause. A result out of shape or an interruption is ours. */
const CAUSED_OUTSIDE: ReadonlySet<string> = new Set(['service/failed', 'service/timeout'])

/** What one payer may have done before it pays: who lets settlements or work fail gets no more work for a while. */
export class Payers {
  readonly #busy = new Map<string, number>()
  readonly #unpaid: RecentCounts
  readonly #failed: RecentCounts

  constructor(clock: Clock) {
    this.#unpaid = new RecentCounts(clock, UNPAID)
    this.#failed = new RecentCounts(clock, FAILED)
  }

  /**
   * Why a payer gets no work now, or null; `place` is who is counted in {@link during}. Faults: `stable/refused`,
   * `stable/failing`, `service/unavailable`.
   */
  refusal(payer: string, place: string, { serviceId, reachesOut }: ServiceDefinition): Fault | null {
    if (this.#unpaid.waitMs(payer) > 0)
      return fault('stable/refused', { reason: 'too_many_failed_settlements_of_this_payer' })
    const waitMs = reachesOut === true ? this.#failed.waitMs(payer) : 0
    if (waitMs > 0) return fault('stable/failing', { serviceId, seconds: Math.ceil(waitMs / 1_000) })
    return (this.#busy.get(place) ?? 0) < AT_ONCE_MAX
      ? null
      : fault('service/unavailable', { serviceId, reason: `${AT_ONCE_MAX} calls of this payer are under way` })
  }

  /** Counts work for somebody while it lasts. */
  async during<T>(place: string, work: () => Promise<T>): Promise<T> {
    this.#busy.set(place, (this.#busy.get(place) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = (this.#busy.get(place) ?? 1) - 1
      if (left === 0) this.#busy.delete(place)
      else this.#busy.set(place, left)
    }
  }

  /** Notes work that was done and not paid, as the payer's settlement was refused. */
  unpaid(payer: string): void {
    this.#unpaid.add(payer)
  }

  /** Notes how work for a payer failed: it counts where the payer chose what the service reached, and that may be the cause. */
  failed(payer: string, { reachesOut }: ServiceDefinition, cause: Fault): void {
    if (reachesOut === true && CAUSED_OUTSIDE.has(cause.code)) this.#failed.add(payer)
  }
}
