import type { KeyRange, KeyValueListing, KeyValueStore, Write } from '../../../consensus/chain/key-value.ts'
import type { Timers } from '../../../consensus/chain/ports.ts'
import type { Dice } from './dice.ts'

/** Range of times until a batch is durable, ms. */
const FLUSH_MS = [1, 6] as const

/** A store with slow writes, one batch after another. A batch that is not durable when the node crashes is lost as a whole. */
export class VirtualDisk implements KeyValueStore {
  readonly #store: KeyValueStore
  readonly #timers: Timers
  readonly #dice: Dice
  #last: Promise<void> = Promise.resolve()

  /** `timers` are those of the running node, and end with it. */
  constructor(store: KeyValueStore, timers: Timers, dice: Dice) {
    this.#store = store
    this.#timers = timers
    this.#dice = dice
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
    const done = this.#last.then(async () => {
      await new Promise<void>((resolve) => {
        this.#timers.after(this.#dice.between(...FLUSH_MS), resolve)
      })
      await this.#store.batch(writes, onDurable)
    })
    this.#last = done
    return done
  }
}
