import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ProviderChain } from '../../../../../src/adapters/providers/provider-chain.ts'
import type { TestTime } from '../../../../support/market-parts.ts'
import { until } from '../../../../support/processes.ts'
import { ChainStand, type ScriptedProvider } from '../../../../support/scripted-provider.ts'

const SECOND_MS = 1_000

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
const usable = () => chain.facts.map((one) => one.usable)

describe('a provider that fails', () => {
  const fails = async (times: number): Promise<void> => {
    for (let index = 0; index < times; index++) await ask(`fails ${Math.random()}`)
  }

  it('is left alone after five times, and asked by one alone after 30 seconds', async () => {
    first.turn = 'ill'
    await fails(5)
    expect(first.asked).toHaveLength(5)
    await fails(3)
    expect(first.asked).toHaveLength(5)
    time.pass(30 * SECOND_MS)
    const { promise, resolve } = Promise.withResolvers<void>()
    first.gate = promise
    const crowd = Array.from({ length: 20 }, (_, index) => ask(`crowd ${index}`))
    resolve()
    await Promise.all(crowd)
    expect(first.asked).toHaveLength(6)
  })

  it('is left alone for as long as it asks', async () => {
    first.turn = { retryAfterMs: 120 * SECOND_MS }
    await fails(2)
    expect(first.asked).toHaveLength(1)
    time.pass(120 * SECOND_MS - 1)
    await fails(1)
    expect(first.asked).toHaveLength(1)
    first.turn = 'well'
    time.pass(1)
    await fails(2)
    expect(first.asked).toHaveLength(3)
  })

  it('makes the chain unavailable only with all others, and says why', async () => {
    await chain.start()
    expect(chain.readiness()).toEqual({ available: true, engine: 'first' })
    first.turn = 'ill'
    await fails(5)
    expect(chain.readiness()).toEqual({ available: true, engine: 'second' })
    second.turn = 'ill'
    await fails(5)
    expect(chain.readiness()).toMatchObject({
      available: false,
      reason: expect.stringContaining(
        '(first gave an unusable answer: it is ill; second gave an unusable answer: it is ill)',
      ),
    })
    expect(await ask('new')).toMatchObject({ ok: false, fault: { code: 'provider/none' } })
  })
})

describe('checks', () => {
  it('come before anything is said to be usable', async () => {
    expect(chain.readiness()).toMatchObject({ available: false, reason: expect.stringContaining('not checked yet') })
    expect(await chain.checkAll()).toEqual([
      { what: 'things', name: 'first', ok: true, detail: 'answers', ms: 0 },
      { what: 'things', name: 'second', ok: true, detail: 'answers', ms: 0 },
    ])
    expect(usable()).toEqual([true, true])
  })

  it.each(['ill', 'throws', 'unreachable'] as const)('tell what is wrong: %s', async (turn) => {
    first.checkTurn = turn
    await chain.start()
    expect((await chain.checkAll())[0]).toMatchObject({ ok: false, detail: expect.stringContaining('first') })
    expect(usable()).toEqual([false, true])
    expect(chain.readiness()).toEqual({ available: true, engine: 'second' })
  })

  it('are given up after five seconds', async () => {
    first.checkTurn = 'hangs'
    const checked = chain.checkAll()
    await seen(() => first.hanging[0])
    time.pass(5 * SECOND_MS)
    expect(await checked).toMatchObject([
      { name: 'first', ok: false, ms: 5_000, detail: 'first did not answer in time' },
      { ok: true },
    ])
  })

  it('come every five minutes while all is well, and every 30 seconds while it is not', async () => {
    await chain.start()
    first.checkTurn = 'ill'
    time.pass(300 * SECOND_MS - 1)
    expect(first.checked).toBe(1)
    time.pass(1)
    await seen(() => chain.facts[0]?.trouble ?? undefined)
    for (let times = 3; times <= 7; times++) {
      await seen(() => time.waiting === 1)
      time.pass(300 * SECOND_MS)
      expect(first.checked).toBe(times)
    }
    await seen(() => usable()[0] === false && time.waiting === 1)
    const before = first.checked
    time.pass(30 * SECOND_MS)
    expect(first.checked).toBe(before + 1)
  })

  it('that are asked to come later keep no paid question away', async () => {
    await chain.start()
    first.checkTurn = { retryAfterMs: 3_600 * SECOND_MS }
    expect((await chain.checkAll())[0]).toMatchObject({ ok: true, doubtful: true })
    for (const isFree of [false, true]) await chain.ask(`${isFree}`, patient(), isFree)
    expect([first.asked, second.asked]).toEqual([['false'], ['true']])
  })

  it('that go well neither end a pause that calls made nor hide why', async () => {
    await chain.start()
    first.turn = 'ill'
    for (let index = 0; index < 5; index++) await ask(`q${index}`)
    expect((await chain.checkAll())[0]).toMatchObject({ ok: true })
    expect(chain.facts[0]).toMatchObject({ usable: false, trouble: 'first gave an unusable answer: it is ill' })
  })

  it('that fail in a pause do not make it longer, and after it they do', async () => {
    await chain.checkAll()
    first.turn = 'ill'
    first.checkTurn = 'ill'
    for (let index = 0; index < 5; index++) await ask(`q${index}`)
    for (let index = 0; index < 5; index++) await chain.checkAll()
    time.pass(30 * SECOND_MS - 1)
    expect(usable()).toEqual([false, true])
    time.pass(1)
    expect(usable()).toEqual([true, true])
    await chain.checkAll()
    time.pass(60 * SECOND_MS - 1)
    expect(usable()).toEqual([false, true])
    time.pass(1)
    expect(usable()).toEqual([true, true])
  })
})

describe('the end', () => {
  it('gives up what is under way, and leaves no timer', async () => {
    first.turn = 'hangs'
    second.checkTurn = 'hangs'
    const [asked, started] = [ask(), chain.start()]
    await seen(() => first.hanging.length + second.hanging.length === 2)
    chain.stop()
    expect(await asked).toMatchObject({ ok: false, fault: { code: 'provider/timeout' } })
    await started
    expect([first.hanging[0]?.aborted, second.hanging[0]?.aborted, time.waiting]).toEqual([true, true, 0])
    expect(second.asked).toEqual([])
  })

  it('comes between a call and its retry too', async () => {
    first.turn = 'unreachable'
    const asked = ask()
    await seen(() => time.waiting === 3)
    chain.stop()
    expect((await asked).ok).toBe(false)
    expect([first.asked.length, time.waiting]).toEqual([1, 0])
  })
})
