import { describe, expect, it } from 'vitest'
import { type Share, SharedRoom } from '../../../../marketplace/ports/shared-room.ts'

const BOUNDS = { max: 8, ownMax: 4, patienceMs: 1_000 }

describe('room that owners share', () => {
  function world() {
    let nowMs = 0
    const room = new SharedRoom(BOUNDS, () => nowMs)
    const ended: string[] = []
    const enter = (owner: string, { size = 1, yields = true } = {}): Share | null => {
      const share = room.enter(owner, size)
      if (yields) share?.yields(() => ended.push(owner))
      return share
    }
    const isIn = (owner: string, yields = true): boolean => enter(owner, { yields }) !== null
    const pass = (ms: number): void => {
      nowMs += ms
    }
    return { room, ended, enter, isIn, pass }
  }

  it('makes room for others where two hold all of it, and for no more than they may have', () => {
    const { ended, isIn, pass } = world()
    expect(Array.from({ length: 5 }, () => isIn('a'))).toEqual([true, true, true, true, false])
    expect(Array.from({ length: 5 }, () => isIn('b'))).toEqual([true, true, true, true, false])
    expect(isIn('c')).toBe(false)
    pass(1_000)
    expect([isIn('c'), isIn('d'), isIn('c')]).toEqual([true, true, true])
    expect(ended).toEqual(['a', 'b', 'a'])
    // After the first call each owner has two shares. No share ends so that an owner gets a third one, but one ends so
    // that another owner gets its first.
    expect([isIn('d'), isIn('c'), isIn('e')]).toEqual([true, false, true])
    pass(1_000)
    expect(isIn('f')).toBe(true)
    expect([isIn('f'), isIn('e')]).toEqual([false, false])
  })

  it('leaves what does not yield alone, and what does no more', () => {
    const { room, ended, isIn, pass } = world()
    const shares = Array.from({ length: 4 }, () => room.enter('a', 1))
    for (let i = 0; i < 4; i++) isIn('b', false)
    pass(1_000)
    expect(isIn('c')).toBe(false)
    shares[0]?.yields(() => ended.push('first'))
    shares[1]?.yields(() => ended.push('second'))
    shares[1]?.yields(null)
    expect(isIn('c')).toBe(false)
    pass(1_000)
    expect([isIn('c'), isIn('c')]).toEqual([true, false])
    expect(ended).toEqual(['first'])
  })

  it('ends no more than one share of many where that is enough, and nothing that is left', () => {
    const { ended, enter, isIn, pass } = world()
    const large = enter('a', { size: 3 })
    enter('a')
    for (let i = 0; i < 4; i++) isIn('b')
    pass(1_000)
    large?.leave()
    large?.leave()
    expect(enter('c', { size: 3 })).not.toBeNull()
    expect(ended).toEqual([])
    expect(isIn('c')).toBe(false)
  })

  it('ends those that are behind their pace before any other, whichever caller has them, and the oldest first', () => {
    const { ended, enter, isIn } = world()
    const late = new Set<string>()
    for (const owner of 'abcdefgh')
      enter(owner, { yields: false })?.yieldsIf(
        () => late.has(owner),
        () => ended.push(owner),
      )
    expect(isIn('z')).toBe(false)
    late.add('f').add('c')
    expect([isIn('y'), isIn('y'), isIn('y')]).toEqual([true, true, false])
    expect(ended).toEqual(['c', 'f'])
  })

  it('ends none where that would not be enough', () => {
    const { ended, enter, pass } = world()
    enter('a')
    enter('a')
    for (const owner of 'bcdefg') enter(owner)
    pass(1_000)
    expect(enter('z', { size: 2 })).toBeNull()
    enter('z')?.leave()
    expect(ended).toEqual(['a'])
  })

  it('remembers for an hour holders who broke off a share or were ended for being behind', () => {
    const { room, enter, pass } = world()
    enter('gone', { yields: false })?.leave(true)
    enter('whole', { yields: false })?.leave(false)
    for (let i = 0; i < 8; i++)
      enter(`slow ${i}`, { yields: false })?.yieldsIf(
        () => true,
        () => {},
      )
    enter('fair', { size: 1 })
    const late = (): readonly (boolean | undefined)[] =>
      ['gone', 'whole', 'slow 0', 'slow 7', 'fair'].map((owner) => {
        const share = room.enter(owner, 1)
        share?.leave()
        return share?.wasLate
      })
    expect(late()).toEqual([true, false, true, false, false])
    pass(3_600_000)
    expect(late()).toEqual([false, false, false, false, false])
  })

  it('holds no more than is needed of a share that shrinks', () => {
    const { enter, isIn } = world()
    enter('a', { size: 4, yields: false })?.shrink(1)
    enter('b', { size: 4, yields: false })?.shrink(9)
    expect([enter('c', { size: 4 }), isIn('a'), isIn('a'), isIn('a'), isIn('d')].map(Boolean)).toEqual([
      false,
      true,
      true,
      true,
      false,
    ])
  })

  it('holds nothing more against who was ended because it was not waited for', () => {
    const { room, enter, pass } = world()
    enter('a', { yields: false })?.leave(true)
    pass(3_599_000)
    for (const owner of 'abcdefgh')
      enter(owner, { yields: false })?.yieldsIf(
        () => owner === 'a',
        () => {},
      )
    expect(enter('z')).not.toBeNull()
    pass(2_000)
    enter('b')?.leave()
    room.enter('z', 1)?.leave()
    expect(enter('a', { yields: false })).toBeNull()
  })
})
