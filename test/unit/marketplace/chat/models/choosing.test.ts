import { describe, expect, it } from 'vitest'
import { fault } from '../../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import type {
  BackendEntry,
  ChatAnswer,
  ChatRequest,
  ModelFacts,
} from '../../../../../marketplace/chat/models/backend.ts'
import { ModelPool, type PoolRequest } from '../../../../../marketplace/chat/models/pool.ts'
import { ManualTime } from '../../../../support/manual-time.ts'

const MODEL: ModelFacts = { id: 'm', roles: ['general'], context: 4_096, supports: new Set(), declaredParameters: null }
const REQUEST: PoolRequest = { role: 'general', messages: [{ role: 'user', content: 'Hello' }], maxTokens: 100 }

interface Parts {
  readonly models?: readonly Partial<ModelFacts>[]
  readonly limits?: Partial<BackendEntry['limits']>
  /** Status of its failure for each model. Null for a model that answers. */
  readonly status?: (model: string) => number | null
}

/** A pool of backends that answer or fail, with a record of the backends asked, in order. */
function poolOf(backends: Readonly<Record<string, Parts>>, random = 0.5) {
  const time = new ManualTime()
  const asked: string[] = []
  const entries = Object.entries(backends).map(([id, { models = [{}], limits, status = () => null }]): BackendEntry => {
    const complete = async ({ model }: ChatRequest): Promise<Result<ChatAnswer>> => {
      asked.push(`${id}/${model.id}`)
      const code = status(model.id)
      if (code !== null) return fail(fault('model/refused', { backend: id, reason: `status ${code}`, status: code }))
      const usage = { promptTokens: 10, completionTokens: 10 }
      return ok({ message: {}, text: 'Hi', model: model.id, finishReason: 'stop', usage, skipped: 0 })
    }
    const backend = {
      id,
      complete,
      stream: complete,
      picture: async () => fail(fault('model/cut', { backend: id })),
      speech: async () => fail(fault('model/cut', { backend: id })),
      check: async () => ok(null),
    }
    const usual = { rpm: null, tpm: null, concurrency: 2, priority: 0, timeoutMs: 1_000 }
    return { backend, models: models.map((model) => ({ ...MODEL, ...model })), limits: { ...usual, ...limits } }
  })
  const pool = new ModelPool({ entries, clock: time, timers: time, random: () => random })
  const ask = (more: Partial<PoolRequest> = {}) =>
    time.runUntil(pool.complete({ ...REQUEST, ...more }, new AbortController().signal))
  return { pool, time, asked, ask }
}

describe('a pool that chooses a model', () => {
  it('asks those of the first role first, then of the others in their order', async () => {
    const { asked, ask } = poolOf({
      a: { models: [{ id: 'judge', roles: ['judge'] }], status: () => 400 },
      b: { models: [{ id: 'fast', roles: ['fast', 'judge'] }], status: () => 400 },
      c: { models: [{ id: 'general' }], status: () => 400 },
    })
    await ask({ role: 'fast', orRoles: ['general', 'judge'] })
    expect(asked).toEqual(['b/fast', 'c/general', 'a/judge'])
    expect(await ask({ role: 'code' })).toMatchObject({ ok: false, fault: { code: 'model/none' } })
  })

  it('asks those that can do what had better be, whatever their role, before all others', async () => {
    const { asked, ask } = poolOf({
      a: { models: [{ id: 'plain' }], status: () => 400 },
      b: { models: [{ id: 'able', roles: ['judge'], supports: new Set(['jsonSchema']) }], status: () => 400 },
    })
    await ask({ orRoles: ['judge'], prefers: ['jsonSchema'] })
    expect(asked).toEqual(['b/able', 'a/plain'])
  })

  it('asks a backend last that is to be avoided, and not at all those that cannot do what must be', async () => {
    const { asked, ask } = poolOf({
      a: {},
      b: { status: () => 400 },
      c: { models: [{ supports: new Set(['tools']) }] },
    })
    await ask({ avoid: 'a' })
    expect(asked.splice(0)).toEqual(['b/m', 'c/m'])
    await ask({ needs: ['tools'] })
    expect(asked).toEqual(['c/m'])
  })

  it.each([408, 409, 429, 500, 502, 503, 504])(
    'asks a server three times that says %i, and none of its other models',
    async (code) => {
      const { asked, ask } = poolOf({ a: { models: [{ id: 'one' }, { id: 'two' }], status: () => code }, b: {} })
      expect(await ask()).toMatchObject({ ok: true })
      expect(asked).toEqual(['a/one', 'a/one', 'a/one', 'b/m'])
    },
  )

  it.each([400, 404, 413, 415, 422])(
    'asks a model once that says %i, then the next of the same server',
    async (code) => {
      const { asked, ask } = poolOf({
        a: { models: [{ id: 'one' }, { id: 'two' }], status: (id) => (id === 'one' ? code : null) },
      })
      expect(await ask()).toMatchObject({ ok: true })
      expect(asked).toEqual(['a/one', 'a/two'])
    },
  )

  it.each([401, 403])('asks a server once that says %i', async (code) => {
    const { asked, ask } = poolOf({ a: { models: [{ id: 'one' }, { id: 'two' }], status: () => code }, b: {} })
    await ask()
    expect(asked).toEqual(['a/one', 'b/m'])
  })

  it.each([
    [0, [0, 0]],
    [1, [500, 1_000]],
  ])('pauses for any part of a bound that doubles: %d of it', async (random, waits) => {
    const { time, ask } = poolOf({ a: { status: () => 503 } }, random)
    await ask()
    expect(time.waits).toEqual(waits)
  })

  it('waits for its allowance of tokens, and gives back what was not used', async () => {
    const { time, ask } = poolOf({ a: { limits: { tpm: 600 } } })
    await ask()
    // A request reserves all tokens it may use (105), more than a burst (60). In the end it is charged what it used
    // (20).
    const left = 40
    expect(time.now()).toBe(0)
    await ask()
    const perMs = (600 - 60 + 1) / 60_000
    expect(time.now()).toBe(Math.ceil((60 - left) / perMs))
  })

  it('goes to the next backend where the line of the first is too long', async () => {
    const { asked, ask, pool, time } = poolOf({
      a: { limits: { rpm: 1, concurrency: 1 } },
      b: { models: [{ roles: ['judge'] }] },
    })
    await ask()
    const waiting = Array.from({ length: 8 }, () => pool.complete(REQUEST, new AbortController().signal))
    expect(pool.facts[0]?.waiting).toBe(8)
    expect(await pool.complete({ ...REQUEST, orRoles: ['judge'] }, new AbortController().signal)).toMatchObject({
      ok: true,
    })
    expect(asked).toEqual(['a/m', 'b/m'])
    await time.runUntil(Promise.all(waiting))
    expect(asked).toHaveLength(10)
  })

  it('knows how long each model took in each role', async () => {
    const { pool, ask } = poolOf({ a: { models: [{ roles: ['general', 'judge'] }] } })
    await ask()
    await ask({ role: 'judge' })
    await ask({ role: 'judge' })
    const [facts] = pool.facts
    expect(facts?.latencies).toMatchObject([
      { model: 'm', role: 'general', whole: { count: 1 }, firstToken: null },
      { model: 'm', role: 'judge', whole: { count: 2 }, firstToken: null },
    ])
  })
})
