import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { repeat } from '../../../../src/daemon/open-core.ts'

it('what is repeated has ended once it is stopped', async () => {
  const work = { begun: 0, ended: 0 }
  const begun = new Promise<void>((resolve) => {
    const stop = repeat(
      1,
      async () => {
        work.begun += 1
        resolve()
        await setTimeout(20)
        work.ended += 1
      },
      () => {},
    )
    stops.push(stop)
  })
  await begun
  for (const stop of stops) await stop()
  expect(work.ended).toBe(work.begun)
})

it('a failure is told, and stops as well', async () => {
  const failures: unknown[] = []
  let stop: () => unknown = () => {}
  await new Promise<void>((resolve) => {
    stop = repeat(
      1,
      () => Promise.reject(new Error('the disk is full')),
      (error) => {
        failures.push(error)
        resolve()
      },
    )
  })
  await stop()
  expect(failures[0]).toEqual(new Error('the disk is full'))
})

const stops: (() => unknown)[] = []
