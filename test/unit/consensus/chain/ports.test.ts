import { describe, expect, it } from 'vitest'
import { type Pacer, runPaced, UNPACED } from '../../../../consensus/chain/ports.ts'

/** Three steps that record when they run. */
function* steps(seen: string[]): Generator<void, string> {
  for (const step of ['one', 'two', 'three']) {
    seen.push(step)
    yield
  }
  return 'done'
}

/** A pacer whose slices have `length` steps. */
function slices(length: number, seen: string[]): Pacer {
  let left = length
  return {
    due: () => --left === 0,
    pause: async () => {
      await Promise.resolve()
      left = length
      seen.push('pause')
    },
  }
}

describe('a paced computation', () => {
  it.each([
    [1, ['one', 'pause', 'two', 'pause', 'three', 'pause']],
    [2, ['one', 'two', 'pause', 'three']],
    [4, ['one', 'two', 'three']],
  ])('pauses after every %i steps, goes on behind the pause and gives its result', async (length, expected) => {
    const seen: string[] = []
    expect(await runPaced(steps(seen), slices(length, seen))).toBe('done')
    expect(seen).toEqual(expected)
  })

  it('runs through where nothing else waits', async () => {
    const seen: string[] = []
    const result = runPaced(steps(seen), UNPACED)
    expect(seen).toEqual(['one', 'two', 'three'])
    expect(await result).toBe('done')
    await UNPACED.pause()
  })

  it('that fails behind a pause fails', async () => {
    function* failing(): Generator<void, never> {
      yield
      throw new Error('broken')
    }
    await expect(runPaced(failing(), slices(1, []))).rejects.toThrow('broken')
  })
})
