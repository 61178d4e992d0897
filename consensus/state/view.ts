import { encode } from '../primitives/codec.ts'
import type { AnyStateTable, StateKey, StateTable } from './table.ts'

/** A consistent state to read from. Values are immutable; an absent record is undefined. */
export interface StateView {
  get<Id, T>(table: StateTable<Id, T>, id: Id): T | undefined
}

/** Undefined is absence. */
export interface StateChange {
  readonly table: AnyStateTable
  readonly key: StateKey
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/** A state held in memory, such as the empty state before genesis. */
export class MemoryState implements StateView {
  readonly #records = new Map<StateKey, { readonly table: AnyStateTable; readonly value: unknown }>()

  get<Id, T>(table: StateTable<Id, T>, id: Id): T | undefined {
    return this.#records.get(table.key(id))?.value as T | undefined
  }

  apply(changes: readonly StateChange[], unwind = false): void {
    for (const { table, key, before, after } of changes) {
      const bytes = unwind ? before : after
      if (bytes === undefined) this.#records.delete(key)
      else this.#records.set(key, { table, value: table.codec.deserialize(bytes) })
    }
  }

  *records(): Iterable<{ readonly table: AnyStateTable; readonly key: StateKey; readonly value: Uint8Array }> {
    for (const [key, { table, value }] of this.#records) yield { table, key, value: encode(table.codec, value) }
  }
}
