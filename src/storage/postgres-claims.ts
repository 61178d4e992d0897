import type { Timers } from '../../consensus/chain/ports.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import {
  type ClaimKind,
  type ClaimPage,
  type ClaimStore,
  ClaimsAway,
  type SharedClaims,
  type StoredClaim,
} from '../../marketplace/checkout/claim-store.ts'
import { PostgresDatabase } from './postgres-database.ts'
import type { PostgresPlace } from './postgres-place.ts'
import { Presence } from './postgres-presence.ts'
import { migrate, NAMES_INDEX } from './postgres-schema.ts'

/** How the claims of an operator are opened. */
export interface PostgresClaimsOptions {
  readonly place: PostgresPlace
  /** Network whose payments these are; the claims of another one are refused. */
  readonly network: string
  /** Name of this replica's data folder, see {@link Presence}. */
  readonly home: string
  /** Milliseconds of silence after which a replica is taken for dead. */
  readonly leaseMs: number
  readonly timers: Timers
}

/** Connections for work; signs of life have one of their own. */
const CONNECTIONS_MAX = 10
/** An owner that is not there: others took this replica for dead in this moment. */
const FOREIGN_KEY_VIOLATION = '23503'
const UNIQUE_VIOLATION = '23505'
/** A claim can be released between finding it and reading it; more often in a row it is not. */
const CLAIM_TRIES = 5
/** Results forgotten by one statement: a server on a slow disk must be through with it in time. */
const FORGOTTEN_AT_ONCE = 5_000

/** A claim as its row holds it; the result is kept apart. */
interface Row {
  readonly body: string
  readonly result: string | null
}

/** A claim as it is written, and the name that it gets with it. */
interface Entry<C extends StoredClaim> {
  readonly id: string
  readonly claim: C
  readonly name: string | null
}

/** The claims of an operator on PostgreSQL: every kind of them, and this replica's place among the others. */
export class PostgresClaims {
  readonly #database: PostgresDatabase
  readonly #presence: Presence
  readonly #close: () => Promise<void>
  #stores = 0

  private constructor(database: PostgresDatabase, presence: Presence, close: () => Promise<void>) {
    this.#database = database
    this.#presence = presence
    this.#close = close
  }

  /** Connects, makes the tables where there are none, and joins the other replicas. Throws {@link ClaimsAway}. */
  static async open({ place, network, home, leaseMs, timers }: PostgresClaimsOptions): Promise<PostgresClaims> {
    const work = await PostgresDatabase.open(place, CONNECTIONS_MAX)
    const signs = await PostgresDatabase.open(place, 1)
    const close = async (): Promise<void> => void (await Promise.all([work.close(), signs.close()]))
    try {
      await migrate(work, network)
      const presence = new Presence({ database: signs, work, timers, home, leaseMs })
      await presence.join()
      return new PostgresClaims(work, presence, close)
    } catch (error) {
      await close()
      throw error
    }
  }

  /** The claims of a kind; everything is closed with the last store that is. */
  store<C extends StoredClaim>(kind: ClaimKind<C>): PostgresClaimStore<C> {
    this.#stores += 1
    return new PostgresClaimStore(kind, this.#database, this.#presence, async () => {
      this.#stores -= 1
      if (this.#stores > 0) return
      await this.#presence.leave()
      await this.#close()
    })
  }
}

/** The claim store that several replicas share: PostgreSQL decides who is first, and who owns what is open. */
export class PostgresClaimStore<C extends StoredClaim> implements ClaimStore<C> {
  readonly shared: SharedClaims
  readonly #kind: ClaimKind<C>
  readonly #database: PostgresDatabase
  readonly #presence: Presence
  readonly #close: () => Promise<void>

  /** Use {@link PostgresClaims}. */
  constructor(...[kind, database, presence, close]: [ClaimKind<C>, PostgresDatabase, Presence, () => Promise<void>]) {
    this.#kind = kind
    this.#database = database
    this.#presence = presence
    this.#close = close
    this.shared = presence
  }

  async get(id: string): Promise<C | undefined> {
    const [row] = await this.#rows('id = $2', [id])
    return row && claimOf<C>(row)
  }

  async named(name: string): Promise<C | undefined> {
    const [row] = await this.#rows('name = $2', [name])
    return row && claimOf<C>(row)
  }

  async claim(claim: C): Promise<C | null> {
    const id = this.#kind.idOf(claim)
    const name = this.#nameOf(claim)
    for (let left = CLAIM_TRIES; ; left--) {
      if (await this.#insert(id, claim)) return null
      const known = (await this.get(id)) ?? (name === null ? undefined : await this.named(name))
      if (known !== undefined) return known
      if (left === 0) throw new ClaimsAway(fault('market/claims-away', { reason: 'the claim comes and goes' }))
    }
  }

  async advance(from: C['state'], next: C): Promise<boolean> {
    const sql = `UPDATE ${this.#schema}.claims SET state = $3, owner = $4, claimed_at = $5, body = $6, name = $10
      WHERE kind = $1 AND id = $2 AND state = $11 AND (owner IS NULL OR owner = $12) RETURNING kind, id`
    const write = (name: string | null): Promise<boolean> =>
      this.#write(sql, { id: this.#kind.idOf(next), claim: next, name }, [from, this.#presence.id])
    try {
      return await write(this.#nameOf(next))
    } catch (error) {
      if (!isNameTaken(error)) throw error
      // What is over happened, whoever has the name.
      return this.#kind.isOpen(next) ? false : write(null)
    }
  }

  async release(from: C['state'], id: string): Promise<boolean> {
    const sql = `DELETE FROM ${this.#schema}.claims
      WHERE kind = $1 AND id = $2 AND state = $3 AND (owner IS NULL OR owner = $4) RETURNING id`
    const gone = await this.#database.query(sql, [this.#kind.name, id, from, this.#presence.id])
    return gone.length > 0
  }

  async open(): Promise<readonly C[]> {
    await this.#presence.beat()
    return (await this.#rows('owner = $2', [this.#presence.id])).map((row) => claimOf<C>(row))
  }

  async recent(limit: number, cursor: string | null): Promise<ClaimPage<C>> {
    const [before, id] = cursor === null ? [null, null] : (cursor.split('/') as [string, string])
    const sql = `SELECT id, claimed_at AS "claimedAt", body FROM ${this.#schema}.claims
      WHERE kind = $1 AND ($2::bigint IS NULL OR (claimed_at, id) < ($2::bigint, $3::text COLLATE "C"))
      ORDER BY claimed_at DESC, id DESC LIMIT $4`
    const values = [this.#kind.name, before, id, limit + 1]
    const rows = await this.#database.query<{ id: string; claimedAt: string; body: string }>(sql, values)
    const last = rows[limit - 1]
    return {
      claims: rows.slice(0, limit).map(({ body }) => JSON.parse(body) as C),
      nextCursor: rows.length > limit && last !== undefined ? `${last.claimedAt.padStart(15, '0')}/${last.id}` : null,
    }
  }

  async pruneResults(beforeMs: number, bytesMax: number): Promise<number> {
    let pruned = 0
    for (let count = FORGOTTEN_AT_ONCE; count === FORGOTTEN_AT_ONCE; pruned += count)
      count = (await this.#forget('finished_at', beforeMs)).length
    const sum = `SELECT coalesce(sum(bytes), 0) AS bytes FROM ${this.#schema}.results WHERE kind = $1`
    const [kept] = await this.#database.query<{ bytes: string }>(sum, [this.#kind.name])
    for (let excess = Number(kept?.bytes) - bytesMax; excess > 0; ) {
      const gone = await this.#forget('older', excess)
      if (gone.length === 0) break
      for (const { bytes } of gone) excess -= bytes
      pruned += gone.length
    }
    return pruned
  }

  /** Forgets the oldest results of those whose end, or the bytes of whose elders, lie below a bound: as many as there is time for. */
  #forget(what: 'finished_at' | 'older', bound: number): Promise<readonly { readonly bytes: number }[]> {
    const sql = `WITH oldest AS (
        SELECT id, finished_at, bytes FROM ${this.#schema}.results WHERE kind = $1 ORDER BY finished_at, id LIMIT $3
      ), counted AS (SELECT id, finished_at, sum(bytes) OVER (ORDER BY finished_at, id) - bytes AS older FROM oldest)
      DELETE FROM ${this.#schema}.results AS result USING counted
      WHERE result.kind = $1 AND result.id = counted.id AND counted.${what} < $2 RETURNING result.bytes`
    return this.#database.query(sql, [this.#kind.name, bound, FORGOTTEN_AT_ONCE])
  }

  /** Closes this kind; with the last one the replica leaves and its connections are closed. */
  async close(): Promise<void> {
    await this.#close()
  }

  #nameOf(claim: C): string | null {
    return this.#kind.nameOf?.(claim) ?? null
  }

  get #schema(): string {
    return this.#database.schema
  }

  /** Puts a new claim; false if there is one. A replica that others have just taken for dead joins again first. */
  async #insert(id: string, claim: C): Promise<boolean> {
    const sql = `INSERT INTO ${this.#schema}.claims (kind, id, state, owner, claimed_at, body, name)
      VALUES ($1, $2, $3, $4, $5, $6, $10) ON CONFLICT DO NOTHING RETURNING kind, id`
    const entry = { id, claim, name: this.#nameOf(claim) }
    try {
      return await this.#write(sql, entry)
    } catch (error) {
      if (!(error instanceof ClaimsAway) || codeOf(error) !== FOREIGN_KEY_VIOLATION) throw error
      await this.#presence.beat()
      return this.#write(sql, entry)
    }
  }

  /** Writes a claim by a statement that gives back its key if it took effect, and with it what becomes of its result. */
  async #write(sql: string, { id, claim, name }: Entry<C>, more: readonly unknown[] = []): Promise<boolean> {
    const { result, finishedAtMs = 0, claimedAtMs, state } = claim
    const owner = this.#kind.isOpen(claim) ? this.#presence.id : null
    const body = JSON.stringify(result === undefined ? claim : { ...claim, result: null })
    const text = result ?? null
    const bytes = text === null ? 0 : Buffer.byteLength(text)
    const all = `WITH moved AS (${sql}), kept AS (
        INSERT INTO ${this.#schema}.results (kind, id, finished_at, bytes, result)
        SELECT kind, id, $7::bigint, $8::integer, $9::text FROM moved WHERE $9::text IS NOT NULL
        ON CONFLICT (kind, id) DO UPDATE
        SET finished_at = EXCLUDED.finished_at, bytes = EXCLUDED.bytes, result = EXCLUDED.result
      ), forgotten AS (
        DELETE FROM ${this.#schema}.results AS result USING moved
        WHERE result.kind = moved.kind AND result.id = moved.id AND ${result === undefined}
      ) SELECT id FROM moved`
    const values = [this.#kind.name, id, state, owner, claimedAtMs, body, finishedAtMs, bytes, text, name, ...more]
    return (await this.#database.query(all, values)).length > 0
  }

  #rows(where: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const sql = `SELECT claim.body, result.result FROM ${this.#schema}.claims AS claim
      LEFT JOIN ${this.#schema}.results AS result USING (kind, id) WHERE kind = $1 AND ${where} ORDER BY claimed_at, id`
    return this.#database.query<Row>(sql, [this.#kind.name, ...values])
  }
}

function claimOf<C extends StoredClaim>({ body, result }: Row): C {
  const claim = JSON.parse(body) as C
  return claim.result === undefined ? claim : { ...claim, result }
}

function isNameTaken(error: unknown): boolean {
  if (!(error instanceof ClaimsAway) || codeOf(error) !== UNIQUE_VIOLATION) return false
  return (error.cause as { constraint?: string }).constraint === NAMES_INDEX
}

function codeOf({ cause }: ClaimsAway): string | undefined {
  return (cause as { code?: string } | undefined)?.code
}
