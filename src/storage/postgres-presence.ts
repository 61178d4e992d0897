import { randomUUID } from 'node:crypto'
import type { Timers } from '../../consensus/chain/ports.ts'
import { ClaimsAway, type SharedClaims } from '../../marketplace/till/claim-store.ts'
import type { PostgresDatabase } from './postgres-database.ts'
import { inheritTabs } from './postgres-tab-heir.ts'

/** What a replica's presence needs. */
export interface PresenceOptions {
  /** A connection of its own, so that heartbeats do not wait behind work. */
  readonly database: PostgresDatabase
  readonly work: PostgresDatabase
  readonly timers: Timers
  /** The same at every start, so that a restarted replica takes over its own claims without waiting for the lease. */
  readonly home: string
  /** Milliseconds of silence after which other replicas take over; the same for all replicas. */
  readonly leaseMs: number
}

const BEATS_PER_LEASE = 10

/**
 * This process as one of several replicas. Its id is new at each start, so that an earlier process with the same data
 * folder, or one with a copy of it, can no longer finish claims.
 */
export class Presence implements SharedClaims {
  readonly id = randomUUID()
  readonly #options: PresenceOptions
  #arrivals = 0
  #lapses = 0
  #lossesSeen = 0
  #lastBeatMs = performance.now()
  /**
   * Start of this replica's uninterrupted heartbeats. Only after a full lease of them can it tell dead replicas from
   * those that a server outage silenced.
   */
  #steadySinceMs = performance.now()
  #cancel: (() => void) | null = null
  #beating: Promise<void> = Promise.resolve()
  #ended = false

  constructor(options: PresenceOptions) {
    this.#options = options
  }

  get arrivals(): number {
    return this.#arrivals
  }

  get lapses(): number {
    return this.#lapses
  }

  get awayBecause(): string | null {
    const silentMs = performance.now() - this.#lastBeatMs
    if (silentMs > this.#options.leaseMs / 2) return 'this replica was silent for too long'
    return this.#options.database.awayBecause ?? this.#options.work.awayBecause
  }

  /** Registers this replica, and takes over the claims of earlier starts with the same data folder. */
  async join(): Promise<void> {
    const { database, home } = this.#options
    const { schema } = database
    await database.transaction(async (query) => {
      await query(`INSERT INTO ${schema}.replicas VALUES ($1, $2, clock_timestamp())`, [this.id, home])
      const before = `SELECT id FROM ${schema}.replicas WHERE home = $1 AND id <> $2 ORDER BY id FOR UPDATE`
      await this.#inherit(query, await query<{ id: string }>(before, [home, this.id]))
    })
    this.#lastBeatMs = performance.now()
    this.#steadySinceMs = this.#lastBeatMs
    this.#schedule()
  }

  /** Concurrent calls run in sequence. */
  beat(): Promise<void> {
    const beat = this.#beating.then(() => this.#beat())
    this.#beating = beat.catch(ignoreAway)
    return beat
  }

  /** Leaves: other replicas take over its open claims without waiting for the lease to end. */
  async leave(): Promise<void> {
    this.#ended = true
    this.#cancel?.()
    await this.#beating
    const { database } = this.#options
    await database
      .query(`UPDATE ${database.schema}.replicas SET seen_at = '-infinity' WHERE id = $1`, [this.id])
      .catch(ignoreAway)
  }

  #schedule(): void {
    if (this.#ended) return
    const { timers, leaseMs } = this.#options
    this.#cancel = timers.after(leaseMs / BEATS_PER_LEASE, () => {
      void this.beat()
        .catch(ignoreAway)
        .finally(() => this.#schedule())
    })
  }

  async #beat(): Promise<void> {
    if (this.#ended) return
    const { database, work, leaseMs } = this.#options
    const startedMs = performance.now()
    const seen = await database.query(
      `UPDATE ${database.schema}.replicas SET seen_at = clock_timestamp() WHERE id = $1 RETURNING id`,
      [this.id],
    )
    if (seen.length === 0) await this.#rejoin()
    if (startedMs - this.#lastBeatMs > leaseMs / 2) this.#steadySinceMs = startedMs
    this.#lastBeatMs = startedMs
    if (startedMs - this.#steadySinceMs >= leaseMs) await this.#takeOver()
    // A lost answer may hide a claim of this replica that this process does not know of.
    if (work.awayBecause !== null) await work.query('SELECT 1')
    if (this.#lossesSeen !== work.losses) this.#arrivals += 1
    this.#lossesSeen = work.losses
  }

  /** Other replicas took over all its claims and removed its row: it registers again and owns nothing. */
  async #rejoin(): Promise<void> {
    const { database, home } = this.#options
    this.#lapses += 1
    await database.query(`INSERT INTO ${database.schema}.replicas VALUES ($1, $2, clock_timestamp())`, [this.id, home])
  }

  async #takeOver(): Promise<void> {
    const { database, leaseMs } = this.#options
    const dead = `SELECT id FROM ${database.schema}.replicas
      WHERE seen_at < clock_timestamp() - $1 * interval '1 millisecond' AND id <> $2 ORDER BY id`
    const values = [leaseMs, this.id]
    if ((await database.query(dead, values)).length === 0) return
    // Locks and checks again: a replica that returns just now either stays alive or finds its row gone.
    const moved = await database.transaction(async (query) => {
      // While this replica takes over, no other one takes over from it: they could wait for each other.
      const self = `SELECT id FROM ${database.schema}.replicas WHERE id = $1 FOR KEY SHARE`
      if ((await query(self, [this.id])).length === 0) return 0
      return this.#inherit(query, await query<{ id: string }>(`${dead} FOR UPDATE SKIP LOCKED`, values))
    })
    if (moved > 0) this.#arrivals += 1
  }

  async #inherit(query: PostgresDatabase['query'], replicas: readonly { readonly id: string }[]): Promise<number> {
    if (replicas.length === 0) return 0
    const { schema } = this.#options.database
    const ids = replicas.map(({ id }) => id)
    const moved = await query(`UPDATE ${schema}.claims SET owner = $1 WHERE owner = ANY ($2) RETURNING id`, [
      this.id,
      ids,
    ])
    const calls = await inheritTabs(query, { schema, heir: this.id, from: ids })
    await query(`DELETE FROM ${schema}.replicas WHERE id = ANY ($1)`, [ids])
    return moved.length + calls
  }
}

function ignoreAway(error: unknown): void {
  if (!(error instanceof ClaimsAway)) throw error
}
