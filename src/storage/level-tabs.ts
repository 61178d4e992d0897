import { Level } from 'level'
import { type Amount, amount, ZERO } from '../../consensus/primitives/amount.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import { beyondBytes, type KeptResult } from '../../marketplace/till/claim-store.ts'
import { NEW_WINDOW, standingOf } from '../../marketplace/till/rails/tab/seq-window.ts'
import type { SignedTabReceipt } from '../../marketplace/till/rails/tab/tab-call.ts'
import {
  type AnsweredTabRow,
  callIdOf,
  type EndedTabCall,
  isTab,
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
import { KeyedLock } from './keyed-lock.ts'
import { callRowOf, callRowText, claimRowOf, claimRowText, paidMicros, tabRowOf, tabRowText } from './tab-json.ts'

type Database = Level<string, string>
type KeptTabResult = KeptResult & { readonly key: string; readonly n: number }
type Write =
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  | { readonly type: 'del'; readonly key: string }

/** All that a call leaves is written in one batch. Calls under way of repeatable work have no entry. */
const KEYS = {
  tab: (tabId: string) => `tab/${tabId}`,
  /** Tabs that a claim may be due for. */
  due: (tabId: string) => `due/${tabId}`,
  /** Tabs that have ended, by the time at which that was final. */
  ended: (endedAtMs: number, tabId: string) => `ended/${padded(endedAtMs)}/${tabId}`,
  call: (tabId: string, seq: number) => `call/${tabId}/${seq}`,
  /** Calls under way whose work must not be done twice. */
  open: (tabId: string, seq: number) => `open/${tabId}/${seq}`,
  text: (tabId: string, seq: number) => `text/${tabId}/${seq}`,
  /** Number of the call that has a receipt. */
  receipt: (tabId: string, n: number) => `receipt/${tabId}/${padded(n)}`,
  /** Length of a result, `n` of its receipt, its payer and price, by its finish time, for pruning. */
  result: (finishedAtMs: number, tabId: string, seq: number) => `result/${padded(finishedAtMs)}/${tabId}/${seq}`,
  claim: (madeAtMs: number, txId: string) => `claim/${padded(madeAtMs)}/${txId}`,
} as const

const CACHE_BYTES = 4 * 1024 * 1024
const WRITE_BUFFER_BYTES = 4 * 1024 * 1024
const IDLE_TABS_MAX = 10_000
const SYNCED = { sync: true } as never
/** Commits and marks are written one after the other, so that a row on disk never falls back. */
const WRITES = 'writes'

/** The calls of tabs on a single node. A group of calls is one synced batch. */
export class LevelTabStore implements TabStore {
  readonly #database: Database
  readonly #locks = new KeyedLock()
  /** Calls under way, until their answers are on disk. */
  readonly #reserved = new Map<string, ReservedTabCall>()
  /** Rows of tabs with calls under way: what is reserved is known nowhere else. */
  readonly #busy = new Map<TxId, TabRow>()
  readonly #idle = new LruMap<TxId, TabRow>(IDLE_TABS_MAX)
  /** Rows on disk of the tabs that a claim may be due for: each head asks for all of them. */
  readonly #due = new Map<TxId, TabRow>()
  /** After a failed write it is not known what is on disk. */
  #broken: { readonly error: unknown } | null = null

  private constructor(database: Database) {
    this.#database = database
  }

  static async open(path: string): Promise<LevelTabStore> {
    const database: Database = new Level(path, { cacheSize: CACHE_BYTES, writeBufferSize: WRITE_BUFFER_BYTES } as never)
    await database.open()
    const store = new LevelTabStore(database)
    await store.#load()
    return store
  }

  async tab(tabId: TxId): Promise<TabRow | undefined> {
    const text = this.#database.getSync(KEYS.tab(tabId))
    return text === undefined ? undefined : tabRowOf(text)
  }

  peek(tabId: TxId): TabRow | undefined {
    const known = this.#busy.get(tabId) ?? this.#idle.get(tabId)
    if (known !== undefined) return known
    // Synchronous: this entry is nearly always in memory, and the thread pool would cost several times as much.
    const text = this.#database.getSync(KEYS.tab(tabId))
    if (text === undefined) return undefined
    const row = tabRowOf(text)
    this.#idle.set(tabId, row)
    return row
  }

  async call(tabId: TxId, seq: number): Promise<TabCallRow | undefined> {
    const reserved = this.#reserved.get(callIdOf({ tabId, seq }))
    if (reserved !== undefined) return reserved
    const row = this.peek(tabId)
    return row === undefined || standingOf(row.window, seq) !== 'used' ? undefined : this.#answered(tabId, seq)
  }

  async reserve(call: ReservedTabCall, bounds: ReserveBounds): Promise<Reservation> {
    const { tabId, seq } = call
    const id = callIdOf(call)
    const known = this.#reserved.get(id)
    if (known !== undefined) return { is: 'known', call: known }
    const row = levelled(this.peek(tabId) ?? newRow(tabId), bounds)
    if (standingOf(row.window, seq) !== 'free') {
      const answered = this.#answered(tabId, seq)
      return answered === undefined ? { is: 'refused' } : { is: 'known', call: answered }
    }
    const held = holding(row, call)
    const sum = held.charged + held.reserved
    if (sum > held.voucher.ceiling || sum > bounds.most) return { is: 'refused' }
    this.#reserved.set(id, call)
    this.#busy.set(tabId, held)
    return { is: 'held' }
  }

  async begin(call: ReservedTabCall): Promise<boolean> {
    const id = callIdOf(call)
    if (!this.#reserved.has(id)) return false
    if (!call.isRepeatable)
      await this.#write([{ type: 'put', key: KEYS.open(call.tabId, call.seq), value: callRowText(call) }])
    if (!this.#reserved.has(id)) return false
    this.#reserved.set(id, call)
    return true
  }

  async open(): Promise<readonly ReservedTabCall[]> {
    return [...this.#reserved.values()]
  }

  commit(ended: readonly EndedTabCall[], seal: SealCall): Promise<readonly (AnsweredTabRow | null)[]> {
    return this.#locks.run(WRITES, async () => {
      const batch: Write[] = []
      const touched = new Map<TxId, TabRow>()
      const answers = ended.map((end) => {
        const { tabId, seq } = end.call
        if (!this.#reserved.has(callIdOf(end.call))) return this.#answered(tabId, seq) ?? null
        const sealed = seal(this.peek(tabId) as TabRow, end)
        this.#keep(sealed.tab)
        touched.set(tabId, sealed.tab)
        batch.push(...entriesOf(sealed.answered, end))
        return sealed.answered
      })
      for (const tab of touched.values()) batch.push(putTab(tab), putDue(tab))
      if (batch.length > 0) await this.#write(batch)
      for (const tab of touched.values()) this.#note(tab)
      for (const { call } of ended) this.#reserved.delete(callIdOf(call))
      for (const tabId of touched.keys()) this.#rest(tabId)
      return answers
    })
  }

  async receiptsFrom(tabId: TxId, n: number, limit: number): Promise<readonly SignedTabReceipt[]> {
    const range = { gte: KEYS.receipt(tabId, n), lt: `receipt/${tabId}0`, limit }
    const seqs = await this.#database.values(range).all()
    const texts = await this.#database.getMany(seqs.map((seq) => KEYS.call(tabId, Number(seq))))
    return texts.flatMap((text) => (text === undefined ? [] : [callRowOf<AnsweredTabRow>(text).receipt]))
  }

  mark(tabId: TxId, mark: TabMark): Promise<void> {
    return this.#locks.run(WRITES, async () => {
      const row = { ...(this.peek(tabId) ?? newRow(tabId)), ...mark }
      this.#keep(row)
      const batch: Write[] = [putTab(row), putDue(row)]
      const { endedAtMs } = row
      if (endedAtMs !== null) batch.push({ type: 'put', key: KEYS.ended(endedAtMs, tabId), value: '' })
      await this.#write(batch)
      this.#note(row)
    })
  }

  async unclaimed(): Promise<readonly TabRow[]> {
    return [...this.#due.values()]
  }

  async putClaim(claim: TabClaimRow): Promise<void> {
    await this.#write([{ type: 'put', key: KEYS.claim(claim.madeAtMs, claim.txId), value: claimRowText(claim) }])
  }

  async claims(): Promise<readonly TabClaimRow[]> {
    return (await this.#database.values(rangeOf('claim/')).all()).map(claimRowOf)
  }

  async dropClaim(txId: TxId): Promise<void> {
    const keys = await this.#database.keys(rangeOf('claim/')).all()
    await this.#write(keys.filter((key) => key.endsWith(txId)).map((key) => ({ type: 'del', key })))
  }

  async prune(beforeMs: number, bytesMax: number): Promise<number> {
    const kept: KeptTabResult[] = []
    let pruned = 0
    for await (const [key, value] of this.#database.iterator(rangeOf('result/'))) {
      const [, finishedAt, tabId] = key.split('/') as [string, string, TxId]
      // Older releases wrote neither payer nor price.
      const [bytes, n, payer = tabId, price = '0'] = value.split(' ')
      if (Number(finishedAt) < beforeMs && this.#isOver(tabId, Number(n))) {
        await this.#forgetResult(key, Number(n))
        pruned += 1
      } else if (bytes !== '0') {
        const priceUsdMicros = BigInt(price)
        kept.push({ key, n: Number(n), bytes: Number(bytes), payer, priceUsdMicros, isDelivered: false })
      }
    }
    const beyond = beyondBytes(kept, bytesMax)
    for (const { key, n } of beyond) await this.#forgetResult(key, n)
    await this.#forgetTabs(beforeMs)
    return pruned + beyond.length
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  /** Takes up the calls whose work was under way when the last process ended. */
  async #load(): Promise<void> {
    const due = await this.#database.keys(rangeOf('due/')).all()
    for (const text of await this.#database.getMany(due.map((key) => KEYS.tab(key.slice('due/'.length)))))
      if (text !== undefined) this.#note(tabRowOf(text))
    for (const text of await this.#database.values(rangeOf('open/')).all()) {
      const call = callRowOf<ReservedTabCall>(text)
      const row = this.peek(call.tabId) ?? newRow(call.tabId)
      this.#reserved.set(callIdOf(call), call)
      this.#busy.set(call.tabId, holding(row, call))
    }
  }

  #answered(tabId: TxId, seq: number): AnsweredTabRow | undefined {
    const text = this.#database.getSync(KEYS.call(tabId, seq))
    if (text === undefined) return undefined
    return { ...callRowOf<AnsweredTabRow>(text), result: this.#database.getSync(KEYS.text(tabId, seq)) ?? null }
  }

  /** The row is on disk. */
  #note(row: TabRow): void {
    if (isDue(row)) this.#due.set(row.tabId, { ...row, reserved: ZERO })
    else this.#due.delete(row.tabId)
  }

  #keep(row: TabRow): void {
    if (row.reserved > 0n || this.#busy.has(row.tabId)) this.#busy.set(row.tabId, row)
    else this.#idle.set(row.tabId, row)
  }

  /** Lets go of the row of a tab without calls under way, now that it is on disk. */
  #rest(tabId: TxId): void {
    const row = this.#busy.get(tabId)
    if (row === undefined || row.reserved > 0n) return
    this.#busy.delete(tabId)
    this.#idle.set(tabId, row)
  }

  #isOver(tabId: TxId, n: number): boolean {
    const row = this.peek(tabId)
    return row === undefined || row.endedAtMs !== null || n <= row.finalReceipts
  }

  /**
   * Not synced: a crash only brings results back that are forgotten again. A channel may last for years, so its calls go one by one, once
   * they are claimed; those of a tab go with the tab.
   */
  async #forgetResult(key: string, n: number): Promise<void> {
    const [, , tabId, seqText] = key.split('/') as [string, string, TxId, string]
    const seq = Number(seqText)
    const gone: Write[] = [{ type: 'del', key: KEYS.text(tabId, seq) }]
    const mayGo = isTab({ tabId }) || this.#isOver(tabId, n)
    gone.push(mayGo ? { type: 'del', key } : { type: 'put', key, value: `0 ${n}` })
    if (!isTab({ tabId }) && mayGo)
      gone.push({ type: 'del', key: KEYS.call(tabId, seq) }, { type: 'del', key: KEYS.receipt(tabId, n) })
    await this.#database.batch(gone as never)
  }

  async #forgetTabs(beforeMs: number): Promise<void> {
    const range = { gte: 'ended/', lt: KEYS.ended(Math.max(0, beforeMs), '') }
    for (const key of await this.#database.keys(range).all()) {
      const tabId = key.split('/')[2] as TxId
      for (const prefix of ['call', 'text', 'receipt']) await this.#database.clear(rangeOf(`${prefix}/${tabId}/`))
      this.#idle.delete(tabId)
      this.#due.delete(tabId)
      const rest = [KEYS.tab(tabId), KEYS.due(tabId), key]
      await this.#database.batch(rest.map((one) => ({ type: 'del' as const, key: one })))
    }
  }

  async #write(batch: readonly Write[]): Promise<void> {
    if (this.#broken !== null) throw this.#broken.error
    try {
      await this.#database.batch(batch as never, SYNCED)
    } catch (error) {
      this.#broken = { error }
      throw error
    }
  }
}

function newRow(tabId: TxId): TabRow {
  return {
    tabId,
    charged: ZERO,
    reserved: ZERO,
    receipts: 0,
    uncharged: 0,
    window: NEW_WINDOW,
    seqMax: 0,
    voucher: null,
    lastReceipt: null,
    refundAskedAtMs: null,
    lostReceipt: null,
    finalReceipts: 0,
    endedAtMs: null,
  }
}

/** The tab with one more call under way. Its voucher counts from then on, for the calls before it too. */
function holding(row: TabRow, { seq, voucher, price }: ReservedTabCall): TabRow & Pick<ReservedTabCall, 'voucher'> {
  const highest = row.voucher === null || voucher.ceiling > row.voucher.ceiling ? voucher : row.voucher
  const seqMax = Math.max(row.seqMax, seq)
  return { ...row, reserved: amount(row.reserved + BigInt(price)), voucher: highest, seqMax }
}

/** What was claimed on chain was charged: a store that lost its rows goes on from there. */
function levelled(row: TabRow, { claimed, receipts }: ReserveBounds): TabRow {
  if (claimed <= row.charged && receipts <= row.receipts) return row
  const charged: Amount = claimed > row.charged ? claimed : row.charged
  return { ...row, charged, receipts: Math.max(row.receipts, receipts) }
}

function isDue({ receipts, finalReceipts, refundAskedAtMs, endedAtMs }: TabRow): boolean {
  return endedAtMs === null && (receipts > finalReceipts || refundAskedAtMs !== null)
}

function putDue(row: TabRow): Write {
  const key = KEYS.due(row.tabId)
  return isDue(row) ? { type: 'put', key, value: '' } : { type: 'del', key }
}

/** Nothing is reserved on disk: a start forgets the calls under way, but for those that have an entry of their own. */
function putTab(row: TabRow) {
  return { type: 'put', key: KEYS.tab(row.tabId), value: tabRowText({ ...row, reserved: ZERO }) } as const
}

function entriesOf(answered: AnsweredTabRow, { call, charge, result, finishedAtMs }: EndedTabCall): readonly Write[] {
  const { tabId, seq } = answered
  const { n } = answered.receipt.receipt
  const batch: Write[] = [
    { type: 'put', key: KEYS.call(tabId, seq), value: callRowText(answered) },
    { type: 'put', key: KEYS.receipt(tabId, n), value: `${seq}` },
  ]
  if (!call.isRepeatable) batch.push({ type: 'del', key: KEYS.open(tabId, seq) })
  if (result !== null) batch.push({ type: 'put', key: KEYS.text(tabId, seq), value: result })
  if (result !== null || !isTab(answered)) {
    const value = `${Buffer.byteLength(result ?? '')} ${n} ${call.caller} ${paidMicros(call, charge)}`
    batch.push({ type: 'put', key: KEYS.result(finishedAtMs, tabId, seq), value })
  }
  return batch
}

/** Padded so that keys sort by the number. */
function padded(number: number): string {
  return String(number).padStart(15, '0')
}

/** Keys that begin with a prefix that ends in a slash: `0` is the character after it. */
function rangeOf(prefix: string): { readonly gte: string; readonly lt: string } {
  return { gte: prefix, lt: `${prefix.slice(0, -1)}0` }
}
