import { powInput } from '../consensus/block/pow.ts'
import { toHex } from '../consensus/primitives/bytes.ts'
import type { Holder } from '../consensus/primitives/fair-share.ts'
import type { Address } from '../consensus/primitives/ids.ts'
import { LruSet } from '../consensus/primitives/lru.ts'
import type { Template } from './template.ts'

/** A template that was handed out. */
export interface RemoteJob {
  /** 32 hex digits, made from the header: whoever has the same header has the same job. */
  readonly id: string
  readonly template: Template
  /** When it was made. */
  readonly madeMs: number
}

/** Jobs of one address that are good at the same time; the oldest goes first. */
export const JOBS_PER_ADDRESS = 16

/** Ids of dead jobs that are remembered, so that a late solution is told apart from nonsense. */
const DEAD_JOBS_KEPT = 4_096

const ID_BYTES = 16

/** Jobs by id: those whose parent is the head, and the ids of some that are over. */
export class JobBook {
  readonly #live = new Map<string, RemoteJob>()
  readonly #dead = new LruSet<string>(DEAD_JOBS_KEPT)

  /** A job of a template. */
  static job(template: Template, madeMs: number): RemoteJob {
    return { id: toHex(powInput(template.block.bytes).subarray(0, ID_BYTES)), template, madeMs }
  }

  get size(): number {
    return this.#live.size
  }

  add(job: RemoteJob): void {
    this.#live.set(job.id, job)
  }

  get(id: string): RemoteJob | undefined {
    return this.#live.get(id)
  }

  /** Whether it was a job once. */
  isDead(id: string): boolean {
    return this.#dead.has(id)
  }

  /** Takes jobs out; solutions of them come too late from now on. */
  end(jobs: readonly RemoteJob[]): void {
    for (const { id } of jobs) {
      this.#live.delete(id)
      this.#dead.add(id)
    }
  }
}

/** Who is told of an address's jobs. Neither method may throw. */
export interface JobListener {
  job(job: RemoteJob): void
  /** No further job will come. */
  end(): void
}

/** An address that is mined for, with its jobs of one head, newest first. */
export interface Mined {
  readonly address: Address
  /** Of all clients that mine for it. */
  readonly seats: Set<Seat>
  jobs: readonly RemoteJob[]
  /** Whether a template with everything that the mempool gives is owed to it. */
  owed: boolean
  /** Admissions to the mempool that its newest template knows of. */
  knows: number
}

/** One client that mines for an address. Others that name the same address have seats of their own, so none loses another's. */
export interface Seat {
  readonly mined: Mined
  readonly holder: Holder
  readonly listeners: Set<JobListener>
  usedMs: number
}
