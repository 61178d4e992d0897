import { hex } from './bytes.ts'
import type { Ssz } from './ssz.ts'

/** All records by their key in hex. */
export type Records = Map<string, Uint8Array>

/** One table of ledgers.md over the records; ids are hex. */
export class Table<T> {
  readonly #records: Records
  readonly #prefix: string
  readonly #type: Ssz<T>

  constructor(records: Records, prefix: number, type: Ssz<T>) {
    this.#records = records
    this.#prefix = hex(Uint8Array.of(prefix))
    this.#type = type
  }

  get(id: string): T | undefined {
    const record = this.#records.get(this.#prefix + id)
    return record === undefined ? undefined : this.#type.decode(record)
  }

  /** The record. Throws if there is none. */
  of(id: string): T {
    const record = this.get(id)
    if (record === undefined) throw new Error(`no record ${this.#prefix} ${id}`)
    return record
  }

  set(id: string, value: T): void {
    this.#records.set(this.#prefix + id, this.#type.encode(value))
  }

  delete(id: string): void {
    this.#records.delete(this.#prefix + id)
  }

  all(): [string, T][] {
    return [...this.#records]
      .filter(([key]) => key.startsWith(this.#prefix))
      .map(([key, record]) => [key.slice(2), this.#type.decode(record)])
  }
}
