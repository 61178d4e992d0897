import {
  type KeyRange,
  type KeyValueListing,
  type KeyValueStore,
  MemoryKeyValueStore,
  type Write,
} from '../../consensus/chain/key-value.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'

/** Everything in a store, by key in hex. */
export async function dumpStore(store: KeyValueStore): Promise<ReadonlyMap<string, string>> {
  const entries = new Map<string, string>()
  for await (const [key, value] of store.entries(new Uint8Array(0))) entries.set(toHex(key), toHex(value))
  return entries
}

/** A store in memory with the same entries. */
export async function copyStore(store: KeyValueStore): Promise<MemoryKeyValueStore> {
  const writes: Write[] = []
  for await (const [key, value] of store.entries(new Uint8Array(0))) writes.push({ key, value })
  const copy = new MemoryKeyValueStore()
  await copy.batch(writes, () => {})
  return copy
}

/** The store of a process that dies: batches after the first `batches` never reach the real store. */
export class DyingStore implements KeyValueStore {
  readonly #store: KeyValueStore
  #left: number

  constructor(store: KeyValueStore, batches: number) {
    this.#store = store
    this.#left = batches
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#store.get(key)
  }

  entries(prefix: Uint8Array): KeyValueListing {
    return this.#store.entries(prefix)
  }

  range(range: KeyRange): KeyValueListing {
    return this.#store.range(range)
  }

  batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    if (this.#left-- <= 0) return Promise.reject(new Error('the process died'))
    return this.#store.batch(writes, onDurable)
  }
}

/** A store whose `get` hides entries whose key begins with one of `hidden` (hex). Listings still show them. */
export class ForgetfulStore implements KeyValueStore {
  readonly #store: KeyValueStore
  hidden: readonly string[] = []

  constructor(store: KeyValueStore = new MemoryKeyValueStore()) {
    this.#store = store
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const hex = toHex(key)
    return this.hidden.some((prefix) => hex.startsWith(prefix)) ? undefined : this.#store.get(key)
  }

  entries(prefix: Uint8Array): KeyValueListing {
    return this.#store.entries(prefix)
  }

  range(range: KeyRange): KeyValueListing {
    return this.#store.range(range)
  }

  batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    return this.#store.batch(writes, onDurable)
  }
}
