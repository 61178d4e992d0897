import { copy } from '../primitives/bytes.ts'
import { type KeyRange, type KeyValueListing, type KeyValueStore, mapListing, type Write } from './key-value.ts'
import { isSpaced, KEYS, keyInSpace, type Space } from './layout.ts'

/** Room that the head's state of a store is in. */
export function spaceOf(store: Pick<KeyValueStore, 'get'>): Space {
  return store.get(KEYS.meta('space'))?.[0] === 1 ? 1 : 0
}

/** The room beside it. */
export function otherSpace(space: Space): Space {
  return space === 0 ? 1 : 0
}

/**
 * A store seen through one of its two rooms for a state with its tree and indexes: keys are those of the first room, whichever it
 * is. So a snapshot is put together in the other room while nobody sees it, and becomes the state by one write.
 */
export class SpacedStore implements KeyValueStore {
  readonly #store: KeyValueStore
  space: Space

  constructor(store: KeyValueStore, space: Space) {
    this.#store = store
    this.space = space
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#store.get(keyInSpace(key, this.space))
  }

  entries(prefix: Uint8Array): KeyValueListing {
    return this.#inFirst(prefix, this.#store.entries(keyInSpace(prefix, this.space)))
  }

  range(range: KeyRange): KeyValueListing {
    return this.#inFirst(range.gte, this.#store.range(rangeInSpace(range, this.space)))
  }

  batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    const moved =
      this.space === 0 ? writes : writes.map((write) => ({ ...write, key: keyInSpace(write.key, this.space) }))
    return this.#store.batch(moved, onDurable)
  }

  /** Entries with the keys of the first room. */
  #inFirst(begin: Uint8Array, listing: KeyValueListing): KeyValueListing {
    const prefix = begin[0]
    if (this.space === 0 || !isSpaced(prefix)) return listing
    return mapListing(listing, ([key, value]) => {
      const own = copy(key)
      own[0] = prefix as number
      return [own, value] as const
    })
  }
}

/** A range under one prefix as it stands in a room. */
export function rangeInSpace(range: KeyRange, space: Space): KeyRange {
  const { gte, lt } = range
  if (space === 0 || !isSpaced(gte[0])) return range
  const from = keyInSpace(gte, space)
  if (lt === undefined) return { ...range, gte: from }
  const end = copy(lt)
  end[0] = (lt[0] as number) + (from[0] as number) - (gte[0] as number)
  return { ...range, gte: from, lt: end }
}
