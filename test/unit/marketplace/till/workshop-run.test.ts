import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { ok } from '../../../../consensus/primitives/result.ts'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { defineService, type ServiceDefinition } from '../../../../marketplace/services/service.ts'
import { runService } from '../../../../marketplace/till/workshop.ts'
import { serviceId } from '../../../support/unsigned.ts'

const ID = serviceId('node-test-unit')
const BYTES_MAX = 100
/** A context of services. The services of these tests do not use it. */
const CONTEXT = { clock: { now: () => 5 } } as ServiceContext

type Execute = ServiceDefinition['execute']

function service(execute: Execute, change: Partial<ServiceDefinition> = {}): ServiceDefinition {
  const definition = defineService({
    serviceId: ID,
    name: 'Unit',
    description: 'For this test.',
    brief: 'For this test.',
    words: '',
    capability: 'utility',
    priceUsdMicros: 2_000n,
    requestFormat: 'anything',
    example: 'ok',
    sample: { text: 'ok' },
    requestCharsMax: 100,
    parse: (request) => ok(request),
    ready: () => ({ available: true, engine: 'test' }),
    resultSchema: Type.Object({ text: Type.String() }, { additionalProperties: false }),
    execute: execute as never,
    timeoutMs: 30_000,
    resultBytesMax: BYTES_MAX,
    repeatable: true,
  })
  return { ...definition, ...change }
}

const run = (execute: Execute, change?: Partial<ServiceDefinition>) =>
  runService(service(execute, change), 'in', CONTEXT)
const fails = (code: string, detail: object) => ({ ok: false, fault: { code, detail: { serviceId: ID, ...detail } } })
const never = () => new Promise<never>(() => {})

describe('a service that does its work', () => {
  it('gives its result as JSON text, at once or later', async () => {
    expect(await run(() => ({ text: 'ok' }))).toEqual({ ok: true, value: '{"text":"ok"}' })
    expect(await run(async () => ({ text: 'ok' }))).toEqual({ ok: true, value: '{"text":"ok"}' })
  })

  it('is given input, context and a signal that has not gone off', async () => {
    let given: unknown[] = []
    await run((...all) => {
      given = all
      return { text: 'ok' }
    })
    expect(given.slice(0, 2)).toEqual(['in', CONTEXT])
    expect((given[2] as AbortSignal).aborted).toBe(false)
  })
})

describe('a service that does not', () => {
  for (const [how, execute] of [
    [
      'throws',
      () => {
        throw new Error('the engine is broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('the engine is broken'))],
  ] as const) {
    it(`has failed with the reason when it ${how}`, async () => {
      expect(await run(execute)).toEqual(fails('service/failed', { reason: 'the engine is broken' }))
    })
  }

  it('has failed when it throws what is no error, and gives away nothing of it', async () => {
    for (const thrown of ['a key', null, undefined, { key: 'value' }, 7]) {
      expect(await run(() => Promise.reject(thrown))).toEqual(fails('service/failed', { reason: 'unknown cause' }))
    }
  })

  it('has its reason cut to 200 characters', async () => {
    const outcome = await run(() => Promise.reject(new Error('x'.repeat(1_000))))
    expect(outcome).toEqual(fails('service/failed', { reason: 'x'.repeat(200) }))
  })
})

describe('a service that is late', () => {
  it('has timed out, whether it ever answers or not', async () => {
    expect(await run(never, { timeoutMs: 5 })).toEqual(fails('service/timeout', { timeoutMs: 5 }))
  })

  it('aborts its signal, and an error thrown then is still a timeout', async () => {
    const stopped: Execute = (_input, _context, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('it was stopped')))
      })
    expect(await run(stopped, { timeoutMs: 5 })).toEqual(fails('service/timeout', { timeoutMs: 5 }))
  })
})

describe('a result', () => {
  const shape = 'it does not have the promised shape'

  it('of another shape is none', async () => {
    for (const result of [{ text: 7 }, {}, { text: 'ok', more: 1 }, null, undefined, 'text', [], 7n]) {
      expect(await run(() => result as never)).toEqual(fails('service/bad-result', { reason: shape }))
    }
  })

  it('has as many bytes as it may, counted as UTF-8', async () => {
    const fitting = 'x'.repeat(BYTES_MAX - '{"text":""}'.length)
    expect(await run(() => ({ text: fitting }))).toMatchObject({ ok: true })
    const over = (bytes: number) => fails('service/bad-result', { reason: `${bytes} bytes exceed ${BYTES_MAX}` })
    expect(await run(() => ({ text: `${fitting}x` }))).toEqual(over(BYTES_MAX + 1))
    expect(await run(() => ({ text: `${fitting.slice(1)}€` }))).toEqual(over(BYTES_MAX + 2))
  })

  it('is checked against the schema of its own service', async () => {
    const schema = Type.Object({ text: Type.Number() })
    expect(await run(() => ({ text: 7 }), { resultSchema: schema })).toEqual({ ok: true, value: '{"text":7}' })
    expect(await run(() => ({ text: 7 }))).toEqual(fails('service/bad-result', { reason: shape }))
  })

  it('that JSON cannot hold has failed, and nothing is thrown', async () => {
    const round: { text: string; self?: unknown } = { text: 'ok' }
    round.self = round
    const outcome = await run(() => round, { resultSchema: Type.Object({ text: Type.String() }) })
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'service/failed' } })
  })
})
