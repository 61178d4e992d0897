import { AMOUNT_MAX, ZERO } from '../../consensus/primitives/amount.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import { ClaimsAway, type SharedClaims } from '../../marketplace/till/claim-store.ts'
import { Gathered } from '../../marketplace/till/gathered.ts'
import { NEW_WINDOW, SEQ_WINDOW } from '../../marketplace/till/rails/tab/seq-window.ts'
import type { SignedTabReceipt } from '../../marketplace/till/rails/tab/tab-call.ts'
import {
  type AnsweredTabRow,
  callIdOf,
  type EndedTabCall,
  isAnswered,
  type Reservation,
  type ReserveBounds,
  type ReservedTabCall,
  type SealCall,
  type TabCallRow,
  type TabClaimRow,
  type TabMark,
  type TabRow,
  type TabStore,
} from '../../marketplace/till/rails/tab/tab-store.ts'
import { codeOf, type PostgresDatabase, type Query, UNIQUE_VIOLATION } from './postgres-database.ts'
import type { Presence } from './postgres-presence.ts'
import { PostgresTabClaims } from './postgres-tab-claims.ts'
import { pruneTabs } from './postgres-tab-pruning.ts'
import {
  type CallColumns,
  callArrays,
  callOf,
  type SealedCall,
  TAB_COLUMNS,
  type TabColumns,
  tabArrays,
  tabOf,
  windowValues,
} from './postgres-tab-rows.ts'
import { callRowText, voucherText } from './tab-json.ts'

/** Rows of tabs that this process remembers. */
const TABS_KNOWN_MAX = 10_000
/** A reservation is tried again after its tab's first row was made, or this replica registered again, or another call came and went. */
const RESERVE_TRIES = 5

interface CallPlace {
  readonly tabId: TxId
  readonly seq: number
}

interface Wish {
  readonly call: ReservedTabCall
  readonly bounds: ReserveBounds
}

const HELD: Reservation = { is: 'held' }

type HeldColumns = TabColumns & { readonly isMember: boolean; readonly isKnown: boolean }

/** PostgreSQL decides which replica makes a call on a tab. All that happens to one tab happens under the lock of its row. */
export class PostgresTabStore implements TabStore {
  readonly shared: SharedClaims
  readonly #database: PostgresDatabase
  readonly #presence: Presence
  readonly #claims: PostgresTabClaims
  readonly #close: () => Promise<void>
  readonly #known = new LruMap<TxId, TabRow>(TABS_KNOWN_MAX)
  /** Calls under way of this replica, as far as it knows. */
  readonly #held = new Set<string>()
  readonly #wishes = new Gathered((wishes: readonly Wish[]) => this.#reserve(wishes))
  readonly #reads = new Gathered((asked: readonly CallPlace[]) => this.#read(asked))
  #lapses = 0

  /** Only `PostgresClaims.tabs` calls this. */
  constructor(...[database, presence, close]: [PostgresDatabase, Presence, () => Promise<void>]) {
    this.#database = database
    this.#presence = presence
    this.#claims = new PostgresTabClaims(database, presence.id)
    this.#close = close
    this.shared = presence
  }

  async tab(tabId: TxId): Promise<TabRow | undefined> {
    const sql = `SELECT ${TAB_COLUMNS} FROM ${this.#schema}.tabs AS tab WHERE id = $1`
    const [row] = await this.#database.query<TabColumns>(sql, [tabId])
    return row && this.#know(tabOf(row))
  }

  peek(tabId: TxId): TabRow | undefined {
    return this.#known.get(tabId)
  }

  call(tabId: TxId, seq: number): Promise<TabCallRow | undefined> {
    return this.#reads.ask('', { tabId, seq })
  }

  reserve(call: ReservedTabCall, bounds: ReserveBounds): Promise<Reservation> {
    return this.#wishes.ask(call.tabId, { call, bounds })
  }

  async begin(call: ReservedTabCall): Promise<boolean> {
    if (call.isRepeatable) return this.#lapses === this.#presence.lapses && this.#held.has(callIdOf(call))
    const sql = `UPDATE ${this.#schema}.tab_calls SET must_end = true, body = $4
      WHERE tab_id = $1 AND seq = $2 AND owner = $3 RETURNING seq`
    const values = [call.tabId, call.seq, this.#presence.id, callRowText(call)]
    return (await this.#database.query(sql, values)).length > 0
  }

  async open(): Promise<readonly ReservedTabCall[]> {
    await this.#presence.beat()
    const sql = `SELECT body, result FROM ${this.#schema}.tab_calls WHERE owner = $1 ORDER BY tab_id, seq`
    const rows = await this.#database.query<CallColumns>(sql, [this.#presence.id])
    const calls = rows.map((row) => callOf(row) as ReservedTabCall)
    for (const call of calls) this.#holds(call)
    return calls
  }

  async commit(ended: readonly EndedTabCall[], seal: SealCall): Promise<readonly (AnsweredTabRow | null)[]> {
    const { tabs, answered } = await this.#commit(ended, seal)
    for (const tab of tabs.values()) this.#know(tab)
    const answers: (AnsweredTabRow | null)[] = []
    for (const { call } of ended) {
      const id = callIdOf(call)
      this.#held.delete(id)
      const known = answered.get(id) ?? (await this.call(call.tabId, call.seq))
      answers.push(known !== undefined && isAnswered(known) ? known : null)
    }
    return answers
  }

  async receiptsFrom(tabId: TxId, n: number, limit: number): Promise<readonly SignedTabReceipt[]> {
    const sql = `SELECT body, NULL AS result FROM ${this.#schema}.tab_calls
      WHERE tab_id = $1 AND n >= $2 ORDER BY n LIMIT $3`
    const rows = await this.#database.query<CallColumns>(sql, [tabId, n, limit])
    return rows.map((row) => (callOf(row) as AnsweredTabRow).receipt)
  }

  async mark(tabId: TxId, mark: TabMark): Promise<void> {
    await this.#make(tabId)
    const columns = {
      refundAskedAtMs: 'refund_asked_at',
      lostReceipt: 'lost_receipt',
      finalReceipts: 'final_receipts',
      endedAtMs: 'ended_at',
    } as const satisfies Record<keyof TabMark, string>
    const marks = Object.entries(mark) as [keyof TabMark, number | null][]
    if (marks.length === 0) return
    const sets = marks.map(([name], i) => `${columns[name]} = $${i + 2}`).join(', ')
    const sql = `UPDATE ${this.#schema}.tabs AS tab SET ${sets} WHERE id = $1 RETURNING ${TAB_COLUMNS}`
    const [row] = await this.#database.query<TabColumns>(sql, [tabId, ...marks.map(([, value]) => value)])
    if (row !== undefined) this.#know(tabOf(row))
  }

  unclaimed(): Promise<readonly TabRow[]> {
    return this.#claims.unclaimed()
  }

  putClaim(claim: TabClaimRow): Promise<void> {
    return this.#claims.put(claim)
  }

  claims(): Promise<readonly TabClaimRow[]> {
    return this.#claims.all()
  }

  dropClaim(txId: TxId): Promise<void> {
    return this.#claims.drop(txId)
  }

  prune(beforeMs: number, bytesMax: number): Promise<number> {
    return pruneTabs(this.#database, beforeMs, bytesMax)
  }

  async close(): Promise<void> {
    await this.#close()
  }

  get #schema(): string {
    return this.#database.schema
  }

  #know(row: TabRow): TabRow {
    this.#known.set(row.tabId, row)
    return row
  }

  #holds(call: ReservedTabCall): void {
    const { lapses } = this.#presence
    // Other replicas took over what was held before.
    if (lapses !== this.#lapses) this.#held.clear()
    this.#lapses = lapses
    this.#held.add(callIdOf(call))
  }

  async #make(tabId: TxId): Promise<void> {
    const sql = `INSERT INTO ${this.#schema}.tabs (id, low, used) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
    await this.#database.query(sql, [tabId, ...windowValues(NEW_WINDOW)])
  }

  /** Calls on one tab. Mostly it takes all of them at once; if it does not, each is tried alone. */
  async #reserve(wishes: readonly Wish[]): Promise<readonly Reservation[]> {
    if (wishes.length > 1 && (await this.#hold(wishes))?.id != null) return wishes.map(() => HELD)
    const answers: Reservation[] = []
    for (const wish of wishes) answers.push(await this.#reserveOne(wish))
    return answers
  }

  async #reserveOne(wish: Wish): Promise<Reservation> {
    const { tabId, seq } = wish.call
    for (let left = RESERVE_TRIES; left > 0; left--) {
      const held = await this.#hold([wish])
      if (held?.id != null) return HELD
      if (held?.isMember === false) await this.#presence.beat()
      else if (held?.isKnown === false) await this.#make(tabId)
      else {
        const known = await this.call(tabId, seq)
        if (known !== undefined) return { is: 'known', call: known }
        if (held !== null) return { is: 'refused' }
      }
    }
    throw new ClaimsAway(fault('market/claims-away', { reason: 'the call comes and goes' }))
  }

  /**
   * Takes all calls or none, in one statement; its `id` is null if the tab did not take them. Null if another call has one of the
   * numbers. The statement locks this replica's row first, as a replica does that takes over from it. It need not be on disk: a
   * call whose reservation is lost is sent again.
   */
  async #hold(wishes: readonly Wish[]): Promise<HeldColumns | null> {
    const sql = `WITH me AS (
        SELECT id FROM ${this.#schema}.replicas
        WHERE id = $1 AND set_config('synchronous_commit', 'off', true) = 'off' FOR KEY SHARE
      ), held AS (
        UPDATE ${this.#schema}.tabs AS tab SET
          charged = greatest(tab.charged, $4::numeric), receipts = greatest(tab.receipts, $5::bigint),
          reserved = tab.reserved + $3::numeric,
          seq_max = greatest(tab.seq_max, (SELECT max(seq) FROM unnest($9::bigint[]) AS wish (seq))),
          voucher = CASE WHEN $7::numeric > tab.ceiling THEN $8::text ELSE tab.voucher END,
          ceiling = greatest(tab.ceiling, $7::numeric)
        FROM me
        WHERE tab.id = $2
          AND NOT EXISTS (SELECT FROM unnest($9::bigint[]) AS wish (seq)
            WHERE CASE WHEN wish.seq - tab.low BETWEEN 0 AND ${SEQ_WINDOW - 1}
              THEN get_bit(tab.used, (wish.seq - tab.low)::integer) = 1 ELSE true END)
          AND greatest(tab.charged, $4::numeric) + tab.reserved + $3::numeric
            <= least($6::numeric, greatest(tab.ceiling, $7::numeric))
          AND tab.refund_asked_at IS NULL AND coalesce(tab.lost_receipt, 0) <= $5::bigint
          AND NOT EXISTS (SELECT FROM ${this.#schema}.tab_calls WHERE tab_id = $2 AND seq = ANY ($9::bigint[]))
        RETURNING ${TAB_COLUMNS}
      ), calls AS (
        INSERT INTO ${this.#schema}.tab_calls (tab_id, seq, owner, price, body)
        SELECT held.id, wish.seq, $1, wish.price, wish.body
        FROM held, unnest($9::bigint[], $10::numeric[], $11::text[]) AS wish (seq, price, body)
      ) SELECT held.*, EXISTS (SELECT FROM me) AS "isMember",
          EXISTS (SELECT FROM ${this.#schema}.tabs WHERE id = $2) AS "isKnown"
        FROM (VALUES (1)) AS one (one) LEFT JOIN held ON true`
    try {
      const [row] = await this.#database.query<HeldColumns>(sql, [this.#presence.id, ...wishValues(wishes)], 'tab-hold')
      if (row?.id == null) return row as HeldColumns
      this.#know(tabOf(row))
      for (const { call } of wishes) this.#holds(call)
      return row
    } catch (error) {
      if (error instanceof ClaimsAway && codeOf(error) === UNIQUE_VIOLATION) return null
      throw error
    }
  }

  async #read(asked: readonly CallPlace[]): Promise<readonly (TabCallRow | undefined)[]> {
    const sql = `SELECT ${TAB_COLUMNS}, call.body, call.result, asked.at
      FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS asked (tab_id, seq, at)
      JOIN ${this.#schema}.tabs AS tab ON tab.id = asked.tab_id
      LEFT JOIN ${this.#schema}.tab_calls AS call ON call.tab_id = asked.tab_id AND call.seq = asked.seq`
    type Row = TabColumns & { readonly at: string } & (CallColumns | { readonly body: null })
    const rows = await this.#database.query<Row>(sql, placesOf(asked), 'tab-calls')
    const found: (TabCallRow | undefined)[] = asked.map(() => undefined)
    for (const row of rows) {
      this.#know(tabOf(row))
      if (row.body !== null) found[Number(row.at) - 1] = callOf(row)
    }
    return found
  }

  /**
   * One durable transaction. It locks the tabs in the order of all writers, then looks which calls are still this replica's:
   * who holds a tab decides about its calls.
   */
  #commit(ended: readonly EndedTabCall[], seal: SealCall) {
    const lock = `SELECT ${TAB_COLUMNS} FROM ${this.#schema}.tabs AS tab WHERE id = ANY ($1) ORDER BY id FOR UPDATE`
    const look = `SELECT call.tab_id AS "tabId", call.seq FROM unnest($1::text[], $2::bigint[]) AS ended (tab_id, seq)
      JOIN ${this.#schema}.tab_calls AS call ON call.tab_id = ended.tab_id AND call.seq = ended.seq WHERE call.owner = $3`
    const [tabIds, seqs] = placesOf(ended.map(({ call }) => call))
    return this.#database.transaction(async (query) => {
      const [rows, mine] = await Promise.all([
        query<TabColumns>(lock, [tabIds], 'tab-lock'),
        query<{ tabId: TxId; seq: string }>(look, [tabIds, seqs, this.#presence.id], 'tab-mine'),
      ])
      const tabs = new Map(rows.map((row) => [row.id, tabOf(row)]))
      const open = new Set(mine.map(({ tabId, seq }) => callIdOf({ tabId, seq: Number(seq) })))
      const sealed: SealedCall[] = []
      for (const end of ended) {
        // A call can end twice in one group; its first end counts.
        if (!open.delete(callIdOf(end.call))) continue
        const { tab, answered } = seal(tabs.get(end.call.tabId) as TabRow, end)
        tabs.set(tab.tabId, tab)
        sealed.push({ answered, ended: end })
      }
      if (sealed.length > 0) void this.#write(query, [...tabs.values()], sealed)
      return { tabs, answered: new Map(sealed.map(({ answered }) => [callIdOf(answered), answered])) }
    })
  }

  #write(query: Query, tabs: readonly TabRow[], calls: readonly SealedCall[]): Promise<unknown> {
    const sql = `WITH ended AS (
        UPDATE ${this.#schema}.tab_calls AS call SET owner = NULL, must_end = false, body = given.body, n = given.n,
          finished_at = given.finished_at, bytes = given.bytes, result = given.result
        FROM unnest($9::text[], $10::bigint[], $11::text[], $12::bigint[], $13::bigint[], $14::integer[], $15::text[])
          AS given (tab_id, seq, body, n, finished_at, bytes, result)
        WHERE call.tab_id = given.tab_id AND call.seq = given.seq
      ) UPDATE ${this.#schema}.tabs AS tab SET charged = row.charged, reserved = row.reserved, receipts = row.receipts,
          uncharged = row.uncharged, low = row.low, used = row.used, last_receipt = row.last_receipt
        FROM unnest($1::text[], $2::numeric[], $3::numeric[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[], $8::text[])
          AS row (id, charged, reserved, receipts, uncharged, low, used, last_receipt)
        WHERE tab.id = row.id`
    return query(sql, [...tabArrays(tabs), ...callArrays(calls)], 'tab-commit')
  }
}

function placesOf(calls: readonly CallPlace[]): readonly [readonly TxId[], readonly number[]] {
  return [calls.map(({ tabId }) => tabId), calls.map(({ seq }) => seq)]
}

/** Values of the reservation of some calls on one tab: what they want together, then what each wants. */
function wishValues(wishes: readonly Wish[]): readonly unknown[] {
  const calls = wishes.map(({ call }) => call)
  const [{ tabId, voucher }] = calls as [ReservedTabCall]
  const price = calls.reduce((sum, call) => sum + BigInt(call.price), 0n)
  const claimed = wishes.reduce((most, { bounds }) => (bounds.claimed > most ? bounds.claimed : most), ZERO)
  const receipts = Math.max(...wishes.map(({ bounds }) => bounds.receipts))
  const most = wishes.reduce((least, { bounds }) => (bounds.most < least ? bounds.most : least), AMOUNT_MAX)
  const highest = calls.reduce((high, call) => (call.voucher.ceiling > high.ceiling ? call.voucher : high), voucher)
  const sums = [price, claimed, receipts, most, highest.ceiling].map(String)
  const each = [calls.map(({ seq }) => seq), calls.map((call) => call.price), calls.map(callRowText)]
  return [tabId, ...sums, voucherText(highest), ...each]
}
