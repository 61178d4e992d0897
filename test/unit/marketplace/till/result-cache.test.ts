import { describe, expect, it } from 'vitest'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import type { ServiceDefinition } from '../../../../marketplace/services/service.ts'
import { ResultCache } from '../../../../marketplace/till/workshop.ts'
import { TestChain } from '../../../support/chain.ts'
import { TEST_SERVICES } from '../../../support/test-services.ts'

const [MODEL] = TEST_SERVICES as readonly [ServiceDefinition]
const KEPT: ServiceDefinition = { ...MODEL, keptPerHead: true }

/** A cache over a chain, and work that counts its runs. */
async function cache() {
  const test = await TestChain.open()
  const results = new ResultCache(test.chain)
  let runs = 0
  const work = async (): Promise<Result<string>> => ok(`run ${++runs}`)
  const run = async (input: unknown, definition = KEPT, of = work) => {
    const result = await results.run(definition, input, of)
    return result.ok ? result.value : result.fault.code
  }
  return { test, run }
}

describe('results of a head', () => {
  it('are worked out once for each service and input', async () => {
    const { run } = await cache()
    expect(await run('a')).toBe('run 1')
    expect(await run('a')).toBe('run 1')
    expect(await run('b')).toBe('run 2')
    expect(await run('a', { ...KEPT, serviceId: 'node-other' as never })).toBe('run 3')
    expect(await run('a')).toBe('run 1')
  })

  it('tell inputs apart that differ in the type of a number alone', async () => {
    const { run } = await cache()
    expect(await run({ amount: 5n })).toBe('run 1')
    expect(await run({ amount: 5 })).toBe('run 2')
    expect(await run({ amount: '5' })).toBe('run 3')
    expect(await run({ amount: 5n })).toBe('run 1')
  })

  it('are worked out once for all who ask at the same time', async () => {
    const { run } = await cache()
    expect(await Promise.all([run('a'), run('a'), run('a')])).toEqual(['run 1', 'run 1', 'run 1'])
  })

  it('are forgotten when the head moves, also those under way', async () => {
    const { test, run } = await cache()
    const early = run('a')
    await test.mine()
    expect(await run('a')).toBe('run 2')
    expect(await early).toBe('run 1')
    expect(await run('a')).toBe('run 2')
  })

  it('are kept of no service that depends on more than the head', async () => {
    const { run } = await cache()
    expect(await run('a', MODEL)).toBe('run 1')
    expect(await run('a', MODEL)).toBe('run 2')
  })

  it('are kept of no failure', async () => {
    const { run } = await cache()
    const broken = async () => fail(fault('service/timeout', { serviceId: MODEL.serviceId, timeoutMs: 5 }))
    expect(await Promise.all([run('a', KEPT, broken), run('a')])).toEqual(['service/timeout', 'service/timeout'])
    expect(await run('a')).toBe('run 1')
  })

  it('make room for others', async () => {
    const { run } = await cache()
    for (let i = 0; i < 129; i++) await run(i)
    expect(await run(128)).toBe('run 129')
    expect(await run(0)).toBe('run 130')
  })
})
