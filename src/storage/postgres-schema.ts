import { fault } from '../../consensus/primitives/fault.ts'
import { ClaimsAway } from '../../marketplace/till/claim-store.ts'
import type { PostgresDatabase, Query } from './postgres-database.ts'

/** Arbitrary, but the same in every release: this lock guards changes of the tables. */
const MIGRATION_LOCK = 2_718_281_828

/** Index that lets only one claim at a time hold a name. */
export const NAMES_INDEX = 'claims_by_name'

/**
 * One step per version. Released steps never change; new ones are appended. Ids sort by their bytes. A claim is open if
 * and only if it has an owner. The foreign key guarantees that every owner is a registered replica, whose death is
 * noticed.
 */
const STEPS: readonly ((schema: string) => string)[] = [
  (schema) => `
    CREATE TABLE ${schema}.replicas (
      id text PRIMARY KEY,
      home text NOT NULL,
      seen_at timestamptz NOT NULL
    );
    CREATE TABLE ${schema}.claims (
      kind text NOT NULL,
      id text COLLATE "C" NOT NULL,
      state text NOT NULL,
      owner text REFERENCES ${schema}.replicas (id),
      claimed_at bigint NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (kind, id)
    );
    CREATE INDEX claims_by_time ON ${schema}.claims (kind, claimed_at DESC, id DESC);
    CREATE INDEX claims_by_owner ON ${schema}.claims (owner) WHERE owner IS NOT NULL;
    CREATE TABLE ${schema}.results (
      kind text NOT NULL,
      id text COLLATE "C" NOT NULL,
      finished_at bigint NOT NULL,
      bytes integer NOT NULL,
      result text NOT NULL,
      PRIMARY KEY (kind, id),
      FOREIGN KEY (kind, id) REFERENCES ${schema}.claims ON DELETE CASCADE
    );
    CREATE INDEX results_by_time ON ${schema}.results (kind, finished_at, id);`,
  (schema) => `
    ALTER TABLE ${schema}.claims ADD COLUMN name text COLLATE "C";
    CREATE UNIQUE INDEX ${NAMES_INDEX} ON ${schema}.claims (kind, name) WHERE name IS NOT NULL;`,
  // Older releases wrote rows without a payer; their claims provide it. Filling in the payers here would take time in
  // proportion to the rows.
  (schema) => `
    ALTER TABLE ${schema}.results
      ADD COLUMN payer text, ADD COLUMN price numeric NOT NULL DEFAULT 0, ADD COLUMN delivered boolean NOT NULL DEFAULT false;`,
  // Older releases wrote rows without a service. Such rows count for any service.
  (schema) => `ALTER TABLE ${schema}.claims ADD COLUMN service text;`,
  // A call is under way if and only if it has an owner. `must_end`: its work was begun and must not be done twice. Rows of
  // tabs change with every call: half-empty pages let them change in place. `claimer`: the replica that claims for the tabs.
  (schema) => `
    CREATE TABLE ${schema}.tabs (
      id text COLLATE "C" PRIMARY KEY,
      charged numeric NOT NULL DEFAULT 0,
      reserved numeric NOT NULL DEFAULT 0,
      receipts bigint NOT NULL DEFAULT 0,
      low bigint NOT NULL,
      used bytea NOT NULL,
      seq_max bigint NOT NULL DEFAULT 0,
      ceiling numeric NOT NULL DEFAULT 0,
      voucher text,
      last_receipt text,
      refund_asked_at bigint,
      lost_receipt bigint,
      final_receipts bigint NOT NULL DEFAULT 0,
      ended_at bigint
    ) WITH (fillfactor = 50);
    CREATE TABLE ${schema}.tab_calls (
      tab_id text COLLATE "C" NOT NULL,
      seq bigint NOT NULL,
      owner text REFERENCES ${schema}.replicas (id),
      must_end boolean NOT NULL DEFAULT false,
      price numeric NOT NULL,
      body text NOT NULL,
      n bigint,
      finished_at bigint,
      bytes integer,
      result text,
      PRIMARY KEY (tab_id, seq)
    );
    CREATE UNIQUE INDEX tab_calls_by_receipt ON ${schema}.tab_calls (tab_id, n) WHERE n IS NOT NULL;
    CREATE INDEX tab_calls_by_owner ON ${schema}.tab_calls (owner) WHERE owner IS NOT NULL;
    CREATE INDEX tab_results_by_time ON ${schema}.tab_calls (finished_at, tab_id, seq) WHERE result IS NOT NULL;
    CREATE TABLE ${schema}.tab_claims (
      id text COLLATE "C" PRIMARY KEY,
      made_at bigint NOT NULL,
      body text NOT NULL
    );
    CREATE TABLE ${schema}.secrets (name text PRIMARY KEY, value bytea NOT NULL);
    ALTER TABLE ${schema}.about ADD COLUMN claimer text, ADD COLUMN claimer_until timestamptz;`,
  (schema) => `ALTER TABLE ${schema}.tabs ADD COLUMN uncharged bigint NOT NULL DEFAULT 0;`,
]

/**
 * Creates or upgrades the tables. Replicas that start at the same time wait for each other. Throws {@link ClaimsAway}
 * if the tables are of a newer release or another network.
 */
export function migrate(database: PostgresDatabase, network: string): Promise<void> {
  const { schema } = database
  return database.transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    const { version, network: found = network } = await standing(query, schema)
    if (version > STEPS.length) throw refusal(`its tables have version ${version}, this release knows ${STEPS.length}`)
    if (found !== network) throw refusal(`it holds the claims of ${found}, this is ${network}; use another ?schema=`)
    // Locks the tables in the order in which running replicas of older releases write to them: another order could
    // deadlock.
    if (version > 0 && version < STEPS.length) await query(`LOCK TABLE ${schema}.claims, ${schema}.results`)
    for (const step of STEPS.slice(version)) await query(step(schema))
    if (version < STEPS.length) await query(`UPDATE ${schema}.about SET version = $1`, [STEPS.length])
    await query(`UPDATE ${schema}.about SET network = $1 WHERE network IS NULL`, [network])
  })
}

/** Version and network of the existing tables; creates a missing schema. */
async function standing(query: Query, schema: string): Promise<{ version: number; network?: string }> {
  const [there] = await query<{ name: string | null }>('SELECT to_regnamespace($1)::text AS name', [schema])
  // Checked first: an account may use a schema without the right to create one.
  if (there?.name === null) await query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
  const [table] = await query<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [`${schema}.about`])
  if (table?.name === null) {
    await query(`CREATE TABLE ${schema}.about (version integer NOT NULL, network text)`)
    await query(`INSERT INTO ${schema}.about VALUES (0, NULL)`)
  }
  const [row] = await query<{ version: number; network: string | null }>(`SELECT version, network FROM ${schema}.about`)
  return { version: row?.version ?? 0, ...(row?.network != null && { network: row.network }) }
}

function refusal(reason: string): ClaimsAway {
  return new ClaimsAway(fault('market/claims-away', { reason }), new Error(reason))
}
