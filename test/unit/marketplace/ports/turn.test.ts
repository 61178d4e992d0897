import { describe, expect, it } from 'vitest'
import { turnAmong, type Waiter } from '../../../../marketplace/ports/turn.ts'

type Waiting = Set<{ readonly name: string } & Waiter>

describe('work that waits for its turn', () => {
  it('is found among what waits until it is started, and not ended by its signal after that', async () => {
    const waiting: Waiting = new Set()
    const signal = new AbortController()
    const turn = turnAmong(waiting, { name: 'one' }, signal.signal)
    const [one] = [...waiting]
    expect(one?.name).toBe('one')
    one?.start()
    signal.abort()
    expect([await turn, waiting.size]).toEqual([true, 0])
  })

  it('waits no more once its signal comes', async () => {
    const waiting: Waiting = new Set()
    const signal = new AbortController()
    const turn = turnAmong(waiting, { name: 'one' }, signal.signal)
    signal.abort()
    expect([await turn, waiting.size]).toEqual([false, 0])
  })
})
