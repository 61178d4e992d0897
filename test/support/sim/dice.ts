import { seeded } from '../../sim/miners.ts'

/** Random choices of a simulation: the same for the same seed. */
export class Dice {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = seeded(seed)
    // Seeds that are near each other begin alike otherwise.
    for (let i = 0; i < 8; i++) this.#next()
  }

  /** Dice of their own for a part of the world: what it throws changes nobody else's luck. */
  fork(): Dice {
    return new Dice(this.below(2 ** 32))
  }

  /** From 0 to below 1. */
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

  /** A waiting time of the given mean. */
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
