import { powInput } from '../consensus/block/pow.ts'
import { toHex } from '../consensus/primitives/bytes.ts'
import type { Holder } from '../consensus/primitives/fair-share.ts'
import type { Address } from '../consensus/primitives/ids.ts'
import { LruSet } from '../consensus/primitives/lru.ts'
import type { Template } from './template.ts'

/** A template given to external miners. */
export interface RemoteJob {
  /** 32 hex digits, a hash of the header: the same header is the same job. */
  readonly id: string
  readonly template: Template
  readonly madeMs: number
}

/** Most valid jobs of one address. One more ends the oldest. */
export const JOBS_PER_ADDRESS = 16

/** Ids of ended jobs are remembered, to tell a late solution from an unknown job. */
const DEAD_JOBS_KEPT = 4_096

const ID_BYTES = 16

/** Jobs by id: valid jobs, which build on the head, and the ids of some ended ones. */
export class JobBook {
  readonly #live = new Map<string, RemoteJob>()
  readonly #dead = new LruSet<string>(DEAD_JOBS_KEPT)

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

  isDead(id: string): boolean {
    return this.#dead.has(id)
  }

  end(jobs: readonly RemoteJob[]): void {
    for (const { id } of jobs) {
      this.#live.delete(id)
      this.#dead.add(id)
    }
  }
}

/** Its methods must not throw. */
export interface JobListener {
  job(job: RemoteJob): void
  /** No more jobs will come. */
  end(): void
}

/** An address that external miners work for. */
export interface Mined {
  readonly address: Address
  /** One for each client that mines for the address. */
  readonly seats: Set<Seat>
  jobs: readonly RemoteJob[]
  /** Whether a template with the mempool's transactions should be built for it. */
  owed: boolean
  /** Mempool admissions counted before its newest template from the mempool was built; `NOTHING` without one. */
  knows: number
}

/** One client that mines for an address. */
export interface Seat {
  readonly mined: Mined
  readonly holder: Holder
  readonly listeners: Set<JobListener>
  usedMs: number
}
