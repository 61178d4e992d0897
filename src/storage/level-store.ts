import { Level } from 'level'
import type { KeyValueEntry, KeyValueStore, Write } from '../../consensus/chain/key-value.ts'

type Database = Level<Uint8Array, Uint8Array>
type Snapshot = ReturnType<Database['snapshot']>

/** Sizes of a LevelDB, in bytes. */
export interface LevelSizes {
  readonly cacheBytes: number
  readonly writeBufferBytes: number
}

const ENCODINGS = { keyEncoding: 'view', valueEncoding: 'view' } as const
/** Large files keep the number of open ones small over millions of blocks. */
const FILE_BYTES_MAX = 32 * 1024 * 1024

/**
 * LevelDB behind the chain's store interface. Reads go through a snapshot that is replaced only when a batch is durable,
 * so that nobody ever sees half of a block.
 */
export class LevelStore implements KeyValueStore {
  readonly #database: Database
  #snapshot: Snapshot

  private constructor(database: Database) {
    this.#database = database
    this.#snapshot = database.snapshot()
  }

  /** Opens the database; without `create` a missing one is an error, never an empty new one. */
  static async open(path: string, { cacheBytes, writeBufferBytes }: LevelSizes, create: boolean): Promise<LevelStore> {
    const database: Database = new Level(path, {
      ...ENCODINGS,
      createIfMissing: create,
      cacheSize: cacheBytes,
      writeBufferSize: writeBufferBytes,
      maxFileSize: FILE_BYTES_MAX,
    } as never)
    await database.open()
    return new LevelStore(database)
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#database.getSync(key, { snapshot: this.#snapshot } as never)
  }

  async *entries(prefix: Uint8Array): AsyncIterable<KeyValueEntry> {
    const end = successor(prefix)
    const range = end === undefined ? { gte: prefix } : { gte: prefix, lt: end }
    for await (const entry of this.#database.iterator({ ...range, snapshot: this.#snapshot } as never)) yield entry
  }

  async batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    const batch = this.#database.batch()
    for (const { key, value } of writes) {
      if (value === undefined) batch.del(key)
      else batch.put(key, value)
    }
    await batch.write({ sync: true } as never)
    const stale = this.#snapshot
    this.#snapshot = this.#database.snapshot()
    onDurable()
    await stale.close()
  }

  async close(): Promise<void> {
    await this.#database.close()
  }
}

/** The first key after all that begin with the prefix, undefined if there is none. */
function successor(prefix: Uint8Array): Uint8Array | undefined {
  for (let length = prefix.length; length > 0; length--) {
    const last = prefix[length - 1] as number
    if (last < 0xff) return Uint8Array.of(...prefix.subarray(0, length - 1), last + 1)
  }
  return undefined
}
