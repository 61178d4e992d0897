import { expect, it } from 'vitest'
import { FreePlaces } from '../../../../marketplace/ports/free-places.ts'

it('gives a free place to the holder who had places for the shortest time, however much of another waits', async () => {
  let nowMs = 0
  const places = new FreePlaces({ atOnce: 1, perWho: 1, perWhat: 1 }, () => nowMs)
  const turns: string[] = []
  const asked = ([who, ms]: readonly [string, number]): Promise<unknown> =>
    places.run({ who, what: who, signal: AbortSignal.timeout(5_000) }, async () => {
      turns.push(who)
      nowMs += ms
    })
  const greedy = ['greedy', 1_500] as const
  const quick = ['quick', 10] as const
  await Promise.all([greedy, greedy, greedy, quick, quick, quick, ['slow', 1_600] as const, greedy].map(asked))
  expect(turns).toEqual(['greedy', 'quick', 'slow', 'quick', 'quick', 'greedy', 'greedy', 'greedy'])
  // A caller who was away saves up nothing.
  turns.length = 0
  const away = ['away', 2_000] as const
  await Promise.all([greedy, away, away, away, greedy, greedy].map(asked))
  expect(turns).toEqual(['greedy', 'away', 'greedy', 'away', 'greedy', 'away'])
})

it('gives all places away that an end makes room for', async () => {
  const places = new FreePlaces({ atOnce: 4, perWho: 2, perWhat: 2 })
  const ends: (() => void)[] = []
  const begun: string[] = []
  const asked = (who: string, what: string): Promise<unknown> =>
    places.run({ who, what, signal: AbortSignal.timeout(5_000) }, () => {
      begun.push(`${who} ${what}`)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const all = [asked('a', 'x'), asked('a', 'x'), asked('a', 'z'), asked('b', 'x')]
  ends.shift()?.()
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toEqual(['a x', 'a x', 'b x', 'a z'])
  for (const end of ends) end()
  await Promise.all(all)
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
  // The first two places that become free go to callers who came before and had none yet.
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
