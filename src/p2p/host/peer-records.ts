/** Text records that outlive the process: addresses, bans and anchors. Keys are `<kind>/<name>`. */
export interface PeerRecords {
  load(kind: string, limit: number): Promise<readonly (readonly [key: string, value: string])[]>
  /** Writes all changes in one step; null removes. */
  write(changes: ReadonlyMap<string, string | null>): Promise<void>
}

/** Most changes that wait; further ones are dropped. Only the newest of each key waits, so this many wait only if the disk is stuck. */
const CHANGES_MAX = 32_768

/** Writes changes in the background, one batch at a time. A batch has all that came during the one before. */
export class RecordWriter {
  readonly #records: PeerRecords
  readonly #onError: (error: unknown) => void
  #changes = new Map<string, string | null>()
  #running: Promise<void> | null = null
  #closed = false

  /** `onError` hears of every batch that was lost. Its changes are not tried again. */
  constructor(records: PeerRecords, onError: (error: unknown) => void) {
    this.#records = records
    this.#onError = onError
  }

  /** Null removes. */
  put(key: string, value: string | null): void {
    if (this.#closed || (this.#changes.size >= CHANGES_MAX && !this.#changes.has(key))) return
    this.#changes.set(key, value)
    this.#running ??= this.#run()
  }

  /** Resolves when everything put before is written or lost. */
  async flush(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  /** Writes what was put before. Later changes are dropped. */
  async close(): Promise<void> {
    this.#closed = true
    await this.flush()
  }

  async #run(): Promise<void> {
    // Changes of one turn of the event loop go into one batch.
    await Promise.resolve()
    while (this.#changes.size > 0) {
      const changes = this.#changes
      this.#changes = new Map()
      try {
        await this.#records.write(changes)
      } catch (error) {
        this.#onError(error)
      }
    }
    this.#running = null
  }
}
