import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LruMap } from '../../../../consensus/primitives/lru.ts'

function filled(limit: number, ...keys: readonly string[]): LruMap<string, number> {
  const map = new LruMap<string, number>(limit)
  keys.forEach((key, i) => {
    map.set(key, i)
  })
  return map
}

/** Heap bytes after a garbage collection. */
function liveBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/** How many bytes five million turns leave on the heap. */
function bytesLeftBy(turn: (i: number) => void): number {
  const before = liveBytes()
  for (let i = 0; i < 5_000_000; i++) turn(i)
  return liveBytes() - before
}

describe('a map that is far from full', () => {
  const BYTES_MAX = 1_000_000

  it('holds no more after five million reads of one key', () => {
    const map = filled(50_000, 'a')
    expect(bytesLeftBy(() => map.get('a'))).toBeLessThan(BYTES_MAX)
    expect(map.size).toBe(1)
  })

  it('holds no more after five million reads of a few keys in turn', () => {
    const keys = ['a', 'b', 'c', 'd', 'e']
    const map = filled(50_000, ...keys)
    expect(bytesLeftBy((i) => map.get(keys[i % keys.length] as string))).toBeLessThan(BYTES_MAX)
    expect(map.size).toBe(keys.length)
  })

  it('holds no more after five million writes of one key', () => {
    const map = filled(50_000, 'a')
    expect(bytesLeftBy((i) => map.set('a', i))).toBeLessThan(BYTES_MAX)
    expect(map.size).toBe(1)
  })

  it('holds no more after five million keys that came and went', () => {
    const map = new LruMap<number, number>(50_000)
    const left = bytesLeftBy((i) => {
      map.set(i, i)
      map.delete(i)
    })
    expect(left).toBeLessThan(BYTES_MAX)
    expect(map.size).toBe(0)
  })
})

describe('a map that is full', () => {
  it('holds no more after five million reads and new keys', () => {
    const map = new LruMap<number, number>(100)
    for (let i = -100; i < 0; i++) map.set(i, i)
    const left = bytesLeftBy((i) => {
      map.set(i, i)
      map.get(i - 50)
    })
    expect(left).toBeLessThan(1_000_000)
    expect(map.size).toBe(100)
  })
})

describe('a map of recently used entries', () => {
  it('keeps as many as its limit and drops the oldest', () => {
    const map = filled(2, 'a', 'b', 'c')
    expect([map.size, map.has('a'), map.get('b'), map.get('c')]).toEqual([2, false, 1, 2])
  })

  it('keeps what was read or written last', () => {
    const map = filled(2, 'a', 'b')
    map.get('a')
    map.set('c', 9)
    expect([map.has('a'), map.has('b'), map.has('c')]).toEqual([true, false, true])
    map.set('a', 10)
    map.set('d', 11)
    expect([map.get('a'), map.has('c'), map.get('d')]).toEqual([10, false, 11])
  })

  it('is not refreshed by asking whether a key is there', () => {
    const map = filled(2, 'a', 'b')
    map.has('a')
    map.set('c', 2)
    expect(map.has('a')).toBe(false)
  })

  it('knows nothing of what was deleted or cleared', () => {
    const map = filled(3, 'a', 'b')
    map.delete('a')
    map.delete('never there')
    expect([map.size, map.get('a'), map.get('b')]).toEqual([1, undefined, 1])
    map.clear()
    expect([map.size, map.get('b')]).toEqual([0, undefined])
  })

  it('with limit 0 keeps nothing', () => {
    const map = filled(0, 'a')
    expect([map.size, map.get('a')]).toEqual([0, undefined])
  })

  it('behaves as a list that is sorted by last use', () => {
    const steps = fc.array(
      fc.record({ step: fc.constantFrom('get', 'set', 'delete', 'has'), key: fc.nat({ max: 6 }), value: fc.nat() }),
      { maxLength: 80 },
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), steps, (limit, list) => {
        const map = new LruMap<number, number>(limit)
        let model: [number, number][] = []
        for (const { step, key, value } of list) {
          const found = model.find(([other]) => other === key)
          const others = model.filter(([other]) => other !== key)
          if (step === 'get') {
            expect(map.get(key)).toBe(found?.[1])
            if (found !== undefined) model = [...others, found]
          } else if (step === 'set') {
            map.set(key, value)
            model = [...others, [key, value] as [number, number]].slice(-limit)
          } else if (step === 'delete') {
            map.delete(key)
            model = others
          } else expect(map.has(key)).toBe(found !== undefined)
          expect(map.size).toBe(model.length)
        }
      }),
      { numRuns: 300 },
    )
  })
})
