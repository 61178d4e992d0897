import { seeded } from '../sim/miners.ts'

/** Random choices of a walk (a random sequence of test steps), the same for the same seed. It records the steps, to explain a failure. */
export class Dice {
  /** What happened, in order. */
  readonly story: string[] = []
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = seeded(seed)
  }

  /** A number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.#random() * end)
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.#random() < probability
  }

  /** One of several values. The list must not be empty. */
  one<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T
  }

  /** One of several values, by their weights. */
  weighted<T>(values: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.below(values.reduce((sum, [weight]) => sum + weight, 0))
    const found = values.find(([weight]) => {
      left -= weight
      return left < 0
    })
    return (found as readonly [number, T])[1]
  }

  /** Records what happens. Returns the number of the line. */
  tell(line: string): number {
    return this.story.push(line) - 1
  }

  /** Adds the outcome to a line. */
  add(line: number, outcome: string): void {
    this.story[line] += ` -> ${outcome}`
  }
}

/** Seeds of a walk: fixed ones for every run, and `count` from a base on. Environment variables set base and count. */
export function walkSeeds(
  fixed: readonly number[],
  count: number,
): { readonly base: number; readonly seeds: number[] } {
  const base = Number(process.env.TEST_WALK_SEED ?? Date.now() % 1_000_000)
  const runs = Number(process.env.TEST_WALK_RUNS ?? count)
  return { base, seeds: [...fixed, ...Array.from({ length: runs }, (_, i) => base + i)] }
}
