import { equal } from '../primitives/bytes.ts'
import { type AnyStateTable, anyTable, type StateKey, type StateTable } from './table.ts'
import type { StateChange, StateView } from './view.ts'

interface Entry {
  readonly table: AnyStateTable
  /** Value in the base view; read once. */
  readonly base: unknown
  readonly value: unknown
}

/** Records between two yields of {@link Overlay.diff}. Few, since one record may be a list of tens of kilobytes. */
const RECORDS_PER_STEP = 32

/** A record's value at a mark and at the present. */
export interface ValueChange {
  readonly table: AnyStateTable
  readonly key: StateKey
  readonly before: unknown
  readonly after: unknown
}

/** Copy-on-write journal over a view, which is never changed. The writes of a failed payload are reverted to a mark. */
export class Overlay implements StateView {
  readonly #base: StateView
  readonly #entries = new Map<StateKey, Entry>()
  readonly #journal: { readonly key: StateKey; readonly previous: Entry }[] = []

  constructor(base: StateView) {
    this.#base = base
  }

  get<Id, T>(table: StateTable<Id, T>, id: Id): T | undefined {
    return this.#entry(table, id).entry.value as T | undefined
  }

  put<Id, T>(table: StateTable<Id, T>, id: Id, value: T): void {
    this.#set(table, id, value)
  }

  delete<Id, T>(table: StateTable<Id, T>, id: Id): void {
    this.#set(table, id, undefined)
  }

  mark(): number {
    return this.#journal.length
  }

  revert(mark: number): void {
    while (this.#journal.length > mark) {
      const { key, previous } = this.#journal.pop() as { key: StateKey; previous: Entry }
      this.#entries.set(key, previous)
    }
  }

  /** Each record written since the mark, once, with its value then and at the present. */
  changesSince(mark: number): readonly ValueChange[] {
    const first = new Map<StateKey, Entry>()
    for (let i = mark; i < this.#journal.length; i++) {
      const { key, previous } = this.#journal[i] as { key: StateKey; previous: Entry }
      if (!first.has(key)) first.set(key, previous)
    }
    return [...first].map(([key, previous]) => ({
      table: previous.table,
      key,
      before: previous.value,
      after: this.#entries.get(key)?.value,
    }))
  }

  /** The diff against the base view, in key order, without records that ended as they began. */
  *diff(): Generator<void, readonly StateChange[]> {
    const changes: StateChange[] = []
    let seen = 0
    for (const [key, { table, base, value }] of this.#entries) {
      if (++seen % RECORDS_PER_STEP === 0) yield
      if (base === value) continue
      const before = base === undefined ? undefined : table.codec.serialize(base)
      const after = value === undefined ? undefined : table.codec.serialize(value)
      if (before !== undefined && after !== undefined && equal(before, after)) continue
      changes.push({ table, key, before, after })
    }
    return changes.sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  #entry<Id, T>(table: StateTable<Id, T>, id: Id): { readonly key: StateKey; readonly entry: Entry } {
    const key = table.key(id)
    const known = this.#entries.get(key)
    if (known !== undefined) return { key, entry: known }
    const base = this.#base.get(table, id)
    const entry: Entry = { table: anyTable(table), base, value: base }
    this.#entries.set(key, entry)
    return { key, entry }
  }

  #set<Id, T>(table: StateTable<Id, T>, id: Id, value: T | undefined): void {
    const { key, entry } = this.#entry(table, id)
    this.#journal.push({ key, previous: entry })
    this.#entries.set(key, { ...entry, value })
  }
}
