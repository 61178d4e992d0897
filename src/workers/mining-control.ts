import type { MiningJob } from '../../miner/miner.ts'

/**
 * The block of shared memory through which mining threads get their job. The generation counter is even while the block
 * is stable and odd while it is written; a thread reads it before every hash, so a new job reaches it within one hash.
 */
const GENERATION = 0
const ACTIVE = 1
const MEMORY_KIB = 2
const PASSES = 3
const LANES = 4
const WORDS = 8
const INPUT_OFFSET = WORDS * 4
const TARGET_OFFSET = INPUT_OFFSET + 32
const COUNTERS_OFFSET = TARGET_OFFSET + 32

/** Job and counters, shared by all threads. */
export class MiningControl {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #bytes: Uint8Array
  readonly #counters: BigUint64Array

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer, 0, WORDS)
    this.#bytes = new Uint8Array(buffer)
    this.#counters = new BigUint64Array(buffer, COUNTERS_OFFSET)
  }

  /** Control block for a number of threads. */
  static create(threads: number): MiningControl {
    return new MiningControl(new SharedArrayBuffer(COUNTERS_OFFSET + threads * 8))
  }

  get generation(): number {
    return Atomics.load(this.#words, GENERATION)
  }

  /** Hashes of all threads so far. */
  get hashes(): bigint {
    return this.#counters.reduce((sum, _, i) => sum + Atomics.load(this.#counters, i), 0n)
  }

  /** Writes a job, or rest, and wakes every thread. Returns its generation. */
  write(job: MiningJob | null): number {
    Atomics.add(this.#words, GENERATION, 1)
    Atomics.store(this.#words, ACTIVE, job === null ? 0 : 1)
    if (job !== null) {
      Atomics.store(this.#words, MEMORY_KIB, job.cost.memoryKiB)
      Atomics.store(this.#words, PASSES, job.cost.passes)
      Atomics.store(this.#words, LANES, job.cost.lanes)
      this.#bytes.set(job.input, INPUT_OFFSET)
      this.#bytes.set(job.target, TARGET_OFFSET)
    }
    const generation = Atomics.add(this.#words, GENERATION, 1) + 1
    Atomics.notify(this.#words, GENERATION)
    return generation
  }

  /** Waits for a job newer than `seen` and copies it out; threads only. */
  read(seen: number): { readonly generation: number; readonly job: MiningJob } {
    for (;;) {
      const generation = this.generation
      if (generation % 2 !== 0 || generation === seen || Atomics.load(this.#words, ACTIVE) === 0) {
        Atomics.wait(this.#words, GENERATION, generation, 1_000)
        continue
      }
      const job = {
        input: this.#bytes.slice(INPUT_OFFSET, INPUT_OFFSET + 32),
        target: this.#bytes.slice(TARGET_OFFSET, TARGET_OFFSET + 32),
        cost: { memoryKiB: this.#word(MEMORY_KIB), passes: this.#word(PASSES), lanes: this.#word(LANES) },
      }
      if (this.generation === generation) return { generation, job }
    }
  }

  /** Counts one hash of a thread. */
  count(thread: number): void {
    Atomics.add(this.#counters, thread, 1n)
  }

  #word(index: number): number {
    return Atomics.load(this.#words, index)
  }
}
