import type { KeyValueStore, Write } from '../../consensus/chain/key-value.ts'
import { KEYS } from '../../consensus/chain/layout.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import { decodeOwn } from '../../consensus/primitives/codec.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import type { StateKey, StateTable } from '../../consensus/state/table.ts'
import type { StateChange, StateView } from '../../consensus/state/view.ts'

const CACHED_RECORDS = 50_000

/**
 * Pending writes, and the state that a replay of the chain has reached. That state is kept in the store beside the
 * head's, so that memory holds only the next batch.
 */
export class ReplayStore implements StateView {
  readonly #store: KeyValueStore
  readonly #pending = new Map<string, Write>()
  readonly #records = new LruMap<StateKey, { readonly value: unknown }>(CACHED_RECORDS)

  constructor(store: KeyValueStore) {
    this.#store = store
  }

  get size(): number {
    return this.#pending.size
  }

  /** Value of a key after the pending writes. */
  readonly read = (key: Uint8Array): Uint8Array | undefined => {
    const write = this.#pending.get(toHex(key))
    return write === undefined ? this.#store.get(key) : write.value
  }

  get<Id, T>(table: StateTable<Id, T>, id: Id): T | undefined {
    const key = table.key(id)
    const cached = this.#records.get(key)
    if (cached !== undefined) return cached.value as T | undefined
    const bytes = this.read(KEYS.replay(key))
    const value = bytes === undefined ? undefined : decodeOwn(table.codec, bytes)
    this.#records.set(key, { value })
    return value
  }

  add(writes: readonly Write[]): void {
    for (const write of writes) this.#pending.set(toHex(write.key), write)
  }

  apply(changes: readonly StateChange[]): void {
    for (const { table, key, after } of changes) {
      this.add([after === undefined ? { key: KEYS.replay(key) } : { key: KEYS.replay(key), value: after }])
      this.#records.set(key, { value: after === undefined ? undefined : decodeOwn(table.codec, after) })
    }
  }

  /** Writes all pending writes and `mark` atomically. */
  async flush(mark: Write): Promise<void> {
    await this.#store.batch([...this.#pending.values(), mark], () => {})
    this.#pending.clear()
  }
}
