import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freeOf } from '../../../../../marketplace/ports/free-places.ts'
import { ASKING_MAX, type ProviderChain } from '../../../../../src/adapters/providers/provider-chain.ts'
import type { TestTime } from '../../../../support/market-parts.ts'
import { until } from '../../../../support/processes.ts'
import { BOUNDS, ChainStand, ScriptedProvider } from '../../../../support/scripted-provider.ts'

const { freshMs: FRESH_MS, staleMs: STALE_MS } = BOUNDS

let stand: ChainStand
let time: TestTime
let first: ScriptedProvider
let second: ScriptedProvider
let chain: ProviderChain<string, string>

beforeEach(() => {
  stand = new ChainStand()
  ;({ time, first, second } = stand)
  chain = stand.chain()
})
afterEach(() => {
  chain.stop()
  expect(time.waiting).toBe(0)
})

const seen = <T>(look: () => T | undefined | null | false): Promise<T> =>
  until('something to happen', look, { everyMs: 1 })
const patient = (): AbortSignal => new AbortController().signal
const ask = (query = 'q', signal = patient()) => chain.ask(query, signal)
/** Asks while the time of retries passes. */
async function askPassing(query = 'q', isFree = false) {
  const asked = chain.ask(query, patient(), isFree)
  let done = false
  void asked.finally(() => {
    done = true
  })
  await seen(() => {
    if (!done) time.pass(50)
    return done || undefined
  })
  return asked
}

describe('free questions', () => {
  it('leave room for those that are paid', async () => {
    first.turn = 'hangs'
    const never = patient()
    const free = Array.from({ length: ASKING_MAX }, (_, i) => chain.ask(`free ${i}`, never, true))
    const told = await Promise.all(free.slice(freeOf(ASKING_MAX)))
    expect(told.every((answer) => !answer.ok && answer.fault.code === 'provider/none')).toBe(true)
    const paid = chain.ask('paid', never)
    await seen(() => first.asked.includes('paid'))
    expect(first.asked).toHaveLength(freeOf(ASKING_MAX) + 1)
    chain.stop()
    expect((await Promise.all([paid, ...free])).some(({ ok }) => ok)).toBe(false)
  })
})

describe('what free questions fail at', () => {
  it('keeps paid ones from no provider', async () => {
    first.turn = 'ill'
    second.turn = 'ill'
    for (let i = 0; i < 5; i++) await chain.ask(`free ${i}`, patient(), true)
    expect(chain.facts.map(({ usable }) => usable)).toEqual([false, false])
    expect((await chain.ask('free', patient(), true)).ok).toBe(false)
    expect(first.asked).toHaveLength(5)
    first.turn = 'well'
    expect((await chain.ask('paid', patient())).ok).toBe(true)
    expect(first.asked).toHaveLength(6)
  })

  it('is not the answer to an equal question that is paid', async () => {
    let open = (): void => undefined
    first.gate = new Promise((resolve) => (open = resolve))
    first.next = ['ill', 'well']
    second.turn = 'ill'
    const free = chain.ask('q', patient(), true)
    const paid = chain.ask('q', patient())
    open()
    expect((await paid).ok).toBe(true)
    await free
    expect(first.asked).toEqual(['q', 'q'])
  })

  it('keeps paid ones from none that wants a pause, as free questions may be why', async () => {
    first.turn = { retryAfterMs: 60_000 }
    second.turn = { retryAfterMs: 60_000 }
    await chain.start()
    for (let i = 0; i < 5; i++) await chain.ask(`free ${i}`, patient(), true)
    expect(first.asked).toHaveLength(1)
    expect(chain.readiness()).toMatchObject({ available: true })
    first.turn = 'well'
    expect((await chain.ask('paid', patient())).ok).toBe(true)
  })

  it.each(['unreachable', 'locked-out'] as const)('keeps all from one that is %s', async (turn) => {
    first.turn = turn
    for (let i = 0; i < 5; i++) await askPassing(`free ${i}`, true)
    const { length } = first.asked
    await askPassing('paid')
    expect([first.asked.length, second.asked.at(-1)]).toEqual([length, 'paid'])
  })
})

describe('asking in order', () => {
  it('asks the first, and no other if that answers', async () => {
    expect(await ask()).toEqual({
      ok: true,
      value: {
        value: 'first: q',
        source: { name: 'first', fetchedAt: new Date(time.nowMs).toISOString(), stale: false },
      },
    })
    expect([first.asked, second.asked]).toEqual([['q'], []])
  })

  it.each(['ill', 'throws', { retryAfterMs: 0 }] as const)('asks the next where one fails: %o', async (turn) => {
    first.turn = turn
    expect(await ask()).toMatchObject({ value: { value: 'second: q', source: { name: 'second' } } })
    expect([first.asked.length, second.asked.length]).toEqual([1, 1])
  })

  it('gives the fault of the last where all fail', async () => {
    first.turn = 'ill'
    second.turn = 'throws'
    expect(await ask()).toEqual({
      ok: false,
      fault: { code: 'provider/answer', detail: { provider: 'second', reason: 'it is not what was expected' } },
    })
  })

  it('takes "not found" for an answer, and the provider for well', async () => {
    first.turn = 'not-found'
    for (let times = 0; times < 10; times++) {
      expect(await ask()).toMatchObject({ ok: false, fault: { code: 'provider/not-found' } })
    }
    expect(second.asked).toEqual([])
    expect(chain.facts[0]).toMatchObject({ usable: true, trouble: null })
  })

  it('tells "not found" again for a minute without asking, to the same question alone', async () => {
    first.turn = 'not-found'
    for (let times = 0; times < 10; times++) expect(await ask()).toMatchObject({ ok: false })
    expect(first.asked).toEqual(['q'])
    first.turn = 'well'
    expect(await ask('other')).toMatchObject({ value: { value: 'first: other' } })
    time.pass(60_000)
    expect(await ask()).toMatchObject({ value: { value: 'first: q' } })
  })

  it('asks an unreached provider once more, and none a third time', async () => {
    first.next = ['unreachable']
    expect(await askPassing()).toMatchObject({ value: { value: 'first: q' } })
    expect(first.asked).toHaveLength(2)
    first.turn = 'unreachable'
    expect(await askPassing('r')).toMatchObject({ value: { value: 'second: r' } })
    expect(first.asked).toHaveLength(4)
  })

  it('gives each 3.5 seconds with its retry, and all together 5.5', async () => {
    first.turn = 'hangs'
    second.turn = 'hangs'
    const asked = ask()
    await seen(() => first.hanging[0])
    time.pass(3_499)
    expect(second.asked).toEqual([])
    time.pass(1)
    await seen(() => second.hanging[0])
    expect(first.hanging[0]?.aborted).toBe(true)
    time.pass(1_999)
    expect(second.hanging[0]?.aborted).toBe(false)
    time.pass(1)
    expect(await asked).toEqual({ ok: false, fault: { code: 'provider/timeout', detail: { provider: 'second' } } })
    expect(time.waiting).toBe(0)
  })

  it('has a retry share the time of the provider that it is of', async () => {
    first.next = ['unreachable', 'hangs']
    const asked = ask()
    await seen(() => {
      if (first.hanging.length === 0) time.pass(10)
      return first.hanging[0]
    })
    time.pass(3_500)
    expect(await asked).toMatchObject({ value: { value: 'second: q' } })
  })

  it('does not ask a provider with less than a second left', async () => {
    const third = new ScriptedProvider('third')
    chain = stand.chain({ providers: [first, second, third] })
    const { promise, resolve } = Promise.withResolvers<void>()
    first.turn = 'hangs'
    second.turn = 'ill'
    second.gate = promise
    const asked = ask()
    await seen(() => first.hanging[0])
    time.pass(3_500)
    await seen(() => second.asked[0])
    time.pass(1_001)
    resolve()
    expect((await asked).ok).toBe(false)
    expect(third.asked).toEqual([])
  })
})

describe('equal questions at the same time', () => {
  it('are one question', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    first.gate = promise
    const signal = patient()
    const asked = Array.from({ length: 100 }, () => ask('q', signal))
    resolve()
    const answers = await Promise.all(asked)
    expect(first.asked).toEqual(['q'])
    expect(new Set(answers.map((answer) => answer.ok && answer.value.value))).toEqual(new Set(['first: q']))
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('go on for the others when one gives up', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    first.gate = promise
    const [impatient, other] = [new AbortController(), ask()]
    const given = ask('q', impatient.signal)
    impatient.abort()
    expect(await given).toMatchObject({ fault: { code: 'provider/timeout' } })
    resolve()
    expect(await other).toMatchObject({ value: { value: 'first: q' } })
    expect(first.asked).toEqual(['q'])
  })

  it('go on for later ones when every caller gave up, also when they fail', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    first.gate = promise
    second.gate = promise
    const controller = new AbortController()
    const asked = Array.from({ length: 10 }, (_, index) => ask(`q${index % 2}`, controller.signal))
    controller.abort()
    expect((await Promise.all(asked)).every(({ ok }) => !ok)).toBe(true)
    first.next = ['throws']
    second.next = ['throws']
    resolve()
    const kept = await seen(() => chain.latest('q0') ?? chain.latest('q1') ?? undefined)
    expect(kept.source.stale).toBe(false)
  })

  it('are not asked for a caller who gave up before', async () => {
    expect(await ask('q', AbortSignal.abort())).toMatchObject({ fault: { code: 'provider/timeout' } })
    expect(first.asked).toEqual([])
  })

  it('are different ones at most 256 times', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    first.gate = promise
    const asked = Array.from({ length: 256 }, (_, index) => ask(`q${index}`))
    expect(await ask('one too many')).toMatchObject({ fault: { code: 'provider/none' } })
    const again = ask('q7')
    resolve()
    expect((await Promise.all([...asked, again])).every(({ ok }) => ok)).toBe(true)
    expect(await ask('one too many')).toMatchObject({ ok: true })
  })
})

describe('answers that are kept', () => {
  it('are given as new while they are, and asked for anew then', async () => {
    await ask()
    time.pass(FRESH_MS - 1)
    expect(await ask()).toMatchObject({ value: { source: { stale: false } } })
    expect(first.asked).toHaveLength(1)
    time.pass(1)
    await ask()
    expect(first.asked).toHaveLength(2)
  })

  it('are given as old while no provider can be asked, within their bound', async () => {
    await ask()
    const fetchedAt = new Date(time.nowMs).toISOString()
    first.turn = 'ill'
    second.turn = 'ill'
    time.pass(STALE_MS)
    expect(await ask()).toMatchObject({
      value: { value: 'first: q', source: { name: 'first', stale: true, fetchedAt } },
    })
    expect(chain.latest('q')).toMatchObject({ source: { stale: true } })
    time.pass(1)
    expect(await ask()).toMatchObject({ ok: false, fault: { code: 'provider/answer' } })
    expect(chain.latest('q')).toBeNull()
  })

  it('answer no other question', async () => {
    await ask('a')
    expect(await ask('b')).toMatchObject({ value: { value: 'first: b' } })
    expect(chain.latest('c')).toBeNull()
  })

  it('do not stand in for "not found"', async () => {
    await ask()
    time.pass(FRESH_MS)
    first.turn = 'not-found'
    expect(await ask()).toMatchObject({ ok: false, fault: { code: 'provider/not-found' } })
  })

  it('are of unknown age when the clock was set back', async () => {
    await ask()
    time.nowMs -= 3_600_000
    expect(chain.latest('q')).toBeNull()
    await ask()
    expect(first.asked).toHaveLength(2)
  })

  it('are new for as long as their value says', async () => {
    chain = stand.chain({ freshMs: (_, value) => (value.endsWith('short') ? 1 : STALE_MS) })
    await ask('short')
    await ask('long')
    time.pass(1)
    await ask('short')
    await ask('long')
    expect(first.asked).toEqual(['short', 'long', 'short'])
  })

  it('are bounded in number and bytes', async () => {
    for (let index = 0; index < 1_100; index++) await ask(`q${index}`)
    expect([chain.latest('q50'), chain.latest('q1099')]).toMatchObject([null, { value: 'first: q1099' }])
    const long = 'x'.repeat(3_000_000)
    for (let index = 0; index < 8; index++) await ask(`${index}${long}`)
    expect([chain.latest(`0${long}`), chain.latest('q1099')]).toEqual([null, null])
    expect(chain.latest(`7${long}`)).not.toBeNull()
  })
})

describe('a chain without providers', () => {
  it('says which settings would change that', async () => {
    chain = stand.chain({ providers: [] })
    await chain.start()
    expect(chain.readiness()).toEqual({
      available: false,
      reason: 'a provider of things is not configured',
      requires: ['providers.things'],
    })
    expect(await ask()).toMatchObject({ fault: { code: 'provider/none' } })
    expect([chain.facts, await chain.checkAll()]).toEqual([[], []])
  })
})
