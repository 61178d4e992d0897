import { effectiveRate, type MempoolEntry } from './entry.ts'
import { Heap } from './heap.ts'

interface Rated {
  readonly rate: bigint
  readonly entry: MempoolEntry
}

/** A heap by fee rate; the earlier arrival wins a tie. */
export class RateHeap {
  readonly #heap = new Heap<Rated>((a, b) =>
    a.rate !== b.rate ? a.rate > b.rate : a.entry.sequence < b.entry.sequence,
  )
  readonly #baseFee: bigint

  constructor(baseFee: bigint) {
    this.#baseFee = baseFee
  }

  push(entry: MempoolEntry): void {
    this.#heap.push({ rate: effectiveRate(entry, this.#baseFee), entry })
  }

  /** Takes out the dearest entry. */
  pop(): MempoolEntry | undefined {
    return this.#heap.pop()?.entry
  }
}
