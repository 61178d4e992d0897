import type { PostgresDatabase } from '../../../src/storage/postgres-database.ts'

/** How to take back each version of the tables; the first is version 3. */
const UNDONE: readonly ((schema: string) => string)[] = [
  (schema) => `ALTER TABLE ${schema}.results DROP COLUMN payer, DROP COLUMN price, DROP COLUMN delivered`,
  (schema) => `ALTER TABLE ${schema}.claims DROP COLUMN service`,
  (schema) => `
    DROP TABLE ${schema}.tabs, ${schema}.tab_calls, ${schema}.tab_claims, ${schema}.secrets;
    ALTER TABLE ${schema}.about DROP COLUMN claimer, DROP COLUMN claimer_until`,
  (schema) => `ALTER TABLE ${schema}.tabs DROP COLUMN uncharged`,
]
const FIRST = 3

/** Turns the tables of this release into those of an older one, from version 2 on. */
export async function makeOlder(database: PostgresDatabase, version: number): Promise<void> {
  for (const undo of UNDONE.slice(version + 1 - FIRST).reverse()) await database.query(undo(database.schema))
  await database.query(`UPDATE ${database.schema}.about SET version = $1`, [version])
}
