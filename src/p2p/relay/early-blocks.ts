import type { Timers } from '../../../consensus/chain/ports.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../network.ts'

/** Messages held at most, each up to a mebibyte, and those of one sender. */
const HELD_MAX = 16
const HELD_MAX_EACH = 4

/** How long something is held and what is done with it then. */
export interface Hold {
  readonly ms: number
  readonly release: () => void
}

/** Blocks whose work is proven and whose time has not come: two clocks differ, and nobody is to blame. */
export class EarlyBlocks {
  readonly #timers: Timers
  readonly #held = new Map<BlockId, { readonly from: PeerId; readonly cancel: () => void }>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Holds a block if there is room; one is held once. */
  hold(from: PeerId, id: BlockId, { ms, release }: Hold): void {
    if (this.#held.has(id) || this.#held.size >= HELD_MAX) return
    if ([...this.#held.values()].filter((held) => held.from === from).length >= HELD_MAX_EACH) return
    const cancel = this.#timers.after(ms, () => {
      this.#held.delete(id)
      release()
    })
    this.#held.set(id, { from, cancel })
  }

  clear(): void {
    for (const { cancel } of this.#held.values()) cancel()
    this.#held.clear()
  }
}
