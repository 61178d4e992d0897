import { setPriority } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { Piscina } from 'piscina'
import type { MiningJob, NonceSearcher } from '../../miner/miner.ts'
import { type FoundNonce, MiningControl, type MiningTask } from './mine-worker.ts'

const THREAD_HEAP_MB = { young: 2, old: 32 }

const RESTART_MS = 1_000

/** Mining threads that search separate nonces of one shared job. */
export class MiningPool implements NonceSearcher {
  readonly #pool: Piscina
  readonly #control: MiningControl
  readonly #threads: number
  readonly #listeners: ((nonce: bigint, job: MiningJob) => void)[] = []
  readonly #onFailure: (error: unknown) => void
  #job: MiningJob | null = null
  #generation = 0
  #closed = false
  #closing: Promise<void> | undefined

  constructor(threads: number, onFailure: (error: unknown) => void) {
    this.#threads = threads
    this.#onFailure = onFailure
    this.#control = MiningControl.create(threads)
    this.#pool = new Piscina({
      filename: new URL('./mine-worker.ts', import.meta.url).href,
      name: 'mine',
      minThreads: threads,
      maxThreads: threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      resourceLimits: { maxYoungGenerationSizeMb: THREAD_HEAP_MB.young, maxOldGenerationSizeMb: THREAD_HEAP_MB.old },
    })
    // A terminated thread may report an error at the last moment.
    this.#pool.on('error', (error: Error) => {
      if (!this.#closed) this.#onFailure(error)
    })
    for (let thread = 0; thread < threads; thread++) void this.#run(thread)
  }

  get hashes(): bigint {
    return this.#control.hashes
  }

  assign(job: MiningJob | null): void {
    this.#job = job
    this.#generation = this.#control.write(job)
  }

  onFound(listener: (nonce: bigint, job: MiningJob) => void): void {
    this.#listeners.push(listener)
  }

  /** Ends the threads. On a busy machine this takes seconds if the system does not let them regain normal priority. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    this.#closed = true
    this.#control.write(null)
    this.#control.threadIds.forEach(raisePriority)
    await this.#pool.destroy()
  }

  async #run(thread: number): Promise<void> {
    let seen = 0
    while (!this.#closed) {
      const task: MiningTask = { buffer: this.#control.buffer, thread, threads: this.#threads, seen }
      try {
        const found = (await this.#pool.run(task)) as FoundNonce
        seen = found.generation
        this.#announce(found)
      } catch (error) {
        if (this.#closed) return
        this.#onFailure(error)
        await setTimeout(RESTART_MS)
      }
    }
  }

  #announce({ generation, nonce }: FoundNonce): void {
    const job = this.#job
    if (job === null || generation !== this.#generation) return
    for (const listener of this.#listeners) listener(nonce, job)
  }
}

const NORMAL_PRIORITY = 0

/** Only root, or a process with a suitable limit, may raise a priority; or the thread has already ended. */
const MAY_FAIL_WITH = new Set(['EACCES', 'EPERM', 'ESRCH'])

/** A thread with the lowest priority would end slowly. */
function raisePriority(threadId: number): void {
  try {
    setPriority(threadId, NORMAL_PRIORITY)
  } catch (error) {
    if (!MAY_FAIL_WITH.has(String((error as { info?: { code?: string } }).info?.code))) throw error
  }
}
