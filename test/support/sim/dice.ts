import { seeded } from '../../sim/miners.ts'

/** Random choices of a simulation. The same seed gives the same choices. */
export class Dice {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = seeded(seed)
    // Without this, close seeds would begin with similar numbers.
    for (let i = 0; i < 8; i++) this.#next()
  }

  /** Separate dice for one part of the world, so that its throws do not change those of other parts. */
  fork(): Dice {
    return new Dice(this.below(2 ** 32))
  }

  /** A number from 0 to below 1. */
  next(): number {
    return this.#next()
  }

  /** A whole number below the bound. */
  below(bound: number): number {
    return Math.floor(this.#next() * bound)
  }

  between(least: number, most: number): number {
    return least + this.#next() * (most - least)
  }

  chance(share: number): boolean {
    return this.#next() < share
  }

  /** An exponentially distributed waiting time with the given mean. */
  exponential(mean: number): number {
    return -Math.log(1 - this.#next()) * mean
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256))
  }

  shuffled<T>(values: readonly T[]): T[] {
    const mixed = [...values]
    for (let i = mixed.length - 1; i > 0; i--) {
      const other = this.below(i + 1)
      const kept = mixed[i] as T
      mixed[i] = mixed[other] as T
      mixed[other] = kept
    }
    return mixed
  }
}
