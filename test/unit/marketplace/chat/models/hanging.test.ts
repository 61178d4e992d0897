import { expect, it } from 'vitest'
import { fault } from '../../../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../../../consensus/primitives/result.ts'
import type { ModelBackend } from '../../../../../marketplace/chat/models/backend.ts'
import { ModelPool } from '../../../../../marketplace/chat/models/pool.ts'
import { ManualTime } from '../../../../support/manual-time.ts'

const LATE = new DOMException('late', 'TimeoutError')

/** Whether a silent backend is left alone after calls that are aborted for this reason after this time. */
async function isLeftAlone(reason: DOMException, afterMs: number): Promise<boolean> {
  const time = new ManualTime()
  const silent: ModelBackend['complete'] = (_, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(fail(fault('model/timeout', { backend: 'hung' }))), { once: true })
    })
  const backend = { id: 'hung', complete: silent, stream: silent, picture: silent, check: async () => ok(null) }
  const model = { id: 'm', roles: ['general'], context: 4_096, supports: new Set(), declaredParameters: null }
  const limits = { rpm: null, tpm: null, concurrency: 8, priority: 0, timeoutMs: 60_000 }
  const entries = [{ backend, models: [model], limits }] as never
  const pool = new ModelPool({ entries, clock: time, timers: time, random: () => 0 })
  await pool.start()
  for (let call = 0; call < 5; call++) {
    const caller = new AbortController()
    const messages = [{ role: 'user', content: 'Hi' }] as const
    const answer = pool.complete({ role: 'general', messages, maxTokens: 10 }, caller.signal)
    // The question is sent before time passes.
    await time.passAll(0)
    await time.passAll(afterMs)
    caller.abort(reason)
    expect((await answer).ok).toBe(false)
  }
  const { available } = pool.readiness('general')
  pool.stop()
  return !available
}

it('a backend that never answers within the time of services is left alone', async () => {
  expect(await isLeftAlone(LATE, 59_000)).toBe(true)
})

it('one whose callers had little time, or went away, is not', async () => {
  expect(await isLeftAlone(LATE, 1_000)).toBe(false)
  expect(await isLeftAlone(new DOMException('gone', 'AbortError'), 59_000)).toBe(false)
})
