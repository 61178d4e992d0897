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
