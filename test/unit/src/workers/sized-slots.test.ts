import { expect, it } from 'vitest'
import { SizedSlots } from '../../../../src/workers/sized-slots.ts'

it('give the smallest that waits its turn, equal ones in order, and go on after one that failed', async () => {
  const slots = new SizedSlots(1)
  const turns: string[] = []
  const job = (name: string, size: number, fails = false): Promise<unknown> =>
    slots.run(size, async () => {
      turns.push(name)
      if (fails) throw new Error(name)
    })
  const jobs = [job('first', 9, true), job('large', 5), job('small', 1), job('also large', 5), job('also small', 1)]
  await Promise.allSettled(jobs)
  await job('last', 7)
  expect(turns).toEqual(['first', 'small', 'also small', 'large', 'also large', 'last'])
})

it('hold nothing of what was given up before its turn', async () => {
  const slots = new SizedSlots(1)
  const turns: string[] = []
  let end = (): void => {}
  const first = slots.run(9, () => new Promise<void>((resolve) => (end = resolve)))
  const caller = new AbortController()
  const job = (name: string, size: number, signal?: AbortSignal): Promise<string | null> => {
    const work = async (): Promise<string> => {
      turns.push(name)
      return name
    }
    return slots.run(size, work, signal)
  }
  const others = [job('given up', 1, caller.signal), job('second', 2)]
  caller.abort()
  expect(await others[0]).toBeNull()
  end()
  await first
  expect(await others[1]).toBe('second')
  expect(await slots.run(1, async () => 'late', caller.signal)).toBe('late')
  expect(turns).toEqual(['second'])
})
