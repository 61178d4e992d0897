import { decodeOwn } from '../primitives/codec.ts'
import type { StateKey, StateTable } from './table.ts'
import type { StateChange, StateView } from './view.ts'

/** The state before some changes, read from the state after them. */
export class UnwoundState implements StateView {
  readonly #after: StateView
  readonly #changes: ReadonlyMap<StateKey, StateChange>

  constructor(after: StateView, changes: readonly StateChange[]) {
    this.#after = after
    this.#changes = new Map(changes.map((change) => [change.key, change]))
  }

  get<Id, T>(table: StateTable<Id, T>, id: Id): T | undefined {
    const change = this.#changes.get(table.key(id))
    if (change === undefined) return this.#after.get(table, id)
    return change.before === undefined ? undefined : decodeOwn(table.codec, change.before)
  }
}
