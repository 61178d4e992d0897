import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Turns } from '../../../../rpc/server/turns.ts'

/** Keeps the event loop busy. */
function work(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

it('does pieces of work in the order in which they came, and gives what each came to', async () => {
  const turns = new Turns()
  const done: number[] = []
  const all = await Promise.allSettled(
    [0, 1, 2, 3].map((i) =>
      turns.run<number | string>(() => {
        done.push(i)
        if (i === 2) throw new Error('two')
        return i === 3 ? Promise.resolve('later') : i
      }),
    ),
  )
  expect(done).toEqual([0, 1, 2, 3])
  expect(all.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message))).toEqual([
    0,
    1,
    'two',
    'later',
  ])
  expect(await turns.run(() => 'again')).toBe('again')
})

it('lets all other callers in between, however much is asked for at once', async () => {
  const turns = new Turns()
  const pieces = 20
  let done = 0
  let left = pieces
  const most: number[] = []
  for (let i = 0; i < pieces; i++)
    void turns.run(() => {
      work(10)
      done += 1
      left -= 1
    })
  while (left > 0) {
    done = 0
    await setImmediate()
    most.push(done)
  }
  expect(Math.max(...most)).toBe(1)
})
