import { copy } from '../primitives/bytes.ts'
import { type KeyRange, type KeyValueListing, type KeyValueStore, mapListing, type Write } from './key-value.ts'
import { isSpaced, KEYS, keyInSpace, type Space } from './layout.ts'

/** The room with the head's state. */
export function spaceOf(store: Pick<KeyValueStore, 'get'>): Space {
  return store.get(KEYS.meta('space'))?.[0] === 1 ? 1 : 0
}

/** The other of the two rooms. */
export function otherSpace(space: Space): Space {
  return space === 0 ? 1 : 0
}

/**
 * A store seen through one of its two rooms for a state, its tree and its indexes. Keys are always those of the first
 * room. So a snapshot is built in the other room, unseen, and becomes the head's state by one write.
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

/** The range must lie under one prefix. */
export function rangeInSpace(range: KeyRange, space: Space): KeyRange {
  const { gte, lt } = range
  if (space === 0 || !isSpaced(gte[0])) return range
  const from = keyInSpace(gte, space)
  if (lt === undefined) return { ...range, gte: from }
  const end = copy(lt)
  end[0] = (lt[0] as number) + (from[0] as number) - (gte[0] as number)
  return { ...range, gte: from, lt: end }
}
