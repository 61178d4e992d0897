import type { PostgresDatabase } from './postgres-database.ts'

/** Rows that one statement changes: even a server on a slow disk must finish in time. */
const ROWS_AT_ONCE = 5_000

/** Forgets results and ended tabs, see `TabStore.prune`. Replicas that prune at the same time pass over the rows of each other. */
export async function pruneTabs(database: PostgresDatabase, beforeMs: number, bytesMax: number): Promise<number> {
  const { schema } = database
  const old = `SELECT call.tab_id, call.seq FROM ${schema}.tab_calls AS call JOIN ${schema}.tabs AS tab ON tab.id = call.tab_id
    WHERE call.result IS NOT NULL AND call.finished_at < $1 AND (tab.ended_at IS NOT NULL OR call.n <= tab.final_receipts)
    LIMIT ${ROWS_AT_ONCE} FOR UPDATE OF call SKIP LOCKED`
  const beyond = `SELECT call.tab_id, call.seq FROM ${schema}.tab_calls AS call JOIN (
      SELECT tab_id, seq, sum(bytes) OVER (ORDER BY finished_at DESC, tab_id DESC, seq DESC) AS total
      FROM ${schema}.tab_calls WHERE result IS NOT NULL
    ) AS newest ON newest.tab_id = call.tab_id AND newest.seq = call.seq
    WHERE newest.total > $1 LIMIT ${ROWS_AT_ONCE} FOR UPDATE OF call SKIP LOCKED`
  const forget = (some: string): string => `UPDATE ${schema}.tab_calls AS call SET result = NULL, bytes = 0
    FROM (${some}) AS gone WHERE call.tab_id = gone.tab_id AND call.seq = gone.seq RETURNING call.seq`
  const pruned = (await all(forget(old), beforeMs)) + (await all(forget(beyond), bytesMax))
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

  /** Repeats a statement until it finds fewer rows than it may change. */
  async function all(sql: string, bound: number): Promise<number> {
    let sum = 0
    for (let count = ROWS_AT_ONCE; count === ROWS_AT_ONCE; sum += count)
      count = (await database.query(sql, [bound])).length
    return sum
  }
}
