import type { Miner } from './miner.ts'

/** What works or rests as it is wanted: it is begun only after it came to rest, and never again after the end. */
export class Shift {
  readonly #worker: Pick<Miner, 'start' | 'stop'>
  #wanted = false
  #working = false
  #ended = false
  #turn: Promise<void> = Promise.resolve()

  constructor(worker: Pick<Miner, 'start' | 'stop'>) {
    this.#worker = worker
  }

  /** Says whether work is wanted from now on; after the end nothing is. */
  want(wanted: boolean): void {
    if (this.#ended || wanted === this.#wanted) return
    this.#wanted = wanted
    this.#turn = this.#turn.then(() => this.#follow())
  }

  /** Resolves when the worker rests for good. */
  async end(): Promise<void> {
    this.#ended = true
    this.#wanted = false
    this.#turn = this.#turn.then(() => this.#follow())
    await this.#turn
  }

  async #follow(): Promise<void> {
    if (this.#wanted === this.#working) return
    this.#working = this.#wanted
    if (this.#wanted) this.#worker.start()
    else await this.#worker.stop()
  }
}
