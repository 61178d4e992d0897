import { Level } from 'level'
import type { TxId } from '../../consensus/primitives/ids.ts'
import type { Put, SettlementRecord, SettlementRecords } from '../../marketplace/facilitator/records.ts'
import { KeyedLock } from './keyed-lock.ts'

type Database = Level<string, string>

const KEYS = {
  record: (txId: string) => `record/${txId}`,
  due: (deadline: number, txId: string) => `due/${String(deadline).padStart(10, '0')}/${txId}`,
} as const

const CACHE_BYTES = 1024 * 1024
const WRITE_BUFFER_BYTES = 1024 * 1024
/** Maximum kept records: each belongs to an escrow that a payer funded, and takes less than a kilobyte. */
const RECORDS_MAX = 200_000
const EXPIRED_AT_ONCE = 1_000

/** Settlements of a facilitator in LevelDB; every write is synced. */
export class LevelSettlements implements SettlementRecords {
  readonly #database: Database
  readonly #locks = new KeyedLock()
  readonly #countMax: number
  #count: number

  private constructor(database: Database, count: number, countMax: number) {
    this.#database = database
    this.#count = count
    this.#countMax = countMax
  }

  static async open(path: string, countMax = RECORDS_MAX): Promise<LevelSettlements> {
    const database: Database = new Level(path, { cacheSize: CACHE_BYTES, writeBufferSize: WRITE_BUFFER_BYTES } as never)
    await database.open()
    let count = 0
    for await (const _ of database.keys({ gte: 'due/', lt: 'due0' })) count += 1
    return new LevelSettlements(database, count, countMax)
  }

  async get(txId: TxId): Promise<SettlementRecord | undefined> {
    const json = await this.#database.get(KEYS.record(txId))
    return json === undefined ? undefined : (JSON.parse(json) as SettlementRecord)
  }

  put(record: SettlementRecord): Promise<Put> {
    const { txId, deadline } = record
    return this.#locks.run(txId, async () => {
      const known = await this.get(txId)
      if (known !== undefined) return { is: 'known', record: known }
      if (this.#count >= this.#countMax) return { is: 'full', count: this.#count }
      this.#count += 1
      try {
        const batch = this.#database.batch().put(KEYS.record(txId), JSON.stringify(record))
        await batch.put(KEYS.due(deadline, txId), '').write({ sync: true } as never)
      } catch (error) {
        this.#count -= 1
        throw error
      }
      return { is: 'new' }
    })
  }

  /** In sequence: two concurrent runs would count the same records twice. */
  expire(belowHeight: number): Promise<number> {
    return this.#locks.run('due', async () => {
      const range = { gte: 'due/', lt: KEYS.due(Math.max(0, belowHeight), '') }
      const due = await this.#database.keys({ ...range, limit: EXPIRED_AT_ONCE }).all()
      if (due.length === 0) return 0
      const batch = this.#database.batch()
      for (const key of due) batch.del(key).del(KEYS.record(key.split('/')[2] as string))
      await batch.write({ sync: true } as never)
      this.#count -= due.length
      return due.length
    })
  }

  async close(): Promise<void> {
    await this.#database.close()
  }
}
