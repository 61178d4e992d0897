import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Shift } from '../../../miner/shift.ts'

/** A worker that stops slowly and records its calls. */
function slowWorker() {
  const said: string[] = []
  const rests: (() => void)[] = []
  return {
    said,
    start: () => void said.push('start'),
    stop: async () => {
      said.push('stop')
      await new Promise<void>((resolve) => rests.push(resolve))
      said.push('rests')
    },
    /** Completes all pending stops. */
    settle: async () => {
      await setImmediate()
      for (const rest of rests.splice(0)) rest()
      await setImmediate()
    },
  }
}

it('begins and ends as it is told', async () => {
  const worker = slowWorker()
  const shift = new Shift(worker)
  for (const wanted of [true, true, false, false]) shift.want(wanted)
  shift.want(true)
  await worker.settle()
  shift.want(false)
  await worker.settle()
  expect(worker.said).toEqual(['start', 'stop', 'rests'])
})

it('begins once, however often the wish changes before the rest', async () => {
  const worker = slowWorker()
  const shift = new Shift(worker)
  shift.want(true)
  await setImmediate()
  shift.want(false)
  await setImmediate()
  for (const wanted of [true, false, true, false, true]) {
    shift.want(wanted)
    await setImmediate()
  }
  expect(worker.said).toEqual(['start', 'stop'])
  await worker.settle()
  expect(worker.said).toEqual(['start', 'stop', 'rests', 'start'])
})

it('is not begun by a wish after the end, nor by one that waits at the end', async () => {
  const worker = slowWorker()
  const shift = new Shift(worker)
  shift.want(true)
  await setImmediate()
  shift.want(false)
  await setImmediate()
  shift.want(true)
  const ended = shift.end()
  shift.want(true)
  await worker.settle()
  await ended
  expect(worker.said).toEqual(['start', 'stop', 'rests'])
})
