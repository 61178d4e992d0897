import type { Query } from './postgres-database.ts'

/** What a replica takes over. */
interface Inheritance {
  readonly schema: string
  /** Id of the replica that takes over. */
  readonly heir: string
  /** Ids of the dead replicas, whose rows are locked. */
  readonly from: readonly string[]
}

/**
 * Takes over the calls of dead replicas whose work was begun and must not be done twice. Gives back what they reserved for
 * all others, which their callers simply send again. Returns the number of the calls taken over.
 */
export async function inheritTabs(query: Query, { schema, heir, from }: Inheritance): Promise<number> {
  // In the order of all writers, and before the calls: who holds a tab's row decides about its calls.
  const tabs = `SELECT id FROM ${schema}.tabs WHERE id IN (SELECT tab_id FROM ${schema}.tab_calls WHERE owner = ANY ($1))
    ORDER BY id FOR UPDATE`
  await query(tabs, [from])
  const fall = `WITH fallen AS (
      DELETE FROM ${schema}.tab_calls WHERE owner = ANY ($1) AND NOT must_end RETURNING tab_id, price
    ), sums AS (SELECT tab_id, sum(price) AS price FROM fallen GROUP BY tab_id)
    UPDATE ${schema}.tabs AS tab SET reserved = tab.reserved - sums.price FROM sums WHERE tab.id = sums.tab_id`
  await query(fall, [from])
  const kept = `UPDATE ${schema}.tab_calls SET owner = $1 WHERE owner = ANY ($2) RETURNING seq`
  const calls = await query(kept, [heir, from])
  await query(`UPDATE ${schema}.about SET claimer = $1 WHERE claimer = ANY ($2)`, [heir, from])
  return calls.length
}
