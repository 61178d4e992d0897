import { addTo } from '../../consensus/primitives/counts.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import { turnAmong, type Waiter } from '../../marketplace/ports/turn.ts'
import { placeOf } from './address-guard.ts'

/** How much is read at once. */
export interface GateLimits {
  readonly atOnceMax: number
  /** Of one host; and connections to one address, or network of version 6, under however many names. */
  readonly perHostMax: number
  readonly perAddressMax: number
  /** Readings that wait for their turn. */
  readonly waitingMax: number
  /** Of those, of one host: a slow one must not keep others from waiting. */
  readonly waitingPerHostMax: number
}

/** Limits that keep this node from being a means of flooding somebody. */
export const GATE_LIMITS: GateLimits = {
  atOnceMax: 40,
  perHostMax: 4,
  perAddressMax: 8,
  waitingMax: 64,
  waitingPerHostMax: 16,
}

/** Lets only so many readings run at once, in all and of one host; others wait their turn, and those beyond are refused. */
export class FetchGate {
  readonly #limits: GateLimits
  readonly #byHost = new Map<string, number>()
  readonly #byAddress = new Map<string, number>()
  readonly #waiting = new Set<{ readonly host: string } & Waiter>()
  #running = 0

  constructor(limits: GateLimits = GATE_LIMITS) {
    this.#limits = limits
  }

  /** Runs a reading in its turn. Faults: `web/busy` (too many wait), `web/timeout` (its time was up before its turn). */
  async run<T>(host: string, signal: AbortSignal, work: () => Promise<Result<T>>): Promise<Result<T>> {
    if (signal.aborted) return fail(fault('web/timeout', { host }))
    if (this.#isFree(host)) this.#take(host)
    else {
      const refusal = await this.#turn(host, signal)
      if (refusal !== null) return fail(refusal)
    }
    try {
      return await work()
    } finally {
      this.#running--
      addTo(this.#byHost, host, -1)
      this.#startNext()
    }
  }

  /** Counts a connection to somewhere with these addresses until the function returned is called; null where they have too many. */
  connect(addresses: readonly string[]): (() => void) | null {
    const counted = new Set(addresses.map(placeOf))
    for (const address of counted) if ((this.#byAddress.get(address) ?? 0) >= this.#limits.perAddressMax) return null
    for (const address of counted) addTo(this.#byAddress, address, 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      for (const address of counted) addTo(this.#byAddress, address, -1)
    }
  }

  #isFree(host: string): boolean {
    const { atOnceMax, perHostMax } = this.#limits
    return this.#running < atOnceMax && (this.#byHost.get(host) ?? 0) < perHostMax
  }

  #take(host: string): void {
    this.#running++
    addTo(this.#byHost, host, 1)
  }

  /** Waits until a place has been taken for this host, or says why there is none. */
  async #turn(host: string, signal: AbortSignal): Promise<Fault | null> {
    const { waitingMax, waitingPerHostMax } = this.#limits
    const ofHost = [...this.#waiting].filter((waiter) => waiter.host === host).length
    if (this.#waiting.size >= waitingMax || ofHost >= waitingPerHostMax)
      return fault('web/busy', { host, reason: 'too many readings wait for their turn' })
    return (await turnAmong(this.#waiting, { host }, signal)) ? null : fault('web/timeout', { host })
  }

  #startNext(): void {
    const next = [...this.#waiting].find(({ host }) => this.#isFree(host))
    if (next === undefined) return
    this.#take(next.host)
    next.start()
  }
}
