import { fieldsOf } from '../http.ts'
import { DAY_MS } from './ceilings.ts'
import { FarthingError } from './errors.ts'
import { checkGiven, KIND } from './options.ts'
import type { PaymentJournal, PaymentRecord } from './shapes.ts'
import { memoryTabs, storageTabs } from './tabs/tab-journal.ts'
import type { TabJournal } from './tabs/tab-types.ts'

/** Maximum records of a journal in memory. Older ones are dropped, and their cost is kept in sums for a day. */
const MEMORY_RECORDS_MAX = 10_000
/** Span of one sum: 15 minutes. */
const SUM_MS = 900_000

/** A journal that ends with its process. A new process knows neither the day's spending nor unanswered payments. */
export function memoryJournal(): PaymentJournal {
  const records = new Map<string, PaymentRecord>()
  const sums = new Map<number, PaymentRecord>()
  const forget = (record: PaymentRecord): void => {
    records.delete(record.txId)
    for (const atMs of sums.keys()) if (atMs < record.atMs - DAY_MS) sums.delete(atMs)
    // The sum has the time of the end of its span, so that no part of it leaves the daily ceiling too early.
    const atMs = Math.ceil(record.atMs / SUM_MS) * SUM_MS
    sums.set(atMs, added(record, sums.get(atMs), atMs))
  }
  return {
    put(record) {
      records.delete(record.txId)
      records.set(record.txId, record)
      const [oldest] = records.values()
      if (records.size > MEMORY_RECORDS_MAX && oldest !== undefined) forget(oldest)
    },
    get: (txId) => records.get(txId),
    since: (atMs) => [...sums.values(), ...records.values()].filter((record) => record.atMs >= atMs),
    tabs: memoryTabs(),
  }
}

/** Wraps a journal so that errors of `get` and `since` become `journal_failed`. */
export function withFaults(journal: PaymentJournal): PaymentJournal {
  const reading = async <T>(read: () => Promise<T> | T): Promise<T> => {
    try {
      return await read()
    } catch (cause) {
      throw new FarthingError(`the journal cannot be read: ${reasonIn(cause)}`, { code: 'journal_failed', cause })
    }
  }
  return {
    put: (record) => journal.put(record),
    get: (txId) => reading(() => journal.get(txId)),
    since: (atMs) => reading(() => journal.since(atMs)),
    ...(journal.tabs === undefined ? {} : { tabs: tabsWithFaults(journal.tabs, reading) }),
  }
}

function tabsWithFaults(tabs: TabJournal, reading: <T>(read: () => Promise<T> | T) => Promise<T>): TabJournal {
  return {
    append: (note) => tabs.append(note),
    read: (tabId) => reading(() => tabs.read(tabId)),
    list: () => reading(() => tabs.list()),
  }
}

/** Message of a thrown value. */
export function reasonIn(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** A record that stands for the sum of several dropped ones. */
function added(record: PaymentRecord, sum: PaymentRecord | undefined, atMs: number): PaymentRecord {
  const { amount, feeMax, usd } = sum ?? { amount: 0n, feeMax: 0n, usd: 0 }
  return {
    ...record,
    ...{ txId: `sum ${atMs}`, quoteId: '', secret: '', request: '', tx: null, state: 'settled', sender: '' },
    ...{
      nonce: BigInt(atMs),
      amount: amount + record.amount,
      feeMax: feeMax + record.feeMax,
      usd: usd + record.usd,
      atMs,
    },
  }
}

/** The part of `localStorage` that the journal uses. */
export interface KeyedTexts {
  readonly length: number
  key(index: number): string | null
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

const KEEP_MS = 30 * DAY_MS

/**
 * A journal in a browser's `localStorage`, with one entry a payment. All tabs of the origin share it. When a payment is
 * recorded, entries older than 30 days are removed. If the storage is full, `put` throws and nothing is paid.
 */
export function storageJournal(storage: KeyedTexts, prefix = 'farthing.payment.'): PaymentJournal {
  checkGiven('storageJournal', 'storage', storage, KIND.storage)
  const all = (): readonly PaymentRecord[] =>
    Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '')
      .filter((key) => key.startsWith(prefix))
      .flatMap((key) => parseRecord(storage.getItem(key) ?? '') ?? [])
  return {
    put(record) {
      for (const { txId, atMs } of all()) if (atMs < record.atMs - KEEP_MS) storage.removeItem(prefix + txId)
      storage.setItem(prefix + record.txId, recordText(record))
    },
    get: (txId) => parseRecord(storage.getItem(prefix + txId) ?? ''),
    since: (atMs) => all().filter((record) => record.atMs >= atMs),
    tabs: storageTabs(storage, prefix),
  }
}

/** A record as one line of JSON. */
export function recordText(record: PaymentRecord): string {
  return JSON.stringify(record, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
}

/** Undefined for anything but a whole line of {@link recordText}. */
export function parseRecord(text: string): PaymentRecord | undefined {
  try {
    const record = fieldsOf(JSON.parse(text))
    const { txId, secret, amount, nonce, feeMax, atMs } = record
    if (typeof txId !== 'string' || typeof secret !== 'string' || typeof atMs !== 'number') return undefined
    const units = { amount: BigInt(amount as string), nonce: BigInt(nonce as string), feeMax: BigInt(feeMax as string) }
    return { ...(record as unknown as PaymentRecord), ...units }
  } catch {
    return undefined
  }
}
