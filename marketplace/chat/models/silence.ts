import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { DeltaSink } from './backend.ts'

/** What a watch over an answer is given. */
export interface SilenceParts {
  readonly clock: Clock
  readonly timers: Timers
  readonly ms: number
  readonly onHeard: () => void
  /** Called once. The reason is for an abort signal. */
  readonly onSilent: (reason: DOMException) => void
}

/** Watches an answer: it may take any time, but must not be silent for long. */
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

  readonly heard = (): void => {
    this.#isHeld = false
    this.#lastMs = this.#parts.clock.now()
    this.#parts.onHeard()
  }

  /** The reader is slow: until something is heard again, the silence is not the backend's. */
  readonly hold = (): void => {
    this.#isHeld = true
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  end(): void {
    this.#cancel()
  }

  /** One timer for many pieces: it is set again for the time that is left. */
  readonly #look = (): void => {
    const { clock, timers, ms, onSilent } = this.#parts
    const leftMs = this.#isHeld ? ms : Math.min(ms, this.#lastMs + ms - clock.now())
    if (leftMs <= 0) onSilent(new DOMException('nothing came for too long', 'TimeoutError'))
    else this.#cancel = timers.after(leftMs, this.#look)
  }
}

/** While the sink handles a piece, the silence does not count. */
export function heardBy(sink: DeltaSink, { heard, hold }: Pick<Silence, 'heard' | 'hold'>): DeltaSink {
  return async (...piece) => {
    hold()
    await sink(...piece)
    heard()
  }
}

/** Whether the reason was a timeout, not a caller that left. */
export function isTimeOver({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError'
}
