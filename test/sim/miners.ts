import { type Anchor, anchorAfter, targetAfter } from '../../consensus/block/difficulty.ts'
import type { Header } from '../../consensus/block/header.ts'
import { workOfTarget } from '../../consensus/block/pow.ts'
import type { BlockRules } from '../../consensus/block/rules.ts'

/** Chains of nothing but times and targets, mined by a hash rate that a test changes at will. */

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Milliseconds until a target is met at so many hashes a second. */
export function searchMs(target: bigint, hashesPerSecond: number, random: () => number): number {
  return (-Math.log(1 - random()) * Number(workOfTarget(target)) * 1_000) / hashesPerSecond
}

/** What a miner writes into its header at a moment. */
export type Stamp = (realMs: number, parentMs: number) => number

/** The honest one: the clock, after the parent. */
export const honest: Stamp = (realMs, parentMs) => Math.max(Math.round(realMs), parentMs + 1)

/** Which anchor rules a simulated chain obeys. */
export type AnchorRule = typeof anchorAfter

/** One simulated block. */
export interface MinedBlock {
  readonly realMs: number
  readonly timeMs: number
  readonly height: number
  readonly target: bigint
}

/** A chain that grows by searching; the time in `realMs` is everybody's true clock. */
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

  /** Finds the next block at so many hashes a second. */
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

  /** Mines so many blocks. */
  mineBlocks(count: number, hashesPerSecond: number, stamp: Stamp = honest): void {
    for (let i = 0; i < count; i++) this.mine(hashesPerSecond, stamp)
  }

  /** Mines until the true clock has moved on so far; blocks found in that time. */
  mineFor(ms: number, hashesPerSecond: number, stamp: Stamp | (() => Stamp) = honest): number {
    const end = this.realMs + ms
    const before = this.height
    for (;;) {
      const chosen = stamp.length === 0 ? (stamp as () => Stamp)() : (stamp as Stamp)
      if (this.mine(hashesPerSecond, chosen).realMs > end) return this.height - before - 1
    }
  }

  /** Nobody mines for a while. */
  rest(ms: number): void {
    this.realMs += ms
  }
}

/** Seconds between the last `count` blocks on the chain's own clock, on average. */
export function meanSpacing(chain: SimulatedChain, count: number): number {
  const last = chain.blocks.at(-1) as MinedBlock
  const first = chain.blocks.at(-1 - count) as MinedBlock
  return (last.timeMs - first.timeMs) / count / 1_000
}
