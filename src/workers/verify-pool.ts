import { Piscina } from 'piscina'
import type { WorkJob, WorkVerifier } from '../../consensus/block/pow.ts'
import type { SignatureJob } from '../../consensus/crypto/signing.ts'
import type { TabSignature } from '../../consensus/crypto/tab-signing.ts'
import { type SignatureVerifier, verifyJob } from '../../consensus/crypto/verifier.ts'
import { NATIVE_BACKEND } from '../crypto/native-backend.ts'
import { packJobs, packTabJobs } from './verify-packing.ts'
import { packWork } from './work-packing.ts'

/** Jobs per chunk: enough to be worth the transfer, few enough (about 5 ms) to spread the load evenly. */
const CHUNK_JOBS_MAX = 32
const CHUNK_JOBS_MIN = 4
const CHUNKS_PER_THREAD = 4
/** Up to this many jobs are checked on the calling thread while no others are under way, because the transfer would take longer. */
const INLINE_JOBS_MAX = 3
/** Headers per chunk: about 4 ms of hashing. Signatures of tabs take about as long. */
const CHUNK_HEADERS = 32
const THREAD_HEAP_MB = { young: 4, old: 64 }

interface Pending {
  readonly jobs: readonly SignatureJob[]
  readonly resolve: (verdicts: readonly boolean[]) => void
  readonly reject: (error: unknown) => void
}

/** Calls in the same turn of the event loop are packed together, so even a stream of single transactions is checked in chunks. */
export class VerifyPool implements SignatureVerifier, WorkVerifier {
  readonly #pool: Piscina
  readonly #threads: number
  #pending: Pending[] = []
  #running = 0
  #closed = false

  constructor(threads: number) {
    this.#threads = threads
    this.#pool = new Piscina({
      filename: new URL('./verify-worker.ts', import.meta.url).href,
      name: 'verifyPacked',
      // All threads start with the node. A thread that started later could load the code of another release, and work queued behind a
      // thread that died would wait.
      minThreads: threads,
      maxThreads: threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      resourceLimits: { maxYoungGenerationSizeMb: THREAD_HEAP_MB.young, maxOldGenerationSizeMb: THREAD_HEAP_MB.old },
    })
    // A terminated thread may report an error at the last moment.
    this.#pool.on('error', (error: Error) => {
      if (!this.#closed) throw error
    })
  }

  verify(jobs: readonly SignatureJob[]): Promise<readonly boolean[]> {
    if (jobs.length === 0) return Promise.resolve([])
    if (this.#closed) return Promise.reject(new Error('the verification threads have ended'))
    const verdicts = new Promise<readonly boolean[]>((resolve, reject) => this.#pending.push({ jobs, resolve, reject }))
    // The jobs of a block are sent at once: the caller may keep the event loop busy until the end of the turn.
    if (jobs.length > CHUNK_JOBS_MAX) void this.#flush()
    else if (this.#pending.length === 1) setImmediate(() => void this.#flush())
    return verdicts
  }

  verifyWork(jobs: readonly WorkJob[]): Promise<readonly boolean[]> {
    return this.#inChunks(jobs, packWork, 'verifyWorkPacked')
  }

  readonly verifyTabs = (jobs: readonly TabSignature[]): Promise<readonly boolean[]> =>
    this.#inChunks(jobs, packTabJobs, 'verifyTabsPacked')

  async close(): Promise<void> {
    this.#closed = true
    await this.#pool.destroy()
  }

  async #inChunks<T>(
    jobs: readonly T[],
    pack: (jobs: readonly T[]) => Uint8Array<ArrayBuffer>,
    name: string,
  ): Promise<readonly boolean[]> {
    if (this.#closed) throw new Error('the verification threads have ended')
    const chunks: Promise<Uint8Array>[] = []
    for (let start = 0; start < jobs.length; start += CHUNK_HEADERS) {
      const packed = pack(jobs.slice(start, start + CHUNK_HEADERS))
      chunks.push(this.#pool.run(Piscina.move(packed), { name }) as Promise<Uint8Array>)
    }
    return (await Promise.all(chunks)).flatMap((verdicts) => Array.from(verdicts, (verdict) => verdict === 1))
  }

  async #flush(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    const jobs = pending.flatMap((call) => call.jobs)
    try {
      const verdicts = await this.#verifyAll(jobs)
      let next = 0
      for (const { jobs: own, resolve } of pending) {
        resolve(verdicts.slice(next, next + own.length))
        next += own.length
      }
    } catch (error) {
      for (const { reject } of pending) reject(error)
    }
  }

  async #verifyAll(jobs: readonly SignatureJob[]): Promise<readonly boolean[]> {
    if (jobs.length <= INLINE_JOBS_MAX && this.#running === 0) return jobs.map((job) => verifyJob(NATIVE_BACKEND, job))
    const size = chunkSize(jobs.length, this.#threads)
    const packed: Uint8Array<ArrayBuffer>[] = []
    for (let start = 0; start < jobs.length; start += size) packed.push(packJobs(jobs.slice(start, start + size)))
    this.#running += 1
    try {
      const chunks = packed.map((chunk) => this.#pool.run(Piscina.move(chunk)) as Promise<Uint8Array>)
      return (await Promise.all(chunks)).flatMap((verdicts) => Array.from(verdicts, (verdict) => verdict === 1))
    } finally {
      this.#running -= 1
    }
  }
}

function chunkSize(jobs: number, threads: number): number {
  const even = Math.ceil(jobs / (threads * CHUNKS_PER_THREAD))
  return Math.min(CHUNK_JOBS_MAX, Math.max(CHUNK_JOBS_MIN, even))
}
