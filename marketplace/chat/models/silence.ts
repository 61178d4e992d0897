import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { DeltaSink } from './backend.ts'

/** What a wait for an answer is watched with. */
export interface SilenceParts {
  readonly clock: Clock
  readonly timers: Timers
  /** How long nothing may come. */
  readonly ms: number
  /** Hears every time that something came. */
  readonly onHeard: () => void
  /** Hears once that nothing came for so long; the reason is for a signal. */
  readonly onSilent: (reason: DOMException) => void
}

/** Watches an answer while it comes: however long that takes, something must come now and then. */
export class Silence {
  readonly #parts: SilenceParts
  #lastMs: number
  #isHeld = false
  #cancel: () => void

  constructor(parts: SilenceParts) {
    this.#parts = parts
    this.#lastMs = parts.clock.now()
    this.#cancel = parts.timers.after(parts.ms, this.#look)
  }

  /** Something came. */
  readonly heard = (): void => {
    this.#isHeld = false
    this.#lastMs = this.#parts.clock.now()
    this.#parts.onHeard()
  }

  /** Whoever reads along takes his time: until something is heard again the silence is not the other side's. */
  readonly hold = (): void => {
    this.#isHeld = true
  }

  /** Whether nothing more is taken from the other side, as whoever reads along takes his time. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** To be called when the wait is over. */
  end(): void {
    this.#cancel()
  }

  /** One timer for many pieces: it looks when the last one it knew of is old enough. */
  readonly #look = (): void => {
    const { clock, timers, ms, onSilent } = this.#parts
    const leftMs = this.#isHeld ? ms : Math.min(ms, this.#lastMs + ms - clock.now())
    if (leftMs <= 0) onSilent(new DOMException('nothing came for too long', 'TimeoutError'))
    else this.#cancel = timers.after(leftMs, this.#look)
  }
}

/** A sink whose pieces are heard of; while it takes one, nobody is silent. */
export function heardBy(sink: DeltaSink, { heard, hold }: Pick<Silence, 'heard' | 'hold'>): DeltaSink {
  return async (...piece) => {
    hold()
    await sink(...piece)
    heard()
  }
}

/** Whether a signal came because a time was over, and not because somebody went away. */
export function isTimeOver({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
}
