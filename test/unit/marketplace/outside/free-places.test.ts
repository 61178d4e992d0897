import { expect, it } from 'vitest'
import { FreePlaces } from '../../../../marketplace/outside/free-places.ts'

it('gives a free place to who had one the longest time ago, however much of another waits', async () => {
  const places = new FreePlaces({ atOnce: 1, perWho: 1, perWhat: 1 })
  const turns: string[] = []
  const asked = (who: string): Promise<unknown> =>
    places.run({ who, what: who, signal: AbortSignal.timeout(5_000) }, async () => turns.push(who))
  await Promise.all(['greedy', 'greedy', 'greedy', 'other', 'greedy', 'other', 'late'].map(asked))
  expect(turns).toEqual(['greedy', 'other', 'late', 'greedy', 'other', 'greedy', 'greedy'])
})

it('lets servers of several greedy callers keep a new one waiting for one place, not for all of theirs', async () => {
  const places = new FreePlaces({ atOnce: 4, perWho: 2, perWhat: 2 })
  const ends: (() => void)[] = []
  let isServed = false
  const greedy = (who: number, what: number): Promise<unknown> =>
    places.run({ who: `${who}`, what: `${what}`, signal: AbortSignal.timeout(5_000) }, () => {
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const all = [0, 1, 2, 3].flatMap((who) => Array.from({ length: 8 }, (_, i) => greedy(who, who * 8 + i)))
  const victim = places.run({ who: 'victim', what: 'victim', signal: AbortSignal.timeout(5_000) }, async () => {
    isServed = true
  })
  // The first two go to callers that had none yet, and came before.
  for (let ended = 0; ended < 3; ended++) {
    ends.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(isServed).toBe(true)
  await victim
  for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
    end()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(all)
})
