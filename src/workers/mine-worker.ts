import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { searchNonce } from '../../consensus/block/pow.ts'
import type { MiningJob } from '../../miner/miner.ts'
import { nativePowHasher } from '../crypto/native-pow.ts'

/** Start data of a mining thread. */
export interface MiningTask {
  readonly buffer: SharedArrayBuffer
  readonly thread: number
  readonly threads: number
  /** Generation (see `MiningControl`) of the last job that this thread finished. */
  readonly seen: number
}

/** A nonce that meets its target. */
export interface FoundNonce {
  readonly generation: number
  readonly nonce: bigint
}

const LOWEST_PRIORITY = 19
let lowered = false

/** Thread entry: works on one job after another until it finds a nonce. */
export function mine({ buffer, thread, threads, seen }: MiningTask): FoundNonce {
  const control = new MiningControl(buffer)
  lowerPriority((id) => control.nameThread(thread, id))
  for (let done = seen; ; ) {
    const { generation, job } = control.read(done)
    const nonce = searchNonce({ ...job, start: job.start + BigInt(thread), stride: BigInt(threads) }, nativePowHasher, {
      stopped: () => control.generation !== generation,
      onHash: () => control.count(thread),
    })
    if (nonce !== undefined) return { generation, nonce }
    done = generation
  }
}

/** Mining must not slow verification. Only on Linux does `setPriority` lower a single thread. */
function lowerPriority(onThreadId: (id: number) => void): void {
  if (lowered || process.platform !== 'linux') return
  lowered = true
  const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  onThreadId(threadId)
  setPriority(threadId, LOWEST_PRIORITY)
}

/**
 * Layout of the shared memory. The generation counter is odd while a job is being written, else even. A thread reads it
 * before every hash, so a new job reaches it within one hash.
 */
const GENERATION = 0
const ACTIVE = 1
const MEMORY_KIB = 2
const PASSES = 3
const LANES = 4
/** Low and high half of the first nonce. */
const START_LOW = 5
const START_HIGH = 6
const WORDS = 8
const INPUT_OFFSET = WORDS * 4
const TARGET_OFFSET = INPUT_OFFSET + 32
/** Two numbers per thread: its hashes so far, and its id in the operating system. */
const THREADS_OFFSET = TARGET_OFFSET + 32
const THREAD_WORDS = 2

/** Job and counters, shared by all threads. */
export class MiningControl {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #bytes: Uint8Array
  readonly #threads: BigUint64Array

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer, 0, WORDS)
    this.#bytes = new Uint8Array(buffer)
    this.#threads = new BigUint64Array(buffer, THREADS_OFFSET)
  }

  static create(threads: number): MiningControl {
    return new MiningControl(new SharedArrayBuffer(THREADS_OFFSET + threads * THREAD_WORDS * 8))
  }

  get generation(): number {
    return Atomics.load(this.#words, GENERATION)
  }

  get hashes(): bigint {
    return this.#ofThreads(0).reduce((sum, hashes) => sum + hashes, 0n)
  }

  get threadIds(): readonly number[] {
    return this.#ofThreads(1)
      .filter((id) => id > 0n)
      .map(Number)
  }

  /** Writes a job (null: no work) and wakes every thread. Returns its generation. */
  write(job: MiningJob | null): number {
    Atomics.add(this.#words, GENERATION, 1)
    Atomics.store(this.#words, ACTIVE, job === null ? 0 : 1)
    if (job !== null) {
      Atomics.store(this.#words, MEMORY_KIB, job.cost.memoryKiB)
      Atomics.store(this.#words, PASSES, job.cost.passes)
      Atomics.store(this.#words, LANES, job.cost.lanes)
      Atomics.store(this.#words, START_LOW, Number(BigInt.asIntN(32, job.start ?? 0n)))
      Atomics.store(this.#words, START_HIGH, Number(BigInt.asIntN(32, (job.start ?? 0n) >> 32n)))
      this.#bytes.set(job.input, INPUT_OFFSET)
      this.#bytes.set(job.target, TARGET_OFFSET)
    }
    const generation = Atomics.add(this.#words, GENERATION, 1) + 1
    Atomics.notify(this.#words, GENERATION)
    return generation
  }

  /** Waits for a job newer than `seen` and copies it; only for threads. */
  read(seen: number): { readonly generation: number; readonly job: Required<MiningJob> } {
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
        start: (BigInt(this.#word(START_HIGH) >>> 0) << 32n) | BigInt(this.#word(START_LOW) >>> 0),
      }
      if (this.generation === generation) return { generation, job }
    }
  }

  count(thread: number): void {
    Atomics.add(this.#threads, thread * THREAD_WORDS, 1n)
  }

  nameThread(thread: number, id: number): void {
    Atomics.store(this.#threads, thread * THREAD_WORDS + 1, BigInt(id))
  }

  #ofThreads(word: number): bigint[] {
    const count = this.#threads.length / THREAD_WORDS
    return Array.from({ length: count }, (_, i) => Atomics.load(this.#threads, i * THREAD_WORDS + word))
  }

  #word(index: number): number {
    return Atomics.load(this.#words, index)
  }
}
