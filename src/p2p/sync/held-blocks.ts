import type { Block } from '../../../consensus/block/block.ts'
import { earlyMs } from '../../../consensus/block/check.ts'
import type { WorkVerifier } from '../../../consensus/block/pow.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../network.ts'
import { EARLY_MS_MAX } from '../relay/header-judge.ts'

/** Blocks held at most, each up to a mebibyte. */
const HELD_MAX = 16
/** Of one sender. */
const HELD_MAX_EACH = 4

interface HeldDependencies {
  readonly chain: Chain
  readonly workVerifier: WorkVerifier
  readonly clock: Clock
  readonly timers: Timers
}

interface Held {
  readonly from: PeerId | null
  readonly cancel: () => void
}

/**
 * Blocks from the future, as our clock has it, until their time has come: clocks differ, so no peer is to blame. Their work is
 * checked before they take up memory.
 */
export class HeldBlocks {
  readonly #deps: HeldDependencies
  readonly #again: (block: Block, from: PeerId | null) => Promise<unknown>
  readonly #held = new Map<BlockId, Held>()
  #closed = false

  /** `again` is called with a block when its time has come; it must not reject. */
  constructor(dependencies: HeldDependencies, again: (block: Block, from: PeerId | null) => Promise<unknown>) {
    this.#deps = dependencies
    this.#again = again
  }

  get size(): number {
    return this.#held.size
  }

  /** Holds a block that every cheap check but the clock's has passed, if there is room and its work is true. */
  async hold(block: Block, from: PeerId | null): Promise<void> {
    if (this.#room(block.id, from) && (await this.#proven(block)) && this.#room(block.id, from)) this.#keep(block, from)
  }

  clear(): void {
    this.#closed = true
    for (const { cancel } of this.#held.values()) cancel()
    this.#held.clear()
  }

  #room(id: BlockId, from: PeerId | null): boolean {
    if (this.#closed || this.#held.has(id) || this.#held.size >= HELD_MAX) return false
    return [...this.#held.values()].filter((held) => held.from === from).length < HELD_MAX_EACH
  }

  async #proven({ id, bytes, header }: Block): Promise<boolean> {
    const { chain, workVerifier } = this.#deps
    if (chain.proven.has(id)) return true
    const cost = chain.ruleBook.at(header.height).block.pow
    const [good] = await workVerifier.verifyWork([{ bytes, target: header.target, cost }]).catch(() => [false])
    if (good === true) chain.proven.add(id)
    return good === true
  }

  #keep(block: Block, from: PeerId | null): void {
    const { chain, clock, timers } = this.#deps
    const waitMs = earlyMs(block, clock.now(), chain.ruleBook.at(block.header.height).block)
    if (waitMs > EARLY_MS_MAX) return
    const cancel = timers.after(Math.max(1, waitMs), () => {
      this.#held.delete(block.id)
      void this.#again(block, from)
    })
    this.#held.set(block.id, { from, cancel })
  }
}
