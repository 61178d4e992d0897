import { describe, expect, it } from 'vitest'
import { MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { keyValueStoreSuite } from '../../../contract/key-value-store.suite.ts'

keyValueStoreSuite('a store in memory', () => ({
  open: async () => new MemoryKeyValueStore(),
  remove: async () => {},
}))

const key = (...bytes: number[]) => Uint8Array.of(...bytes)

describe('a store in memory', () => {
  it('writes a batch before it says that it is durable', async () => {
    const store = new MemoryKeyValueStore()
    const seen: unknown[] = []
    await store.batch([{ key: key(1), value: key(10) }], () => seen.push(store.get(key(1))))
    expect(seen).toEqual([key(10)])
  })

  it('deletes what a batch names without a value, and keeps empty values', async () => {
    const store = new MemoryKeyValueStore()
    await store.batch(
      [
        { key: key(1), value: key(10) },
        { key: key(2), value: key() },
      ],
      () => {},
    )
    await store.batch([{ key: key(1) }], () => {})
    expect([store.get(key(1)), store.get(key(2))]).toEqual([undefined, key()])
  })

  it('lists a prefix in the order of its keys', async () => {
    const store = new MemoryKeyValueStore()
    const keys = [key(2, 0), key(1), key(2, 0xff), key(2), key(2, 0, 0), key(3)]
    await store.batch(
      keys.map((one) => ({ key: one, value: one })),
      () => {},
    )
    expect([...store.entries(key(2))].map(([found]) => [...found])).toEqual([[2], [2, 0], [2, 0, 0], [2, 0xff]])
    expect([...store.entries(key())].length).toBe(6)
  })
})
