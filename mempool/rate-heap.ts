import { effectiveRate, type MempoolEntry } from './entry.ts'

interface Ranked {
  readonly rate: bigint
  readonly entry: MempoolEntry
}

/** A binary heap by fee rate; the earlier arrival wins a tie. */
export class RateHeap {
  readonly #items: Ranked[] = []
  readonly #baseFee: bigint

  constructor(baseFee: bigint) {
    this.#baseFee = baseFee
  }

  push(entry: MempoolEntry): void {
    this.#items.push({ rate: effectiveRate(entry, this.#baseFee), entry })
    for (let at = this.#items.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!this.#before(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  /** Takes out the dearest entry. */
  pop(): MempoolEntry | undefined {
    const top = this.#items[0]
    const last = this.#items.pop()
    if (top === undefined || last === undefined) return undefined
    if (this.#items.length > 0) {
      this.#items[0] = last
      this.#sink()
    }
    return top.entry
  }

  #sink(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      let best = this.#before(left, at) ? left : at
      if (this.#before(left + 1, best)) best = left + 1
      if (best === at) return
      this.#swap(at, best)
      at = best
    }
  }

  /** Whether the item at `a`, if there is one, leaves before the one at `b`. */
  #before(a: number, b: number): boolean {
    const left = this.#items[a]
    const right = this.#items[b]
    if (left === undefined || right === undefined) return false
    return left.rate !== right.rate ? left.rate > right.rate : left.entry.sequence < right.entry.sequence
  }

  #swap(a: number, b: number): void {
    const kept = this.#items[a] as Ranked
    this.#items[a] = this.#items[b] as Ranked
    this.#items[b] = kept
  }
}
