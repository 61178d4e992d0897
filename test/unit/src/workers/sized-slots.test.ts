import { expect, it } from 'vitest'
import { SizedSlots } from '../../../../src/workers/sized-slots.ts'

it('give the smallest that waits its turn, equal ones in order, and go on after one that failed', async () => {
  const slots = new SizedSlots(1)
  const turns: string[] = []
  const job = (name: string, size: number, fails = false): Promise<void> =>
    slots.run(size, async () => {
      turns.push(name)
      if (fails) throw new Error(name)
    })
  const jobs = [job('first', 9, true), job('large', 5), job('small', 1), job('also large', 5), job('also small', 1)]
  await Promise.allSettled(jobs)
  await job('last', 7)
  expect(turns).toEqual(['first', 'small', 'also small', 'large', 'also large', 'last'])
})
