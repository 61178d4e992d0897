/** Runs at most a number of works at the same time, in the order in which they came. */
export class Lanes {
  readonly #waiting: (() => void)[] = []
  #most: number
  #busy = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Sets how many works may run. Those that run go on. */
  widen(most: number): void {
    this.#most = most
    this.#next()
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.#waiting.push(begin)
      this.#next()
    })
    try {
      return await work()
    } finally {
      this.#busy -= 1
      this.#next()
    }
  }

  #next(): void {
    while (this.#busy < this.#most) {
      const begin = this.#waiting.shift()
      if (begin === undefined) return
      this.#busy += 1
      begin()
    }
  }
}
