import type { Clock } from '../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'

/** Calls of one payer that may be under way at once: what waits for a place costs memory, and others wait behind it. */
const AT_ONCE_MAX = 64
/** Works that a payer may leave unpaid within the time: the service works before it is paid, so this is what it gives away. */
const UNPAID_MAX = 5
const UNPAID_MS = 10 * 60_000
/** Payers that are remembered; those whose last failure is longest ago are forgotten first. */
const PAYERS_MAX = 10_000

/** What one payer may have done before it pays: who lets settlements fail gets no more work for a while. */
export class Payers {
  readonly #clock: Clock
  readonly #busy = new Map<string, number>()
  readonly #unpaidMs = new Map<string, readonly number[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Why a payer gets no work now, or null; `place` is who is counted in {@link during}. Faults: `stable/refused`, `service/unavailable`. */
  refusal(payer: string, place: string, serviceId: string): Fault | null {
    if (this.#recent(payer).length >= UNPAID_MAX)
      return fault('stable/refused', { reason: 'too_many_failed_settlements_of_this_payer' })
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
    const all = [...this.#recent(payer), this.#clock.now()]
    this.#unpaidMs.delete(payer)
    this.#unpaidMs.set(payer, all.slice(-UNPAID_MAX))
    if (this.#unpaidMs.size <= PAYERS_MAX) return
    const [oldest] = this.#unpaidMs.keys()
    this.#unpaidMs.delete(oldest as string)
  }

  #recent(payer: string): readonly number[] {
    const sinceMs = this.#clock.now() - UNPAID_MS
    return (this.#unpaidMs.get(payer) ?? []).filter((ms) => ms > sinceMs)
  }
}
