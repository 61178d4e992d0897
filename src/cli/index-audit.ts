import type { StateIndex } from '../../consensus/chain/chain-index.ts'
import type { DatabaseReader } from '../../consensus/chain/reader.ts'
import { equal, fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import type { StateChange } from '../../consensus/state/view.ts'

/** Result of an audit of an index that is derived from the state. */
export interface IndexReport {
  readonly name: string
  /** Entries that follow from the state. */
  readonly entries: number
  /** Entries that are missing, differ, or should not exist. */
  readonly wrong: number
}

/**
 * Compares a stored index with one rebuilt from the state. Only entries that are read back during the rebuild (sums,
 * counts) are held in memory. All other entries are compared as they come.
 */
export class IndexAudit {
  readonly #index: StateIndex
  readonly #database: DatabaseReader
  readonly #sums = new Map<string, Uint8Array | undefined>()
  #seen = 0
  #wrong = 0

  constructor(index: StateIndex, database: DatabaseReader) {
    this.#index = index
    this.#database = database
  }

  add(records: readonly StateChange[]): void {
    const writes = this.#index.changesOf(records, (key) => {
      const name = toHex(key)
      if (!this.#sums.has(name)) this.#sums.set(name, undefined)
      return this.#sums.get(name)
    })
    for (const { key, value } of writes) {
      const name = toHex(key)
      if (this.#sums.has(name)) this.#sums.set(name, value)
      else this.#expect(key, value)
    }
  }

  async finish(): Promise<IndexReport> {
    for (const [name, value] of this.#sums) this.#expect(fromHex(name), value)
    let stored = 0
    const everything = { prefix: new Uint8Array(0), limit: Number.MAX_SAFE_INTEGER }
    for await (const _ of this.#database.indexRange(this.#index, everything)) stored += 1
    const surplus = Math.max(0, stored - this.#seen)
    return { name: this.#index.name, entries: this.#seen, wrong: this.#wrong + surplus }
  }

  #expect(key: Uint8Array, value: Uint8Array | undefined): void {
    if (value === undefined) return
    this.#seen += 1
    const found = this.#database.indexed(this.#index, key)
    if (found === undefined || !equal(found, value)) this.#wrong += 1
  }
}
