import type { Timers } from '../../consensus/chain/ports.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import {
  beyondBytes,
  type ClaimKind,
  type ClaimPage,
  type ClaimStore,
  ClaimsAway,
  type KeptResult,
  PASSED_OVER_MAX,
  type SharedClaims,
  type StoredClaim,
} from '../../marketplace/till/claim-store.ts'
import { codeOf, PostgresDatabase, UNIQUE_VIOLATION } from './postgres-database.ts'
import type { PostgresPlace } from './postgres-place.ts'
import { Presence } from './postgres-presence.ts'
import { migrate, NAMES_INDEX } from './postgres-schema.ts'
import { PostgresTabStore } from './postgres-tabs.ts'

/** What the claims of an operator need. */
export interface PostgresClaimsOptions {
  readonly place: PostgresPlace
  /** Network of the payments. Tables that hold the claims of another network are refused when they are opened. */
  readonly network: string
  /** Name of this replica's data folder, see {@link Presence}. */
  readonly home: string
  /** A replica that is silent for this long (ms) counts as dead. */
  readonly leaseMs: number
  readonly timers: Timers
}

/** Most connections for work; heartbeats have their own. */
const CONNECTIONS_MAX = 10
/** State code of a write whose owner is not registered: another replica has declared this one dead. */
const FOREIGN_KEY_VIOLATION = '23503'
/** A claim can be released between a refused insert and the read after it. Then both are repeated, at most this often. */
const CLAIM_TRIES = 5
/** Results that one statement lists or forgets: even a server on a slow disk must finish in time. */
const RESULTS_AT_ONCE = 5_000

interface ResultRow {
  readonly id: string
  readonly finishedAt: string
  readonly bytes: number
  readonly payer: string | null
  readonly price: string
  readonly delivered: boolean
}

type Listed = KeptResult & { readonly id: string }

interface Row {
  readonly body: string
  readonly result: string | null
}

interface Place {
  readonly id: string
  readonly claimedAt: string
}

interface ListedRow extends Place {
  readonly body: string
}

interface Entry<C extends StoredClaim> {
  readonly id: string
  readonly claim: C
  readonly name: string | null
}

/** The claims of an operator in PostgreSQL, of all kinds, and this replica's presence among all replicas. */
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

  /** Connects, creates missing tables, and joins the other replicas. Throws {@link ClaimsAway}. */
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

  /** Closing the last store closes the connections. */
  store<C extends StoredClaim>(kind: ClaimKind<C>): PostgresClaimStore<C> {
    return new PostgresClaimStore(kind, this.#database, this.#presence, this.#closing())
  }

  /** The calls on tabs. Counts as a store. */
  tabs(): PostgresTabStore {
    return new PostgresTabStore(this.#database, this.#presence, this.#closing())
  }

  /** A secret that all replicas share, made by the first one that asks for it. */
  async secret(name: string, make: () => Uint8Array): Promise<Uint8Array> {
    const { schema } = this.#database
    const put = `INSERT INTO ${schema}.secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`
    const read = `SELECT value FROM ${schema}.secrets WHERE name = $1`
    const look = () => this.#database.query<{ value: Uint8Array }>(read, [name])
    const [known] = await look()
    if (known !== undefined) return Uint8Array.from(known.value)
    await this.#database.query(put, [name, Buffer.from(make())])
    return Uint8Array.from((await look())[0]?.value as Uint8Array)
  }

  #closing(): () => Promise<void> {
    this.#stores += 1
    return async () => {
      this.#stores -= 1
      if (this.#stores > 0) return
      await this.#presence.leave()
      await this.#close()
    }
  }
}

/** PostgreSQL decides which replica makes a claim, and which owns an open one. */
export class PostgresClaimStore<C extends StoredClaim> implements ClaimStore<C> {
  readonly shared: SharedClaims
  readonly #kind: ClaimKind<C>
  readonly #database: PostgresDatabase
  readonly #presence: Presence
  readonly #close: () => Promise<void>

  /** Only {@link PostgresClaims.store} calls this. */
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
    const sql = `UPDATE ${this.#schema}.claims SET state = $3, owner = $4, claimed_at = $5, body = $6, name = $10,
        service = $14
      WHERE kind = $1 AND id = $2 AND state = $15 AND (owner IS NULL OR owner = $16) RETURNING kind, id`
    const write = (name: string | null): Promise<boolean> =>
      this.#write(sql, { id: this.#kind.idOf(next), claim: next, name }, [from, this.#presence.id])
    try {
      return await write(this.#nameOf(next))
    } catch (error) {
      if (!isNameTaken(error)) throw error
      // Another claim holds the name. A finished claim is a fact all the same, so it is stored without its name.
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

  async recent(limit: number, cursor: string | null, serviceId?: string): Promise<ClaimPage<C>> {
    const [before, id] = cursor === null ? [null, null] : (cursor.split('/') as [string, string])
    const newest = `FROM ${this.#schema}.claims
      WHERE kind = $1 AND ($2::bigint IS NULL OR (claimed_at, id) < ($2::bigint, $3::text COLLATE "C"))
      ORDER BY claimed_at DESC, id DESC`
    const values = [this.#kind.name, before, id]
    const sql = `SELECT id, claimed_at AS "claimedAt", body FROM (
        SELECT id, claimed_at, service, body ${newest} LIMIT $4
      ) AS passed WHERE $6::text IS NULL OR service IS NULL OR service = $6 ORDER BY claimed_at DESC, id DESC LIMIT $5`
    const most = serviceId === undefined ? limit + 1 : PASSED_OVER_MAX
    const rows = await this.#database.query<ListedRow>(sql, [...values, most, limit + 1, serviceId ?? null])
    const claims = rows.slice(0, limit).map(({ body }) => JSON.parse(body) as C)
    if (serviceId === undefined || rows.length > limit)
      return { claims: claims.filter(isOf), nextCursor: rows.length > limit ? placeOf(rows[limit - 1]) : null }
    const end = `SELECT id, claimed_at AS "claimedAt" ${newest} OFFSET $4 LIMIT 1`
    const [last] = await this.#database.query<Place>(end, [...values, PASSED_OVER_MAX - 1])
    return { claims: claims.filter(isOf), nextCursor: placeOf(last) }

    function isOf(claim: C): boolean {
      return serviceId === undefined || claim.serviceId === serviceId
    }
  }

  async pruneResults(beforeMs: number, bytesMax: number): Promise<number> {
    let pruned = 0
    for (let count = RESULTS_AT_ONCE; count === RESULTS_AT_ONCE; pruned += count)
      count = await this.#forgetBefore(beforeMs)
    const sum = `SELECT coalesce(sum(bytes), 0) AS bytes FROM ${this.#schema}.results WHERE kind = $1`
    const [kept] = await this.#database.query<{ bytes: string }>(sum, [this.#kind.name])
    if (Number(kept?.bytes) <= bytesMax) return pruned
    const beyond = beyondBytes(await this.#listed(), bytesMax)
    for (let start = 0; start < beyond.length; start += RESULTS_AT_ONCE)
      pruned += await this.#forget(beyond.slice(start, start + RESULTS_AT_ONCE).map(({ id }) => id))
    return pruned
  }

  async handedOver(id: string): Promise<void> {
    const sql = `UPDATE ${this.#schema}.results SET delivered = true WHERE kind = $1 AND id = $2 AND NOT delivered`
    await this.#database.query(sql, [this.#kind.name, id])
  }

  async #listed(): Promise<readonly Listed[]> {
    const sql = `SELECT id, finished_at AS "finishedAt", bytes, payer, price, delivered FROM ${this.#schema}.results
      WHERE kind = $1 AND (finished_at, id) > ($2::bigint, $3::text COLLATE "C") ORDER BY finished_at, id LIMIT $4`
    const listed: Listed[] = []
    for (let [time, id, count] = ['-1', '', RESULTS_AT_ONCE]; count === RESULTS_AT_ONCE; ) {
      const rows = await this.#database.query<ResultRow>(sql, [this.#kind.name, time, id, RESULTS_AT_ONCE])
      const paid = await this.#paidByClaims(rows.filter(({ payer }) => payer === null).map(({ id }) => id))
      for (const { id, bytes, payer, price, delivered } of rows) {
        const facts = paid.get(id) ?? { payer, priceUsdMicros: BigInt(price), isDelivered: false }
        listed.push({ ...facts, id, bytes, isDelivered: delivered || facts.isDelivered })
      }
      count = rows.length
      time = rows.at(-1)?.finishedAt ?? time
      id = rows.at(-1)?.id ?? id
    }
    return listed
  }

  /** Older releases wrote results without payer, price and delivery; the claims have them. */
  async #paidByClaims(ids: readonly string[]): Promise<ReadonlyMap<string, Omit<KeptResult, 'bytes'>>> {
    if (ids.length === 0) return new Map()
    const sql = `SELECT id, body FROM ${this.#schema}.claims WHERE kind = $1 AND id = ANY($2::text[])`
    const rows = await this.#database.query<{ id: string; body: string }>(sql, [this.#kind.name, ids])
    return new Map(rows.map(({ id, body }) => [id, this.#kind.paidFor(JSON.parse(body) as C)]))
  }

  async #forget(ids: readonly string[]): Promise<number> {
    const sql = `DELETE FROM ${this.#schema}.results WHERE kind = $1 AND id = ANY($2::text[]) RETURNING bytes`
    return (await this.#database.query(sql, [this.#kind.name, ids])).length
  }

  async #forgetBefore(beforeMs: number): Promise<number> {
    const sql = `DELETE FROM ${this.#schema}.results WHERE kind = $1 AND id IN (
        SELECT id FROM ${this.#schema}.results WHERE kind = $1 AND finished_at < $2 ORDER BY finished_at, id LIMIT $3
      ) RETURNING bytes`
    return (await this.#database.query(sql, [this.#kind.name, beforeMs, RESULTS_AT_ONCE])).length
  }

  async close(): Promise<void> {
    await this.#close()
  }

  #nameOf(claim: C): string | null {
    return this.#kind.nameOf?.(claim) ?? null
  }

  get #schema(): string {
    return this.#database.schema
  }

  /** False if the claim exists. A replica that was declared dead registers again and repeats the insert. */
  async #insert(id: string, claim: C): Promise<boolean> {
    const sql = `INSERT INTO ${this.#schema}.claims (kind, id, state, owner, claimed_at, body, name, service)
      VALUES ($1, $2, $3, $4, $5, $6, $10, $14) ON CONFLICT DO NOTHING RETURNING kind, id`
    const entry = { id, claim, name: this.#nameOf(claim) }
    try {
      return await this.#write(sql, entry)
    } catch (error) {
      if (!(error instanceof ClaimsAway) || codeOf(error) !== FOREIGN_KEY_VIOLATION) throw error
      await this.#presence.beat()
      return this.#write(sql, entry)
    }
  }

  /** `sql` must return the claim's key if it took effect. The same statement writes the result. */
  async #write(sql: string, { id, claim, name }: Entry<C>, more: readonly unknown[] = []): Promise<boolean> {
    const { result, finishedAtMs = 0, claimedAtMs, state } = claim
    const owner = this.#kind.isOpen(claim) ? this.#presence.id : null
    const body = JSON.stringify(result === undefined ? claim : { ...claim, result: null })
    const text = result ?? null
    const bytes = text === null ? 0 : Buffer.byteLength(text)
    const all = `WITH moved AS (${sql}), kept AS (
        INSERT INTO ${this.#schema}.results AS kept (kind, id, finished_at, bytes, result, payer, price, delivered)
        SELECT kind, id, $7::bigint, $8::integer, $9::text, $11::text, $12::numeric, $13::boolean
        FROM moved WHERE $9::text IS NOT NULL
        ON CONFLICT (kind, id) DO UPDATE
        SET finished_at = EXCLUDED.finished_at, bytes = EXCLUDED.bytes, result = EXCLUDED.result,
          payer = EXCLUDED.payer, price = EXCLUDED.price, delivered = kept.delivered OR EXCLUDED.delivered
      ), forgotten AS (
        DELETE FROM ${this.#schema}.results AS result USING moved
        WHERE result.kind = moved.kind AND result.id = moved.id AND ${result === undefined}
      ) SELECT id FROM moved`
    const { payer, priceUsdMicros, isDelivered } = this.#kind.paidFor(claim)
    const paid = [payer, priceUsdMicros.toString(), isDelivered]
    const values = [
      this.#kind.name,
      id,
      state,
      owner,
      claimedAtMs,
      body,
      finishedAtMs,
      bytes,
      text,
      name,
      ...paid,
      claim.serviceId,
      ...more,
    ]
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

function placeOf(place: Place | undefined): string | null {
  return place === undefined ? null : `${place.claimedAt.padStart(15, '0')}/${place.id}`
}

function isNameTaken(error: unknown): boolean {
  if (!(error instanceof ClaimsAway) || codeOf(error) !== UNIQUE_VIOLATION) return false
  return (error.cause as { constraint?: string }).constraint === NAMES_INDEX
}
