import type { Pool, PoolClient, QueryConfig } from 'pg'
import { fault } from '../../consensus/primitives/fault.ts'
import { ClaimsAway } from '../../marketplace/till/claim-store.ts'
import type { PostgresPlace } from './postgres-place.ts'

/** Runs a query with its values; rows are as the driver reads them. Each connection plans a query with a name only once. */
export type Query = <R extends object>(sql: string, values?: readonly unknown[], name?: string) => Promise<readonly R[]>

/** Maximum wait for a connection, free or new. */
const CONNECT_MS = 5_000
/** Maximum time of a statement on the server, and the slightly longer wait for its answer. */
const STATEMENT_MS = 5_000
const ANSWER_MS = 7_000
/** State code of a write of a row that is there. */
export const UNIQUE_VIOLATION = '23505'
/** Class of the state codes for constraint violations. */
const CONSTRAINT_CLASS = '23'

/**
 * Settings of every connection. A claim must be durable before the answer to its writer, whatever the server's default
 * is; and a connection that dies inside a transaction must soon lose its locks.
 */
const SESSION = [
  'synchronous_commit=on',
  `lock_timeout=${STATEMENT_MS}`,
  'idle_in_transaction_session_timeout=10000',
  'timezone=UTC',
]

/** A pool of connections. Every failure becomes {@link ClaimsAway}; the next query tries again. */
export class PostgresDatabase {
  readonly schema: string
  readonly #pool: Pool
  #awayBecause: string | null = null
  #losses = 0

  private constructor(pool: Pool, schema: string) {
    this.#pool = pool
    this.schema = schema
    // A broken idle connection is replaced; the next query shows whether the server is reachable.
    pool.on('error', () => {})
  }

  /** The pool connects on the first query. Only this function loads the driver. */
  static async open({ connection, schema }: PostgresPlace, connectionsMax: number): Promise<PostgresDatabase> {
    const { default: pg } = await import('pg')
    const pool = new pg.Pool({
      ...connection,
      max: connectionsMax,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      pipeline: true,
      allowExitOnIdle: true,
      application_name: 'farthing',
      options: SESSION.map((setting) => `-c ${setting}`).join(' '),
    })
    return new PostgresDatabase(pool, schema)
  }

  /** Why the server counts as unreachable, else null. Queries that end in a constraint violation do not change it. */
  get awayBecause(): string | null {
    return this.#awayBecause
  }

  /** Number of queries that failed otherwise than by a constraint violation: they may or may not have taken effect. */
  get losses(): number {
    return this.#losses
  }

  query: Query = <R extends object>(...query: Parameters<Query>) =>
    this.#tell(async () => (await this.#pool.query<R>(configOf(...query))).rows)

  /** Queries that `work` does not wait for are sent without waiting for the answers to those before; all must succeed. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#tell(async () => {
      const client = await this.#pool.connect()
      // A connection that breaks between two statements must not end the process.
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

  /** Closes all connections after the running queries. */
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
  const sent: Promise<unknown>[] = []
  const send = <R extends object>(...query: Parameters<Query>): Promise<readonly R[]> => {
    const rows = client.query<R>(configOf(...query)).then((answer) => answer.rows)
    rows.catch(ignore)
    sent.push(rows)
    return rows
  }
  void send('BEGIN')
  const result = await work(send)
  void send('COMMIT')
  // After a query that failed, `COMMIT` takes everything back.
  await Promise.all(sent)
  return result
}

/** A query without values may have several statements. */
function configOf(...[text, values = [], name]: Parameters<Query>): QueryConfig {
  return { text, values: [...values], ...(name !== undefined && { name }) }
}

/** Whether the server refused a row by a constraint: that is an answer, not an outage. */
function isRefusal(error: unknown): boolean {
  return String((error as { code?: unknown } | null)?.code).startsWith(CONSTRAINT_CLASS)
}

/**
 * The state code of the server or the system, else `timeout` or `connection lost`. Never the message, which could
 * contain the written data.
 */
function reasonOf(error: unknown): string {
  const { code, message = '' } = (error ?? {}) as { code?: string; message?: string }
  if (code !== undefined) return code
  return /timeout/i.test(message) ? 'timeout' : 'connection lost'
}

/** The server's state code of a failed query. */
export function codeOf({ cause }: ClaimsAway): string | undefined {
  return (cause as { code?: string } | undefined)?.code
}

/** The message of the driver or the server, for the operator who starts a node; it contains no password. */
export function whyNot(error: unknown): string {
  const cause = error instanceof ClaimsAway ? error.cause : error
  // If all addresses of a name failed, the error itself is empty and contains one error for each.
  const first = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}

function ignore(): void {}
