import { addTo } from '../../consensus/primitives/counts.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import { turnAmong, type Waiter } from '../../marketplace/ports/turn.ts'
import { placeOf } from './address-guard.ts'

/** How many pages are read at once. */
export interface GateLimits {
  readonly atOnceMax: number
  readonly perHostMax: number
  /** Connections to one address or IPv6 /64 network, whatever the names of its hosts. */
  readonly perAddressMax: number
  readonly waitingMax: number
  /** A slow host must not fill the queue. */
  readonly waitingPerHostMax: number
}

/** Limits that prevent callers from flooding a site through this node. */
export const GATE_LIMITS: GateLimits = {
  atOnceMax: 40,
  perHostMax: 4,
  perAddressMax: 8,
  waitingMax: 64,
  waitingPerHostMax: 16,
}

/** Limits concurrent reads, in total and per host. Further reads wait their turn. */
export class FetchGate {
  readonly #limits: GateLimits
  readonly #byHost = new Map<string, number>()
  readonly #byAddress = new Map<string, number>()
  readonly #waiting = new Set<{ readonly host: string } & Waiter>()
  #running = 0

  constructor(limits: GateLimits = GATE_LIMITS) {
    this.#limits = limits
  }

  /** Runs a read in its turn. Faults: `web/busy` (the queue is full), `web/timeout` (time was up before its turn). */
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

  /** Counts a connection until the returned function is called; null if an address is at its limit. */
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

  /** Null once the read may begin and is counted; otherwise why it may not. */
  async #turn(host: string, signal: AbortSignal): Promise<Fault | null> {
    const { waitingMax, waitingPerHostMax } = this.#limits
    const ofHost = [...this.#waiting].filter((waiter) => waiter.host === host).length
    if (this.#waiting.size >= waitingMax || ofHost >= waitingPerHostMax)
      return fault('web/busy', { host, reason: 'too many reads wait for their turn' })
    return (await turnAmong(this.#waiting, { host }, signal)) ? null : fault('web/timeout', { host })
  }

  #startNext(): void {
    const next = [...this.#waiting].find(({ host }) => this.#isFree(host))
    if (next === undefined) return
    this.#take(next.host)
    next.start()
  }
}
