import type { Miner } from './miner.ts'

/** Starts and stops a worker on request. A start waits until the last stop is complete. */
export class Shift {
  readonly #worker: Pick<Miner, 'start' | 'stop'>
  #wanted = false
  #working = false
  #ended = false
  #turn: Promise<void> = Promise.resolve()

  constructor(worker: Pick<Miner, 'start' | 'stop'>) {
    this.#worker = worker
  }

  want(wanted: boolean): void {
    if (this.#ended || wanted === this.#wanted) return
    this.#wanted = wanted
    this.#turn = this.#turn.then(() => this.#follow())
  }

  /** Stops for good; resolves when the worker has stopped. */
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
