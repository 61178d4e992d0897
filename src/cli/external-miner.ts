import { setTimeout } from 'node:timers/promises'
import { faultMessage } from '../../consensus/primitives/fault.ts'
import type { MiningJob, NonceSearcher } from '../../miner/miner.ts'
import {
  askJob,
  followJobs,
  type JobOwner,
  type JobView,
  submitNonce,
  type WorkAnswer,
} from '../../rpc/client/mining.ts'

/** What an external miner is given. */
export interface ExternalMinerParts {
  readonly url: string
  readonly owner: JobOwner
  readonly searcher: NonceSearcher
  /** First nonce of a job, chosen anew for each job: other miners may search the same job. */
  readonly firstNonce: () => bigint
  readonly onMined: (block: { readonly id: string; readonly height: number; readonly transactions: number }) => void
  readonly note: (line: string) => void
  readonly signal: AbortSignal
}

/** Each wait is twice the one before, from `first` up to `last`. */
const RETRY_MS = { first: 250, last: 5_000 }
/** If the node refuses a stream, jobs are polled at this interval, and the stream is tried again after this many polls. */
const POLL_MS = 1_000
const POLLS = 30
/** Attempts to submit one nonce to a node that is busy or away. */
const ATTEMPTS = 10

/** Refusals that may not recur a moment later, for the same nonce. */
const PASSING: ReadonlySet<string> = new Set(['mining_busy', 'rate_limited', 'node_busy', 'mining_not_ready'])
/** Refusals that end a job: another block was faster, or the node has restarted. */
const OVER: ReadonlySet<string> = new Set(['stale_job', 'unknown_job', 'known_block'])

/** Follows a node's jobs, searches them with threads, and submits the nonces found. It survives node restarts. */
export class ExternalMiner {
  readonly #parts: ExternalMinerParts
  #current: { readonly job: JobView; readonly work: MiningJob } | undefined
  #retryMs = RETRY_MS.first
  #said = ''

  constructor(parts: ExternalMinerParts) {
    this.#parts = parts
    parts.searcher.onFound((nonce, work) => void this.#found(nonce, work))
  }

  /** Works until the signal aborts. */
  async run(): Promise<void> {
    const { url, owner, signal } = this.#parts
    while (!signal.aborted) {
      const jobs = await followJobs(url, owner, signal)
      if (jobs.ok) {
        let taken = 0
        for await (const job of jobs.value) taken += this.#take(job)
        // The stream gave no job. Asking for a single job shows the reason.
        if (taken === 0) await this.#poll('its stream gave none')
        else await this.#pause()
      } else if (jobs.fault.code === 'cli/node-unreachable') {
        // Without the node, a block found now could not be submitted.
        this.#rest()
        this.#say(faultMessage(jobs.fault))
        await this.#pause()
      } else await this.#poll(faultMessage(jobs.fault))
    }
    this.#rest()
  }

  async #poll(reason: string): Promise<void> {
    const { url, owner, signal } = this.#parts
    for (let i = 0; i < POLLS && !signal.aborted; i++) {
      const job = await askJob(url, owner)
      if (!job.ok) {
        this.#rest()
        this.#say(faultMessage(job.fault))
        return this.#pause()
      }
      if (job.value.jobId !== this.#current?.job.jobId) this.#take(job.value, `asking for jobs: ${reason}`)
      await this.#wait(POLL_MS)
    }
  }

  /** Returns the number of jobs taken. */
  #take(job: JobView, how = 'following its jobs'): number {
    const { url, owner, signal } = this.#parts
    if (signal.aborted) return 0
    this.#retryMs = RETRY_MS.first
    this.#say(`mining on ${url} for ${owner.text}, ${how}`)
    this.#search(job)
    return 1
  }

  #search(job: JobView): void {
    const { input, target, cost } = job
    const work = { input, target, cost, start: this.#parts.firstNonce() }
    this.#current = { job, work }
    this.#parts.searcher.assign(work)
  }

  #rest(): void {
    this.#current = undefined
    this.#parts.searcher.assign(null)
  }

  async #found(nonce: bigint, work: MiningJob): Promise<void> {
    const { onMined, searcher, note, signal } = this.#parts
    const found = this.#current
    if (found === undefined || found.work !== work) return
    // A second solution of the same job would be worthless.
    searcher.assign(null)
    const answer = await this.#submit(found.job, nonce)
    if (signal.aborted) return
    if (answer?.accepted === true) return onMined({ ...answer, transactions: found.job.transactions })
    if (answer !== undefined) note(`block ${found.job.height} was not taken: ${answer.message} (${answer.code})`)
    const over = answer !== undefined && OVER.has(answer.code)
    if (this.#current === found && !over) this.#search(found.job)
  }

  /** Returns the answer to the last attempt, undefined if there was none. */
  async #submit({ jobId }: JobView, nonce: bigint): Promise<WorkAnswer | undefined> {
    let said: WorkAnswer | undefined
    for (let i = 0; i < ATTEMPTS && !this.#parts.signal.aborted; i++) {
      const answer = await submitNonce(this.#parts.url, jobId, nonce)
      said = answer.ok ? answer.value : undefined
      if (said?.accepted === true || (said !== undefined && !PASSING.has(said.code))) return said
      await this.#wait(RETRY_MS.first)
    }
    return said
  }

  #say(line: string): void {
    if (line === this.#said || this.#parts.signal.aborted) return
    this.#said = line
    this.#parts.note(line)
  }

  async #pause(): Promise<void> {
    await this.#wait(this.#retryMs)
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.last)
  }

  async #wait(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#parts.signal }).catch(() => {})
  }
}
