import type { Pool, PoolClient } from 'pg'
import { fault } from '../../consensus/primitives/fault.ts'
import { ClaimsAway } from '../../marketplace/till/claim-store.ts'
import type { PostgresPlace } from './postgres-place.ts'

/** A query with its values; rows come back as the driver reads them. */
export type Query = <R extends object>(sql: string, values?: readonly unknown[]) => Promise<readonly R[]>

/** Longest wait for a connection, a free one or a new one. */
const CONNECT_MS = 5_000
/** Longest run of a statement on the server, and, a little later, of the wait for its answer. */
const STATEMENT_MS = 5_000
const ANSWER_MS = 7_000
/** What state codes of rows that break a rule of their table begin with. */
const CONSTRAINT_CLASS = '23'

/**
 * What holds for every connection. A claim is durable before anybody hears of it, whatever the server's default is; a
 * connection that died in the middle of a transaction holds its locks no longer than a moment.
 */
const SESSION = [
  'synchronous_commit=on',
  `lock_timeout=${STATEMENT_MS}`,
  'idle_in_transaction_session_timeout=10000',
  'timezone=UTC',
]

/** One pool of connections. Everything that goes wrong is told as {@link ClaimsAway}; the next query tries anew. */
export class PostgresDatabase {
  readonly schema: string
  readonly #pool: Pool
  #awayBecause: string | null = null
  #losses = 0

  private constructor(pool: Pool, schema: string) {
    this.#pool = pool
    this.schema = schema
    // An idle connection that breaks is replaced; whether the server is there says the next query.
    pool.on('error', () => {})
  }

  /** Makes the pool, which connects when it is first asked. The driver is loaded here and nowhere else. */
  static async open({ connection, schema }: PostgresPlace, connectionsMax: number): Promise<PostgresDatabase> {
    const { default: pg } = await import('pg')
    const pool = new pg.Pool({
      ...connection,
      max: connectionsMax,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      allowExitOnIdle: true,
      application_name: 'farthing',
      options: SESSION.map((setting) => `-c ${setting}`).join(' '),
    })
    return new PostgresDatabase(pool, schema)
  }

  /** Why the last thing that was asked failed, or null if it did not. */
  get awayBecause(): string | null {
    return this.#awayBecause
  }

  /** How often an answer did not come: what was asked may be done or not. */
  get losses(): number {
    return this.#losses
  }

  /** Runs one statement by itself. */
  query: Query = <R extends object>(sql: string, values: readonly unknown[] = []) =>
    this.#tell(async () => (await this.#pool.query<R>(sql, [...values])).rows)

  /** Runs statements of which all take effect or none. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#tell(async () => {
      const client = await this.#pool.connect()
      // One that breaks between two statements must not end the process.
      client.on('error', ignore)
      let done = false
      try {
        const result = await inTransaction(client, work)
        done = true
        return result
      } finally {
        client.off('error', ignore)
        client.release(!done)
      }
    })
  }

  /** Closes every connection, after what is under way. */
  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #tell<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work()
      this.#awayBecause = null
      return result
    } catch (error) {
      if (error instanceof ClaimsAway) throw error
      if (!isRefusal(error)) {
        this.#losses += 1
        this.#awayBecause = 'the claim store cannot be reached'
      }
      throw new ClaimsAway(fault('market/claims-away', { reason: reasonOf(error) }), error)
    }
  }
}

async function inTransaction<T>(client: PoolClient, work: (query: Query) => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  const result = await work(
    async <R extends object>(sql: string, values: readonly unknown[] = []) =>
      (await client.query<R>(sql, [...values])).rows,
  )
  await client.query('COMMIT')
  return result
}

/** Whether the server took a write for what no table may hold: that is an answer, and nothing is lost. */
function isRefusal(error: unknown): boolean {
  return String((error as { code?: unknown } | null)?.code).startsWith(CONSTRAINT_CLASS)
}

/** The server's state code or the system's, which says enough: messages could hold what was written. */
function reasonOf(error: unknown): string {
  const { code, message = '' } = (error ?? {}) as { code?: string; message?: string }
  if (code !== undefined) return code
  return /timeout/i.test(message) ? 'timeout' : 'connection lost'
}

/** What the driver or the server says of an error; holds no password. For people who start a node. */
export function whyNot(error: unknown): string {
  const cause = error instanceof ClaimsAway ? error.cause : error
  // Where every address of a name was tried in vain the error is empty and holds one for each.
  const first = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}

function ignore(): void {}
