import { describe, expect, it } from 'vitest'
import type { MempoolEntry } from '../../../mempool/account-queue.ts'
import { RateHeap } from '../../../mempool/mempool.ts'
import { entryOf, nameOf } from '../../support/mempool.ts'

const BASE_FEE = 32n

function heapOf(entries: readonly MempoolEntry[], baseFee = BASE_FEE): RateHeap {
  const heap = new RateHeap(baseFee)
  for (const entry of entries) heap.push(entry)
  return heap
}

function drain(heap: RateHeap): readonly MempoolEntry[] {
  const drained: MempoolEntry[] = []
  for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) drained.push(entry)
  return drained
}

function* permutations<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length === 0) yield []
  for (const [i, item] of items.entries()) for (const rest of permutations(items.toSpliced(i, 1))) yield [item, ...rest]
}

describe('a heap by fee rate', () => {
  it('is empty at first and after its last entry', () => {
    const heap = new RateHeap(BASE_FEE)
    expect(heap.pop()).toBeUndefined()
    const entry = entryOf()
    heap.push(entry)
    expect([heap.pop(), heap.pop()]).toEqual([entry, undefined])
  })

  it('gives the dearest first, and of equals the earlier arrival, whatever the order they came in', () => {
    const rates = [90, 70, 70, 70, 50, 40]
    const sorted = rates.map((rate, i) => entryOf({ account: i + 1, rate, sequence: i }))
    let orders = 0
    for (const order of permutations(sorted)) {
      expect(drain(heapOf(order)).map(nameOf)).toEqual(sorted.map(nameOf))
      orders++
    }
    expect(orders).toBe(720)
  })

  it('stays in order while entries come and go', () => {
    const [a, b, c, d, e] = [50, 80, 60, 90, 70].map((rate, i) => entryOf({ account: i + 1, rate, sequence: i })) as [
      ...[MempoolEntry, MempoolEntry, MempoolEntry, MempoolEntry, MempoolEntry],
    ]
    const heap = heapOf([a, b, c])
    expect(heap.pop()).toBe(b)
    heap.push(d)
    expect(heap.pop()).toBe(d)
    heap.push(e)
    expect(drain(heap)).toEqual([e, c, a])
  })

  it('ranks by what is paid at its base fee, not by what might be', () => {
    const patient = entryOf({ account: 1, maxFeeRate: 100n, tip: 1n, sequence: 0 })
    const hurried = entryOf({ account: 2, maxFeeRate: 50n, tip: 50n, sequence: 1 })
    // Rates at these base fees: 33 against 50, 50 against 50, 61 against 50.
    expect(drain(heapOf([patient, hurried], 32n)).map(nameOf)).toEqual(['2/0', '1/0'])
    expect(drain(heapOf([hurried, patient], 49n)).map(nameOf)).toEqual(['1/0', '2/0'])
    expect(drain(heapOf([hurried, patient], 60n)).map(nameOf)).toEqual(['1/0', '2/0'])
  })

  it('keeps rates apart that a floating-point number could not', () => {
    const high = (1n << 60n) + 1n
    const entries = [high - 1n, high, high - 1n].map((rate, i) =>
      entryOf({ account: i + 1, maxFeeRate: rate, tip: rate, sequence: i }),
    )
    expect(drain(heapOf(entries)).map(nameOf)).toEqual(['2/0', '1/0', '3/0'])
  })
})
