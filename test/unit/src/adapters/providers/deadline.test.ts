import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Deadline, unlessAborted } from '../../../../../src/adapters/providers/deadline.ts'
import { TestTime } from '../../../../support/market-parts.ts'

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length

describe('a deadline', () => {
  it('is over when its time is, or that of what it is part of', () => {
    const time = new TestTime()
    const parent = new AbortController()
    const [short, long] = [new Deadline(time, 100, parent.signal), new Deadline(time, 200, parent.signal)]
    time.pass(100)
    expect([short.signal.aborted, long.signal.aborted]).toEqual([true, false])
    parent.abort()
    expect(long.signal.aborted).toBe(true)
    expect(new Deadline(time, 100, parent.signal).signal.aborted).toBe(true)
  })

  it('leaves neither timer nor listener, and ends what is under way', () => {
    const time = new TestTime()
    const parent = new AbortController()
    const deadlines = Array.from({ length: 50 }, () => new Deadline(time, 100, parent.signal))
    expect([time.waiting, listeners(parent.signal)]).toEqual([50, 50])
    for (const deadline of deadlines) deadline.end()
    expect([time.waiting, listeners(parent.signal)]).toEqual([0, 0])
    expect(deadlines.every(({ signal }) => signal.aborted)).toBe(true)
  })
})

describe('waiting unless aborted', () => {
  it('comes to what the promise comes to, and leaves no listener on a signal that lives on', async () => {
    const { signal } = new AbortController()
    for (let turn = 0; turn < 100; turn++) expect(await unlessAborted(Promise.resolve(turn), signal)).toBe(turn)
    await expect(unlessAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
    expect(listeners(signal)).toBe(0)
  })

  it('is null once aborted, before and during, and what is thrown later reaches no caller', async () => {
    const controller = new AbortController()
    const { promise, reject } = Promise.withResolvers<number>()
    const waiting = unlessAborted(promise, controller.signal)
    expect(listeners(controller.signal)).toBe(1)
    controller.abort()
    expect(await waiting).toBeNull()
    expect(await unlessAborted(promise, controller.signal)).toBeNull()
    expect(listeners(controller.signal)).toBe(0)
    // Vitest fails the run at an unhandled rejection.
    reject(new Error('too late'))
  })
})
