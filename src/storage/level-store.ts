import { Level } from 'level'
import {
  type KeyRange,
  type KeyValueEntry,
  type KeyValueStore,
  prefixRange,
  type Write,
} from '../../consensus/chain/key-value.ts'
import { rangeInSpace, spaceOf } from '../../consensus/chain/spaced-store.ts'
import type { EntriesRead } from '../p2p/serve/state.ts'
import type { PinnedState } from './state-snapshots.ts'

type Batch = ReturnType<Database['batch']>

type Database = Level<Uint8Array, Uint8Array>
type Snapshot = ReturnType<Database['snapshot']>

/** Sizes of a LevelDB, in bytes. */
export interface LevelSizes {
  readonly cacheBytes: number
  readonly writeBufferBytes: number
}

/** A state that reads are served from. After its replacement it lives on while a listing uses it. */
interface View {
  readonly snapshot: Snapshot
  listings: number
  stale: boolean
}

const ENCODINGS = { keyEncoding: 'view', valueEncoding: 'view' } as const
const READ_BYTES = 128 * 1024
const READ_ENTRIES = 2_000
/** Large files, so that millions of blocks need few open files. */
const FILE_BYTES_MAX = 32 * 1024 * 1024

/** Reads use a snapshot that is replaced only when a batch is durable, so readers never see half a block. */
export class LevelStore implements KeyValueStore {
  readonly #database: Database
  #view: View
  #writing: Promise<void> = Promise.resolve()

  private constructor(database: Database) {
    this.#database = database
    this.#view = { snapshot: database.snapshot(), listings: 0, stale: false }
  }

  /** Opens the database; without `create`, a missing one is an error instead of a new empty one. */
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
    try {
      return this.#database.getSync(key, { snapshot: this.#view.snapshot } as never)
    } catch (error) {
      throw withCode(error)
    }
  }

  entries(prefix: Uint8Array): AsyncIterable<KeyValueEntry> {
    return this.range(prefixRange(prefix))
  }

  range(range: KeyRange): AsyncIterable<KeyValueEntry> {
    // Taken here, because the generator's body only runs when the first entry is requested.
    const view = this.#view
    view.listings += 1
    return this.#list(range, view)
  }

  /** In sequence: reads must not show a batch before its writer is told that it is durable. */
  batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    const batch = this.#database.batch()
    for (const { key, value } of writes) {
      if (value === undefined) batch.del(key)
      else batch.put(key, value)
    }
    const written = this.#writing.then(() => this.#commit(batch, onDurable))
    this.#writing = written.catch(() => {})
    return written
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  async #commit(batch: Batch, onDurable: () => void): Promise<void> {
    await batch.write({ sync: true } as never)
    const old = this.#view
    this.#view = { snapshot: this.#database.snapshot(), listings: 0, stale: false }
    onDurable()
    old.stale = true
    await release(old)
  }

  /**
   * The caller must release the pinned state. Keys are those of the first space, whichever space holds the state: see
   * `SpacedStore`.
   */
  pin(): PinnedState {
    const view = this.#view
    view.listings += 1
    const space = spaceOf(this)
    return {
      read: (range, bytesMax, overhead) => this.#readPart(rangeInSpace(range, space), view, bytesMax, overhead),
      release: () => {
        view.listings -= 1
        return release(view)
      },
    }
  }

  async #readPart(...[{ gte, lt }, view, bytesMax, overhead]: [KeyRange, View, number, number]): Promise<EntriesRead> {
    const options = { gte, ...(lt && { lt }), snapshot: view.snapshot, highWaterMarkBytes: READ_BYTES }
    const iterator = this.#database.iterator(options as never)
    const entries: KeyValueEntry[] = []
    try {
      for (let bytes = 0; ; ) {
        const found = (await iterator.nextv(READ_ENTRIES)) as KeyValueEntry[]
        if (found.length === 0) return { entries, done: true }
        for (const entry of found) {
          bytes += entry[0].length + entry[1].length + overhead
          if (bytes > bytesMax && entries.length > 0) return { entries, done: false }
          entries.push(entry)
        }
      }
    } finally {
      await iterator.close()
    }
  }

  async *#list({ gte, lt, reverse = false, limit }: KeyRange, view: View): AsyncIterable<KeyValueEntry> {
    const options = { gte, reverse, ...(lt && { lt }), ...(limit !== undefined && { limit }), snapshot: view.snapshot }
    try {
      for await (const entry of this.#database.iterator(options as never)) yield entry
    } finally {
      view.listings -= 1
      await release(view)
    }
  }
}

async function release({ snapshot, listings, stale }: View): Promise<void> {
  if (stale && listings === 0) await snapshot.close()
}

/** Errors of synchronous reads lack the code that errors of asynchronous reads have. */
function withCode(error: unknown): unknown {
  const { code, message = '' } = error as { code?: string; message?: string }
  return code === undefined && message.startsWith('IO error')
    ? Object.assign(error as Error, { code: 'LEVEL_IO_ERROR' })
    : error
}
