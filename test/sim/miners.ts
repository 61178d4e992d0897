import { type Anchor, anchorAfter, targetAfter } from '../../consensus/block/difficulty.ts'
import type { Header } from '../../consensus/block/header.ts'
import { workOfTarget } from '../../consensus/block/pow.ts'
import type { BlockRules } from '../../consensus/block/rules.ts'

/** Chains of times and targets only, mined at a hash rate that the test chooses. */

/** Random numbers in [0, 1), the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Random time in ms to meet a target at a hash rate. */
export function searchMs(target: bigint, hashesPerSecond: number, random: () => number): number {
  return (-Math.log(1 - random()) * Number(workOfTarget(target)) * 1_000) / hashesPerSecond
}

/** The time that a miner writes into its header. */
export type Stamp = (realMs: number, parentMs: number) => number

/** The honest time: the clock, but after the parent's. */
export const honest: Stamp = (realMs, parentMs) => Math.max(Math.round(realMs), parentMs + 1)

/** Anchor rule of a simulated chain. */
export type AnchorRule = typeof anchorAfter

export interface MinedBlock {
  readonly realMs: number
  readonly timeMs: number
  readonly height: number
  readonly target: bigint
}

/** A chain that grows by mining. `realMs` is the true clock. */
export class SimulatedChain {
  readonly blocks: MinedBlock[] = []
  readonly #rules: BlockRules
  readonly #random: () => number
  readonly #anchorRule: AnchorRule
  #anchor: Anchor | null = null
  #tip: Pick<Header, 'height' | 'timeMs'> = { height: 0, timeMs: 1_000_000_000_000 }
  realMs = this.#tip.timeMs

  constructor(rules: BlockRules, random: () => number, anchorRule: AnchorRule = anchorAfter) {
    this.#rules = rules
    this.#random = random
    this.#anchorRule = anchorRule
  }

  get height(): number {
    return this.#tip.height
  }

  /** Target of the next block. */
  get target(): bigint {
    return targetAfter(this.#anchor, this.#tip, this.#rules)
  }

  /** Hashes that the next block is expected to take. */
  get work(): number {
    return Number(workOfTarget(this.target))
  }

  /** Finds the next block at a hash rate. */
  mine(hashesPerSecond: number, stamp: Stamp = honest): MinedBlock {
    const { target } = this
    this.realMs += searchMs(target, hashesPerSecond, this.#random)
    const timeMs = stamp(this.realMs, this.#tip.timeMs)
    const header = { height: this.#tip.height + 1, timeMs, target } as Header
    this.#anchor = this.#anchorRule(this.#anchor, this.#tip, header, this.#rules)
    this.#tip = header
    const block = { realMs: this.realMs, timeMs, height: header.height, target }
    this.blocks.push(block)
    return block
  }

  mineBlocks(count: number, hashesPerSecond: number, stamp: Stamp = honest): void {
    for (let i = 0; i < count; i++) this.mine(hashesPerSecond, stamp)
  }

  /** Mines for a period of the true clock. Returns the number of blocks found. */
  mineFor(ms: number, hashesPerSecond: number, stamp: Stamp | (() => Stamp) = honest): number {
    const end = this.realMs + ms
    const before = this.height
    for (;;) {
      const chosen = stamp.length === 0 ? (stamp as () => Stamp)() : (stamp as Stamp)
      if (this.mine(hashesPerSecond, chosen).realMs > end) return this.height - before - 1
    }
  }

  /** Lets time pass without mining. */
  rest(ms: number): void {
    this.realMs += ms
  }
}

/** Mean seconds between the last `count` blocks by header times. */
export function meanSpacing(chain: SimulatedChain, count: number): number {
  const last = chain.blocks.at(-1) as MinedBlock
  const first = chain.blocks.at(-1 - count) as MinedBlock
  return (last.timeMs - first.timeMs) / count / 1_000
}
