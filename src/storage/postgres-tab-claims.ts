import { fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { ClaimsAway } from '../../marketplace/till/claim-store.ts'
import type { TabClaimRow, TabRow } from '../../marketplace/till/rails/tab/tab-store.ts'
import type { PostgresDatabase } from './postgres-database.ts'
import { TAB_COLUMNS, type TabColumns, tabOf } from './postgres-tab-rows.ts'
import { claimRowOf, claimRowText } from './tab-json.ts'

/** A replica that does not look for so long lets another one claim. */
const CLAIMER = "interval '10 minutes'"

/**
 * The claims of tabs on chain. One replica at a time makes them, so that a tab is not claimed twice: the first that looks, until
 * it is dead or has not looked for some time. The next one also gets the claims that are under way.
 */
export class PostgresTabClaims {
  readonly #database: PostgresDatabase
  readonly #replica: string

  constructor(database: PostgresDatabase, replica: string) {
    this.#database = database
    this.#replica = replica
  }

  /** Tabs that a claim may be due for; none if another replica claims. */
  async unclaimed(): Promise<readonly TabRow[]> {
    if (!(await this.#isClaimer())) return []
    const sql = `SELECT ${TAB_COLUMNS} FROM ${this.#schema}.tabs AS tab
      WHERE ended_at IS NULL AND (receipts > final_receipts OR refund_asked_at IS NOT NULL) ORDER BY id`
    return (await this.#database.query<TabColumns>(sql)).map(tabOf)
  }

  /** Claims under way, oldest first; none if another replica claims. */
  async all(): Promise<readonly TabClaimRow[]> {
    if (!(await this.#isClaimer())) return []
    const sql = `SELECT body FROM ${this.#schema}.tab_claims ORDER BY made_at, id`
    return (await this.#database.query<{ body: string }>(sql)).map(({ body }) => claimRowOf(body))
  }

  /** Throws {@link ClaimsAway} if another replica claims by now: then the claim must not be sent. */
  async put(claim: TabClaimRow): Promise<void> {
    await this.#isClaimer()
    const sql = `WITH claimer AS (SELECT claimer FROM ${this.#schema}.about WHERE claimer = $1 FOR SHARE)
      INSERT INTO ${this.#schema}.tab_claims (id, made_at, body) SELECT $2, $3::bigint, $4 FROM claimer
      ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body RETURNING id`
    const put = await this.#database.query(sql, [this.#replica, claim.txId, claim.madeAtMs, claimRowText(claim)])
    if (put.length === 0) throw new ClaimsAway(fault('market/claims-away', { reason: 'another replica claims' }))
  }

  /** Forgets a claim. */
  async drop(txId: TxId): Promise<void> {
    await this.#database.query(`DELETE FROM ${this.#schema}.tab_claims WHERE id = $1`, [txId])
  }

  get #schema(): string {
    return this.#database.schema
  }

  async #isClaimer(): Promise<boolean> {
    const sql = `UPDATE ${this.#schema}.about SET claimer = $1, claimer_until = clock_timestamp() + ${CLAIMER}
      WHERE claimer IS NULL OR claimer = $1 OR claimer_until < clock_timestamp() RETURNING claimer`
    return (await this.#database.query(sql, [this.#replica])).length > 0
  }
}
