import { describe, expect, it } from 'vitest'
import { fault } from '../../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import type { ChatAnswer, DeltaSink, Heard, ModelBackend } from '../../../../../marketplace/chat/models/backend.ts'
import { ModelPool } from '../../../../../marketplace/chat/models/pool.ts'
import { ManualTime } from '../../../../support/manual-time.ts'

const TIMEOUT_MS = 60_000
const ANSWER: ChatAnswer = {
  ...{ message: { role: 'assistant', content: 'Hi' }, text: 'Hi', model: 'm', finishReason: 'stop' },
  ...{ usage: null, skipped: 0 },
}
const REQUEST = { role: 'general', messages: [{ role: 'user', content: 'Hi' }], maxTokens: 10 } as const

/**
 * Sends a piece every `everyMs`, `pieces` in all, and answers after the last one. With `endless`, or without pieces, it
 * never answers.
 */
interface Pace {
  readonly everyMs: number
  readonly pieces: number
  readonly endless?: true
}

/** A pool with one slow backend. `pace` says how each call of it goes. */
function poolAt(pace: (call: number) => Pace) {
  const time = new ManualTime()
  let calls = 0
  const paced = (tell: () => unknown, signal: AbortSignal): Promise<Result<ChatAnswer>> => {
    const { everyMs, pieces, endless } = pace(++calls)
    return new Promise((resolve) => {
      let said = 0
      const next = async (): Promise<void> => {
        if (signal.aborted) return
        said += 1
        await tell()
        if (said < pieces) time.after(everyMs, () => void next())
        else if (endless !== true) resolve(ok(ANSWER))
      }
      signal.addEventListener('abort', () => resolve(fail(fault('model/timeout', { backend: 'slow' }))), { once: true })
      if (pieces > 0) time.after(everyMs, () => void next())
    })
  }
  const backend: ModelBackend = {
    id: 'slow',
    complete: (_, signal, heard: Heard = () => {}) => paced(heard, signal),
    stream: (_, sink, signal) => paced(() => sink({ content: 'word ' }), signal),
    picture: async () => fail(fault('model/cut', { backend: 'slow' })),
    check: async () => ok(null),
  }
  const facts = { roles: ['general'], context: 4_096, supports: new Set(), declaredParameters: null }
  const models = [
    { ...facts, id: 'm' },
    { ...facts, id: 'other', roles: ['code'] },
  ]
  const limits = { rpm: null, tpm: null, concurrency: 8, priority: 0, timeoutMs: TIMEOUT_MS }
  const entries = [{ backend, models, limits }] as never
  return { time, pool: new ModelPool({ entries, clock: time, timers: time, random: () => 0 }) }
}

const never = (): AbortSignal => new AbortController().signal
const NO_READER: DeltaSink = () => undefined
const DEAD: Pace = { everyMs: 0, pieces: 0 }

/** Makes calls in sequence, and returns whether the backend is asked afterwards. */
async function isAskedAfter(
  { pool, time }: ReturnType<typeof poolAt>,
  calls: number,
  call: () => Promise<Result<unknown>>,
): Promise<boolean> {
  await pool.start()
  for (let i = 0; i < calls; i++) await time.runUntil(call())
  pool.stop()
  return pool.readiness('general').available
}

describe('a model that is slow', () => {
  it('is listened to as long as something comes, in pieces or as a whole', async () => {
    const { pool, time } = poolAt(() => ({ everyMs: 59_000, pieces: 20 }))
    expect(await time.runUntil(pool.stream(REQUEST, NO_READER, never()))).toMatchObject({ ok: true })
    expect(await time.runUntil(pool.complete(REQUEST, never()))).toMatchObject({ ok: true })
    expect(time.now()).toBe(2 * 20 * 59_000)
    expect(pool.facts[0]?.totals).toMatchObject({ calls: 2, failures: 0 })
  })

  it('is given up when nothing more comes, and left alone when that goes on', async () => {
    const world = poolAt(() => ({ everyMs: 59_000, pieces: 3, endless: true }))
    const { pool, time } = world
    expect(await time.runUntil(pool.stream(REQUEST, NO_READER, never()))).toMatchObject({
      fault: { code: 'model/timeout' },
    })
    expect(time.now()).toBe(3 * 59_000 + TIMEOUT_MS)
    expect(await isAskedAfter(world, 4, () => pool.stream(REQUEST, NO_READER, never()))).toBe(false)
  })

  it('is not to blame where the time of its callers is too short for it', async () => {
    const world = poolAt(() => ({ everyMs: 10_000, pieces: 1_000 }))
    const { pool, time } = world
    const asked = await isAskedAfter(world, 25, () => {
      const caller = new AbortController()
      time.after(125_000, () => caller.abort(new DOMException('late', 'TimeoutError')))
      return pool.stream(REQUEST, NO_READER, caller.signal)
    })
    expect(asked).toBe(true)
    expect(pool.facts[0]?.totals).toMatchObject({ calls: 25, failures: 0 })
  })

  it('is not to blame for a slow reader', async () => {
    const { pool, time } = poolAt(() => ({ everyMs: 1_000, pieces: 2 }))
    let go = (): void => {}
    const slowly: DeltaSink = () =>
      new Promise((resolve) => {
        go = resolve
      })
    const answer = pool.stream(REQUEST, slowly, never())
    // The question is sent before time passes.
    await time.passAll(0)
    for (let piece = 0; piece < 2; piece++) {
      await time.passAll(5 * TIMEOUT_MS)
      go()
    }
    expect(await time.runUntil(answer)).toMatchObject({ ok: true })
  })

  it('is not to blame for a line of questions that it works through one by one', async () => {
    // Of every four, one is answered while the others wait.
    const world = poolAt((call) => (call % 4 === 1 ? { everyMs: 50_000, pieces: 1 } : DEAD))
    const { pool } = world
    const four = async (): Promise<Result<unknown>> => {
      const all = await Promise.all(Array.from({ length: 4 }, () => pool.complete(REQUEST, never())))
      expect(all.map(({ ok: isWell }) => isWell)).toEqual([true, false, false, false])
      return all[0] as Result<unknown>
    }
    expect(await isAskedAfter(world, 10, four)).toBe(true)
  })
})

describe('a model that is dead', () => {
  it('is left alone, whatever the other models of its server say', async () => {
    const world = poolAt((call) => (call % 3 === 0 ? { everyMs: 50_000, pieces: 1 } : DEAD))
    const { pool } = world
    const three = async (): Promise<Result<unknown>> => {
      const ask = (role: 'general' | 'code') => pool.complete({ ...REQUEST, role }, never())
      const [one] = await Promise.all([ask('general'), ask('general'), ask('code')])
      return one
    }
    expect(await isAskedAfter(world, 7, three)).toBe(false)
  })
})
