import { beyondBytes, type KeptResult } from '../../marketplace/till/claim-store.ts'
import type { PostgresDatabase } from './postgres-database.ts'
import { paidMicros } from './tab-json.ts'

/** Rows that one statement changes: even a server on a slow disk must finish in time. */
const ROWS_AT_ONCE = 5_000

interface ListedRow {
  readonly tabId: string
  readonly seq: string
  readonly finishedAt: string
  readonly bytes: number
  readonly payer: string
  readonly price: string
  readonly priceUsdMicros: string
  readonly charged: string
}

type Listed = Pick<ListedRow, 'tabId' | 'seq'> & KeptResult

/** Forgets results and ended tabs, see `TabStore.prune`. Replicas that prune at the same time pass over the rows of each other. */
export async function pruneTabs(database: PostgresDatabase, beforeMs: number, bytesMax: number): Promise<number> {
  const { schema } = database
  const old = `SELECT call.tab_id, call.seq FROM ${schema}.tab_calls AS call JOIN ${schema}.tabs AS tab ON tab.id = call.tab_id
    WHERE call.result IS NOT NULL AND call.finished_at < $1 AND (tab.ended_at IS NOT NULL OR call.n <= tab.final_receipts)
    LIMIT ${ROWS_AT_ONCE} FOR UPDATE OF call SKIP LOCKED`
  const forget = (some: string): string => `UPDATE ${schema}.tab_calls AS call SET result = NULL, bytes = 0
    FROM (${some}) AS gone WHERE call.tab_id = gone.tab_id AND call.seq = gone.seq RETURNING call.seq`
  const pruned = (await all(forget(old), beforeMs)) + (await forgetBeyond())
  const calls = `SELECT call.tab_id, call.seq FROM ${schema}.tab_calls AS call JOIN ${schema}.tabs AS tab ON tab.id = call.tab_id
    WHERE tab.ended_at < $1 LIMIT ${ROWS_AT_ONCE} FOR UPDATE OF call SKIP LOCKED`
  await all(
    `DELETE FROM ${schema}.tab_calls AS call USING (${calls}) AS gone
      WHERE call.tab_id = gone.tab_id AND call.seq = gone.seq RETURNING call.seq`,
    beforeMs,
  )
  // A channel may last for years: its calls go one by one, once they are claimed.
  const claimed = `SELECT call.tab_id, call.seq FROM ${schema}.tab_calls AS call JOIN ${schema}.tabs AS tab ON tab.id = call.tab_id
    WHERE tab.id LIKE '0x%' AND call.finished_at < $1 AND call.n <= tab.final_receipts
    LIMIT ${ROWS_AT_ONCE} FOR UPDATE OF call SKIP LOCKED`
  await all(
    `DELETE FROM ${schema}.tab_calls AS call USING (${claimed}) AS gone
      WHERE call.tab_id = gone.tab_id AND call.seq = gone.seq RETURNING call.seq`,
    beforeMs,
  )
  const bare = `NOT EXISTS (SELECT FROM ${schema}.tab_calls WHERE tab_id = tab.id)`
  await database.query(`DELETE FROM ${schema}.tabs AS tab WHERE ended_at < $1 AND ${bare}`, [beforeMs])
  return pruned

  /** What is beyond `bytesMax`, chosen as for all other rails. */
  async function forgetBeyond(): Promise<number> {
    const sum = `SELECT coalesce(sum(bytes), 0) AS bytes FROM ${schema}.tab_calls WHERE result IS NOT NULL`
    const [kept] = await database.query<{ bytes: string }>(sum)
    if (Number(kept?.bytes) <= bytesMax) return 0
    const some = `SELECT tab_id, seq FROM ${schema}.tab_calls WHERE result IS NOT NULL
      AND (tab_id, seq) IN (SELECT * FROM unnest($1::text[], $2::bigint[])) FOR UPDATE SKIP LOCKED`
    const beyond = beyondBytes(await listed(), bytesMax)
    let count = 0
    for (let start = 0; start < beyond.length; start += ROWS_AT_ONCE) {
      const part = beyond.slice(start, start + ROWS_AT_ONCE)
      const places = [part.map(({ tabId }) => tabId), part.map(({ seq }) => seq)]
      count += (await database.query(forget(some), places)).length
    }
    return count
  }

  /** Facts of all results, the oldest first. */
  async function listed(): Promise<readonly Listed[]> {
    const sql = `SELECT tab_id AS "tabId", seq, finished_at AS "finishedAt", bytes,
        body::json->>'caller' AS payer,
        body::json->>'price' AS price, body::json->>'priceUsdMicros' AS "priceUsdMicros",
        body::json->'receipt'->'receipt'->>'charged' AS charged FROM ${schema}.tab_calls
      WHERE result IS NOT NULL AND (finished_at, tab_id, seq) > ($1::bigint, $2::text COLLATE "C", $3::bigint)
      ORDER BY finished_at, tab_id, seq LIMIT ${ROWS_AT_ONCE}`
    const found: Listed[] = []
    for (let [last, count] = [['-1', '', '0'], ROWS_AT_ONCE]; count === ROWS_AT_ONCE; ) {
      const rows = await database.query<ListedRow>(sql, last)
      for (const { charged, ...row } of rows)
        found.push({ ...row, priceUsdMicros: paidMicros(row, BigInt(charged)), isDelivered: false })
      const { finishedAt, tabId, seq } = rows.at(-1) ?? { finishedAt: '', tabId: '', seq: '' }
      last = [finishedAt, tabId, seq]
      count = rows.length
    }
    return found
  }

  /** Repeats a statement until it finds fewer rows than it may change. */
  async function all(sql: string, bound: number): Promise<number> {
    let sum = 0
    for (let count = ROWS_AT_ONCE; count === ROWS_AT_ONCE; sum += count)
      count = (await database.query(sql, [bound])).length
    return sum
  }
}
