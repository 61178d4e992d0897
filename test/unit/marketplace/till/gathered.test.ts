import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Gathered } from '../../../../marketplace/till/gathered.ts'

describe('questions that are gathered', () => {
  it('go in groups, the next one when the last is answered, each key apart', async () => {
    const asked: (readonly number[])[] = []
    const open: (() => void)[] = []
    const gathered = new Gathered(async (numbers: readonly number[]) => {
      asked.push(numbers)
      await new Promise<void>((resolve) => open.push(resolve))
      return numbers.map((number) => number * 10)
    })
    const first = [1, 2].map((number) => gathered.ask('a', number))
    await setImmediate()
    const second = [3, 4, 5].map((number) => gathered.ask('a', number))
    const other = gathered.ask('b', 6)
    await setImmediate()
    expect(asked).toEqual([[1, 2], [6]])
    for (const answer of open.splice(0)) answer()
    expect(await Promise.all([...first, other])).toEqual([10, 20, 60])
    await setImmediate()
    expect(asked).toEqual([[1, 2], [6], [3, 4, 5]])
    open.pop()?.()
    expect(await Promise.all(second)).toEqual([30, 40, 50])
    const late = gathered.ask('a', 7)
    await setImmediate()
    open.pop()?.()
    expect(await late).toBe(70)
  })

  it('fail as a group, and the next group does not', async () => {
    const gathered = new Gathered(async (numbers: readonly number[]) => {
      if (numbers.includes(2)) throw new Error('away')
      return numbers
    })
    const failed = await Promise.allSettled([1, 2].map((number) => gathered.ask('a', number)))
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await gathered.ask('a', 3)).toBe(3)
  })

  it('have a greatest size', async () => {
    const sizes: number[] = []
    const gathered = new Gathered(async (numbers: readonly number[]) => {
      sizes.push(numbers.length)
      return numbers
    })
    await Promise.all(Array.from({ length: 600 }, (_, i) => gathered.ask('a', i)))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(600)
  })
})
