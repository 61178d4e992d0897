import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import type {
  BackendEntry,
  ChatAnswer,
  DeltaSink,
  ModelBackend,
  ModelFacts,
} from '../../../../../marketplace/chat/models/backend.ts'
import { ModelPool } from '../../../../../marketplace/chat/models/pool.ts'
import type { ModelRequest } from '../../../../../marketplace/ports/models.ts'
import { ManualTime } from '../../../../support/manual-time.ts'

const REQUEST: ModelRequest = { role: 'general', messages: [{ role: 'user', content: 'Hello' }], maxTokens: 100 }
const ANSWER: ChatAnswer = {
  message: { role: 'assistant', content: 'Hi' },
  text: 'Hi',
  model: 'told',
  finishReason: 'stop',
  usage: { promptTokens: 5, completionTokens: 2 },
  skipped: 0,
}
const MODEL: ModelFacts = {
  id: 'm',
  roles: ['general'],
  context: 4_096,
  supports: new Set(),
  declaredParameters: null,
}
const UNREACHABLE = fault('model/unreachable', { backend: 'x', reason: 'ECONNREFUSED' })
const CUT = fault('model/cut', { backend: 'x' })

type Does = (sink: DeltaSink, signal: AbortSignal, call: number) => Promise<Result<ChatAnswer>>

/** A backend that answers as the test says, and counts its calls. */
function backendOf(id: string, does: Does) {
  const backend = {
    id,
    calls: 0,
    complete: (_: unknown, signal: AbortSignal) => does(async () => undefined, signal, ++backend.calls),
    stream: (_: unknown, sink: DeltaSink, signal: AbortSignal) => does(sink, signal, ++backend.calls),
    picture: async () => fail(CUT),
    check: async (): Promise<Result<readonly string[] | null>> => ok(null),
  }
  return backend satisfies ModelBackend
}

const says = async (): Promise<Result<ChatAnswer>> => ok(ANSWER)
const failsWith =
  (cause: Fault): Does =>
  async () =>
    fail(cause)
const untilAborted: Does = (_, signal) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(fail(fault('model/timeout', { backend: 'x' }))), { once: true })
  })

function entryOf(backend: ModelBackend, limits: Partial<BackendEntry['limits']> = {}, model = MODEL): BackendEntry {
  const usual = { rpm: null, tpm: null, concurrency: 2, priority: 0, timeoutMs: 1_000 }
  return { backend, models: [model], limits: { ...usual, ...limits } }
}

function poolOf(...entries: readonly BackendEntry[]) {
  const time = new ManualTime()
  return { time, pool: new ModelPool({ entries, clock: time, timers: time, random: () => 0.5 }) }
}

const never = (): AbortSignal => new AbortController().signal

describe('a pool of models', () => {
  it('asks by priority, and says who answered with what', async () => {
    const [dear, cheap] = [backendOf('dear', says), backendOf('cheap', says)]
    const { pool } = poolOf(entryOf(dear, { priority: 2 }), entryOf(cheap, { priority: 1 }))
    const answer = await pool.complete(REQUEST, never())
    const usage = { promptTokens: 5, completionTokens: 2, totalTokens: 7, estimated: false }
    expect(answer).toMatchObject({ ok: true, value: { text: 'Hi', backend: 'cheap', model: 'told', usage } })
    expect([dear.calls, cheap.calls]).toEqual([0, 1])
  })

  it('estimates what a backend does not count, and says so', async () => {
    const { pool } = poolOf(entryOf(backendOf('a', async () => ok({ ...ANSWER, usage: null }))))
    const answer = await pool.complete(REQUEST, never())
    expect(answer.ok && answer.value.usage).toEqual({
      promptTokens: 5,
      completionTokens: 1,
      totalTokens: 6,
      estimated: true,
    })
    expect(pool.facts[0]?.totals).toMatchObject({ calls: 1, failures: 0, usage: { totalTokens: 6, estimated: true } })
  })

  it('asks again what failed in passing, twice at most, then the next', async () => {
    const [broken, well] = [backendOf('broken', failsWith(UNREACHABLE)), backendOf('well', says)]
    const { pool, time } = poolOf(entryOf(broken), entryOf(well, { priority: 1 }))
    const answer = await time.runUntil(pool.complete(REQUEST, never()))
    expect(answer).toMatchObject({ ok: true, value: { backend: 'well' } })
    expect(broken.calls).toBe(3)
    // Half of 500 ms, then half of 1,000 ms.
    expect(time.waits).toEqual([250, 500])
  })

  it('waits as long as it is asked to, where that is bearable', async () => {
    const refused = fault('model/refused', { backend: 'a', reason: 'status 429', status: 429, retryAfterMs: 3_000 })
    const busy = backendOf('a', async (_, __, call) => (call === 1 ? fail(refused) : ok(ANSWER)))
    const { pool, time } = poolOf(entryOf(busy))
    expect(await time.runUntil(pool.complete(REQUEST, never()))).toMatchObject({ ok: true })
    expect(time.waits).toEqual([3_000])
  })

  it('leaves alone for as long as it is asked to, where that is too long to wait', async () => {
    const detail = { backend: 'a', reason: 'status 429', status: 429, retryAfterMs: 60_000 }
    const busy = backendOf('a', async (_, __, call) => (call === 1 ? fail(fault('model/refused', detail)) : ok(ANSWER)))
    const { pool, time } = poolOf(entryOf(busy))
    await pool.start()
    expect(await pool.complete(REQUEST, never())).toMatchObject({ ok: false, fault: { code: 'model/refused' } })
    expect(pool.readiness('general')).toMatchObject({ available: false })
    expect(await pool.complete(REQUEST, never())).toMatchObject({ ok: false, fault: { code: 'model/none' } })
    time.pass(60_000)
    expect(await pool.complete(REQUEST, never())).toMatchObject({ ok: true })
    expect(busy.calls).toBe(2)
    pool.stop()
  })

  it('asks the next only while nothing of an answer was handed on', async () => {
    const halfway: Does = async (sink) => {
      await sink({ role: 'assistant', content: '' })
      await sink({ content: 'Half' })
      return fail(CUT)
    }
    const silent: Does = async (sink) => {
      await sink({ role: 'assistant', content: '' })
      return fail(CUT)
    }
    const well: Does = async (sink) => {
      await sink({ role: 'assistant' })
      await sink({ content: 'Hi' })
      return ok(ANSWER)
    }
    const seen = async (first: Does) => {
      const [one, two] = [backendOf('one', first), backendOf('two', well)]
      const { pool, time } = poolOf(entryOf(one), entryOf(two))
      const deltas: unknown[] = []
      const request = { ...REQUEST, messages: [{ role: 'user', content: 'Hello' }] }
      const answer = await time.runUntil(pool.stream(request, (delta) => void deltas.push(delta), never()))
      return { ok: answer.ok, deltas, second: two.calls }
    }
    expect(await seen(halfway)).toEqual({
      ok: false,
      deltas: [{ role: 'assistant', content: '' }, { content: 'Half' }],
      second: 0,
    })
    expect(await seen(silent)).toEqual({ ok: true, deltas: [{ role: 'assistant' }, { content: 'Hi' }], second: 1 })
  })

  it('gives each attempt its time, and the next backend its own', async () => {
    const [slow, well] = [backendOf('slow', untilAborted), backendOf('well', says)]
    const { pool, time } = poolOf(entryOf(slow, { timeoutMs: 700 }), entryOf(well))
    expect(await time.runUntil(pool.complete(REQUEST, never()))).toMatchObject({ ok: true, value: { backend: 'well' } })
    expect([slow.calls, time.now()]).toEqual([1, 700])
  })

  it('ends what is under way when the caller gives up, and blames no backend', async () => {
    const slow = backendOf('slow', untilAborted)
    const { pool } = poolOf(entryOf(slow), entryOf(backendOf('other', says), { priority: 1 }))
    await pool.start()
    const caller = new AbortController()
    const asked = pool.complete(REQUEST, caller.signal)
    await setImmediate()
    expect(pool.facts[0]).toMatchObject({ inside: 1 })
    caller.abort()
    expect(await asked).toMatchObject({ ok: false, fault: { code: 'model/timeout' } })
    expect(pool.facts[0]).toMatchObject({ usable: true, trouble: null, inside: 0, totals: { failures: 0 } })
    expect(await pool.complete(REQUEST, caller.signal)).toMatchObject({ ok: false, fault: { code: 'model/timeout' } })
    expect(slow.calls).toBe(1)
    pool.stop()
  })

  it('turns a caller away if the line is too long', async () => {
    const slow = backendOf('slow', untilAborted)
    const { pool } = poolOf(entryOf(slow, { concurrency: 1 }))
    const caller = new AbortController()
    const waiting = Array.from({ length: 9 }, () => pool.complete(REQUEST, caller.signal))
    expect(await pool.complete(REQUEST, never())).toMatchObject({ ok: false, fault: { code: 'model/busy' } })
    expect(pool.facts[0]).toMatchObject({ inside: 1, waiting: 8 })
    caller.abort()
    for (const one of await Promise.all(waiting)) expect(one).toMatchObject({ fault: { code: 'model/timeout' } })
    expect(pool.facts[0]).toMatchObject({ inside: 0, waiting: 0 })
  })

  it('stops asking a backend that does not know the key any more', async () => {
    const locked = fault('model/refused', { backend: 'a', reason: 'status 401', status: 401 })
    const backend = backendOf('a', failsWith(locked))
    const { pool } = poolOf(entryOf(backend))
    await pool.start()
    await pool.complete(REQUEST, never())
    await pool.complete(REQUEST, never())
    expect(backend.calls).toBe(1)
    expect(pool.readiness('general')).toMatchObject({ available: false, requires: [] })
    pool.stop()
  })

  it.each([500, 403, 408, 429])(
    'asks a backend for paid work whatever free requests fail at (status %d)',
    async (status) => {
      const failed = fault('model/refused', { backend: 'a', reason: `status ${status}`, status })
      const backend = backendOf('a', failsWith(failed))
      const { pool, time } = poolOf(entryOf(backend))
      await pool.start()
      for (let i = 0; i < 30; i++) {
        void pool.complete({ ...REQUEST, isFree: true }, never())
        await time.passAll(2_000)
      }
      expect([pool.readiness('general').available, pool.readiness('general', true).available]).toEqual([true, false])
      expect(pool.facts[0]).toMatchObject({ usable: false })
      const calls = backend.calls
      void pool.complete({ ...REQUEST, isFree: true }, never())
      void pool.complete(REQUEST, never())
      await time.passAll(2_000)
      expect(backend.calls).toBeGreaterThan(calls)
      pool.stop()
    },
  )

  it.each([
    ['model/unreachable', undefined],
    ['model/refused', 401],
  ] as const)('asks one for nothing that free requests show to be away (%s)', async (code, status) => {
    const gone = fault(code, { backend: 'a', reason: 'gone', ...(status && { status }) })
    const { pool, time } = poolOf(entryOf(backendOf('a', failsWith(gone))))
    await pool.start()
    for (let i = 0; i < 5; i++) {
      void pool.complete({ ...REQUEST, isFree: true }, never())
      await time.passAll(2_000)
    }
    expect(pool.readiness('general').available).toBe(false)
    pool.stop()
  })

  it('asks one for nothing free either that paid work fails at, and both again once one goes well', async () => {
    const failed = fault('model/refused', { backend: 'a', reason: 'status 423', status: 423 })
    let isIll = true
    const backend = backendOf('a', async () => (isIll ? fail(failed) : ok(ANSWER)))
    const { pool, time } = poolOf(entryOf(backend))
    await pool.start()
    for (let i = 0; i < 5; i++) await pool.complete(REQUEST, never())
    expect([pool.readiness('general').available, pool.readiness('general', true).available]).toEqual([false, false])
    isIll = false
    await time.passAll(30_000)
    expect((await pool.complete({ ...REQUEST, isFree: true }, never())).ok).toBe(true)
    expect((await pool.complete(REQUEST, never())).ok).toBe(true)
    expect([pool.readiness('general').available, pool.readiness('general', true).available]).toEqual([true, true])
    pool.stop()
  })

  it('goes on with a backend that forbids one question', async () => {
    const forbidden = fault('model/refused', { backend: 'a', reason: 'status 403', status: 403 })
    const backend = backendOf('a', async (_, __, call) => (call === 1 ? fail(forbidden) : ok(ANSWER)))
    const { pool } = poolOf(entryOf(backend))
    await pool.start()
    expect((await pool.complete(REQUEST, never())).ok).toBe(false)
    expect([pool.readiness('general').available, pool.readiness('general', true).available]).toEqual([true, true])
    expect((await pool.complete(REQUEST, never())).ok).toBe(true)
    pool.stop()
  })

  it('goes on with a backend that forbids a few paid questions in a row, and leaves one alone that forbids all of them', async () => {
    const forbidden = fault('model/refused', { backend: 'a', reason: 'status 403', status: 403 })
    const { pool, time } = poolOf(entryOf(backendOf('a', failsWith(forbidden))))
    await pool.start()
    for (let i = 0; i < 30; i++) await pool.complete(REQUEST, never())
    expect([pool.readiness('general').available, pool.readiness('general', true).available]).toEqual([true, true])
    for (let i = 0; i < 4; i++) {
      await time.passAll(15_000)
      await pool.complete(REQUEST, never())
    }
    expect([pool.readiness('general').available, pool.readiness('general', true).available]).toEqual([false, false])
    pool.stop()
  })

  it('keeps a backend for paid work whose check is put off by too many requests', async () => {
    const backend = backendOf('a', says)
    const { pool, time } = poolOf(entryOf(backend))
    await pool.start()
    const detail = { backend: 'a', reason: 'status 429', status: 429, retryAfterMs: 3_600_000 }
    backend.check = async () => fail(fault('model/refused', detail))
    await time.passAll(300_000)
    expect([pool.readiness('general').available, pool.readiness('general', true).available]).toEqual([true, false])
    pool.stop()
  })

  it('keeps paid work from none that asks for a pause while free requests are sent', async () => {
    const detail = { backend: 'a', reason: 'status 429', status: 429, retryAfterMs: 60_000 }
    const backend = backendOf('a', async (_, __, call) =>
      call === 1 ? fail(fault('model/refused', detail)) : ok(ANSWER),
    )
    const { pool } = poolOf(entryOf(backend))
    await pool.start()
    expect((await pool.complete({ ...REQUEST, isFree: true }, never())).ok).toBe(false)
    expect([pool.readiness('general').available, pool.readiness('general', true).available]).toEqual([true, false])
    expect((await pool.complete(REQUEST, never())).ok).toBe(true)
    pool.stop()
  })

  it('does not blame a backend for what was asked of it', async () => {
    const rejected = fault('model/refused', { backend: 'a', reason: 'status 400', status: 400 })
    const { pool } = poolOf(entryOf(backendOf('a', failsWith(rejected))))
    await pool.start()
    for (let i = 0; i < 30; i++) await pool.complete(REQUEST, never())
    expect(pool.readiness('general')).toEqual({ available: true, engine: 'a/m' })
    pool.stop()
  })

  it('is ready only for roles that are there and answer', async () => {
    const ill = backendOf('ill', says)
    ill.check = async () => fail(UNREACHABLE)
    const { pool, time } = poolOf(entryOf(ill))
    expect(pool.readiness('image')).toMatchObject({ available: false, requires: ['models.file', 'models.gguf'] })
    await pool.start()
    expect(pool.readiness('general')).toMatchObject({ available: false, requires: [] })
    ill.check = async () => ok(null)
    await time.passAll(30_000)
    expect(pool.readiness('general')).toEqual({ available: true, engine: 'ill/m' })
    pool.stop()
  })

  it('tells the time until a backend is asked again', async () => {
    const detail = { backend: 'a', reason: 'status 429', status: 429, retryAfterMs: 90_000 }
    const refused = fault('model/refused', detail)
    const [one, two] = [backendOf('a', failsWith(refused)), backendOf('b', failsWith(refused))]
    const { pool, time } = poolOf(entryOf(one), entryOf(two, {}, { ...MODEL, roles: ['code'] }))
    await pool.start()
    expect(pool.restMs(['general'])).toBe(0)
    expect(pool.restMs(['speech'])).toBe(null)
    await pool.complete(REQUEST, never())
    expect([pool.restMs(['general']), pool.restMs(['general', 'code'])]).toEqual([90_000, 0])
    time.pass(20_000)
    expect(pool.restMs(['general'])).toBe(70_000)
    const none = { code: 'model/none', detail: { retryAfterMs: 70_000 } }
    expect(await pool.complete(REQUEST, never())).toMatchObject({ ok: false, fault: none })
    pool.stop()
  })

  it('asks one that was never reached after its next check', async () => {
    const ill = backendOf('ill', says)
    ill.check = async () => fail(UNREACHABLE)
    const { pool, time } = poolOf(entryOf(ill))
    await pool.start()
    time.pass(10_000)
    expect(pool.restMs(['general'])).toBe(20_000)
    pool.stop()
  })

  it('names the setting where a backend cannot get well by itself', async () => {
    const own = { ...backendOf('own', says), requires: ['models.gguf'], check: async () => fail(UNREACHABLE) }
    const alone = poolOf(entryOf(own)).pool
    const { pool } = poolOf(entryOf(own), entryOf(backendOf('b', failsWith(UNREACHABLE)), { priority: 1 }))
    expect(alone.readiness('general')).toMatchObject({ available: false, requires: [] })
    await Promise.all([alone.start(), pool.start()])
    expect(alone.readiness('general')).toMatchObject({ available: false, requires: ['models.gguf'] })
    expect(pool.readiness('general')).toEqual({ available: true, engine: 'b/m' })
    alone.stop()
    pool.stop()
  })

  it('names models that a server does not list, and asks it all the same', async () => {
    const part = backendOf('part', says)
    const ids = ['m', 'n', 'o']
    const entry = { ...entryOf(part), models: ids.map((id) => ({ ...MODEL, id })) }
    const { pool } = poolOf(entry)
    part.check = async () => ok(['models/n', 'o:latest'])
    const detail = 'answers, but does not list m: is the id right?'
    expect(await pool.checkAll()).toMatchObject([{ ok: true, doubtful: true, detail }])
    expect(await pool.complete(REQUEST, never())).toMatchObject({ ok: true })
    expect(pool.facts[0]).toMatchObject({ usable: true, trouble: null })
    part.check = async () => ok(ids)
    expect((await pool.checkAll())[0]).toEqual({ what: 'models', name: 'part', ok: true, detail: 'answers', ms: 0 })
  })

  it('takes no conversation that fits no window, and leaves room for the answer', async () => {
    const { pool } = poolOf(entryOf(backendOf('a', says)))
    const long = [{ role: 'user' as const, content: 'x'.repeat(20_000) }]
    expect(await pool.complete({ ...REQUEST, messages: long }, never())).toMatchObject({
      ok: false,
      fault: { code: 'model/none' },
    })
  })
})
