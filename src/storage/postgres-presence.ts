import { randomUUID } from 'node:crypto'
import type { Timers } from '../../consensus/chain/ports.ts'
import { ClaimsAway, type SharedClaims } from '../../marketplace/till/claim-store.ts'
import type { PostgresDatabase } from './postgres-database.ts'

/** How a replica takes part. */
export interface PresenceOptions {
  /** Connections of its own: a sign of life does not wait behind work. */
  readonly database: PostgresDatabase
  /** Connections that the work is done over. */
  readonly work: PostgresDatabase
  readonly timers: Timers
  /**
   * Name of this replica's data folder, the same at every start: a replica that starts again takes up at once what it left,
   * and nobody waits for it to be missed.
   */
  readonly home: string
  /** How long a replica may be silent before others take over, the same for all of them. */
  readonly leaseMs: number
}

/** Signs of life in the time after which a replica is taken for dead. */
const BEATS_PER_LEASE = 10

/**
 * A replica among others: shows that it lives, and takes over what dead ones left. Its id is new at each start, so that a
 * process of before, or a copy of the data folder, can end nothing any more.
 */
export class Presence implements SharedClaims {
  readonly id = randomUUID()
  readonly #options: PresenceOptions
  #arrivals = 0
  #lapses = 0
  #lossesSeen = 0
  #lastBeatMs = performance.now()
  /** Since when it was never silent for long: only then can it tell the dead from those whom the server's own outage silenced. */
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

  /** Joins the others, and takes over what earlier starts of the same data folder left. */
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

  /** Shows a sign of life and takes over from the dead; signs that are asked for at once are one after another. */
  beat(): Promise<void> {
    const beat = this.#beating.then(() => this.#beat())
    this.#beating = beat.catch(ignoreAway)
    return beat
  }

  /** Leaves: others take over what is open here at once. */
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
    // Answers that were lost may have been claims of this replica, which nobody here knows of.
    if (work.awayBecause !== null) await work.query('SELECT 1')
    if (this.#lossesSeen !== work.losses) this.#arrivals += 1
    this.#lossesSeen = work.losses
  }

  /** Others took over everything of this replica, whose row is gone with it: it begins anew and owns nothing. */
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
    // Locked and looked at again: one that comes back in this moment either lives on or finds itself gone.
    const moved = await database.transaction(async (query) =>
      this.#inherit(query, await query<{ id: string }>(`${dead} FOR UPDATE SKIP LOCKED`, values)),
    )
    if (moved > 0) this.#arrivals += 1
  }

  /** Makes the open claims of replicas this one's, and the replicas gone; how many claims. */
  async #inherit(query: PostgresDatabase['query'], replicas: readonly { readonly id: string }[]): Promise<number> {
    if (replicas.length === 0) return 0
    const { schema } = this.#options.database
    const ids = replicas.map(({ id }) => id)
    const moved = await query(`UPDATE ${schema}.claims SET owner = $1 WHERE owner = ANY ($2) RETURNING id`, [
      this.id,
      ids,
    ])
    await query(`DELETE FROM ${schema}.replicas WHERE id = ANY ($1)`, [ids])
    return moved.length
  }
}

function ignoreAway(error: unknown): void {
  if (!(error instanceof ClaimsAway)) throw error
}
