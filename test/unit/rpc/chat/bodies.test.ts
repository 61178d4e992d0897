import { describe, expect, it } from 'vitest'
import { BodyRoom } from '../../../../rpc/chat/body-room.ts'
import { isQuickToParse } from '../../../../rpc/chat/body-values.ts'

const MIB = 1_048_576
const filler = 'x'.repeat(300_000)
const names = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"${i}":1`).join()}}`

describe('a body is quick to parse', () => {
  it.each([
    ['short, with as many values as there is room for', `[${'[],'.repeat(14_000)}1]`],
    ['one long text', JSON.stringify([filler.repeat(20)])],
    ['a long text with commas, brackets and escaped quotes', JSON.stringify([`${filler}${'",[{\\'.repeat(50_000)}`])],
    ['a text that ends with backslashes', JSON.stringify([`${filler}\\\\\\`, '\\', filler])],
    [
      'some thousand messages',
      JSON.stringify(Array.from({ length: 9_900 }, () => ({ role: 'user', content: 'a, b' }))),
    ],
    ['a text that never ends', `["${filler}`],
    ['names that come again', `[${'{"role":1,"content":1},'.repeat(9_000)}1]`],
    ['as many names as there is room for', names(2_000)],
  ])('that is %s', (_, text) => expect(isQuickToParse(text)).toBe(true))

  it.each([
    ['lists', `["${filler}",${'[],'.repeat(30_001)}1]`],
    ['objects', `["${filler}",${'{},'.repeat(30_001)}1]`],
    ['numbers', `["${filler}",${'1,'.repeat(30_001)}1]`],
    ['nested lists', `["${filler}",${'['.repeat(30_001)}`],
    ['blanks', `["${filler}"${' '.repeat(3 * MIB)}]`],
    ['escaped quotes', `["${'\\"'.repeat(3 * MIB)}"]`],
    ['backslashes before quotes', `[${`"${'\\\\'.repeat(MIB / 2)}",`.repeat(3)}1]`],
  ])('but not with millions of %s', (_, text) => expect(isQuickToParse(text)).toBe(false))

  it('nor with more names than any conversation has', () => {
    expect(isQuickToParse(names(2_001))).toBe(false)
    expect(isQuickToParse(`[${names(300)},${names(300)}]`, 1_000, 300)).toBe(true)
    expect(isQuickToParse(names(301), 1_000, 300)).toBe(false)
  })

  it('nor with a name without an end: those are held against each other', () => {
    const long = (chars: number): string => `{"${'x'.repeat(chars)}":1}`
    expect([1_024, 1_025, 16_384].map((chars) => isQuickToParse(`["${filler}",${long(chars)}]`))).toEqual([
      true,
      false,
      false,
    ])
  })

  it('nor, where few values are taken, with many blanks or quotes', () => {
    for (const steps of [' ', '\\"']) {
      expect(isQuickToParse(`{"a":"${filler}"${' '.repeat(1_000)}}`, 100, 100)).toBe(true)
      expect(isQuickToParse(`["${steps.repeat(10_000)}"${steps === ' ' ? steps.repeat(10_000) : ''}]`, 100)).toBe(false)
    }
  })

  it('counts what is in lists and objects, not those that are empty twice', () => {
    expect(isQuickToParse(`[${'[],{},'.repeat(499)}1,1]`, 1_000)).toBe(true)
    expect(isQuickToParse(`[${'[],{},'.repeat(500)}1]`, 1_000)).toBe(false)
  })

  it('whatever stands after a text is seen, however that ends', () => {
    for (const end of ['\\\\', '\\"', '\\\\\\"', '\\\\\\\\'])
      expect(isQuickToParse(`["${filler}${end}",${'1,'.repeat(30_001)}1]`)).toBe(false)
  })
})

describe('room for bodies', () => {
  it('is for so many bytes of an owner, and for so many of all', () => {
    const room = new BodyRoom()
    const enter = (owner: string, mib: number) => room.enter(owner, mib * MIB)
    const first = enter('a', 20)
    expect([first, enter('a', 20), enter('a', 2)].map((leave) => leave !== null)).toEqual([true, true, false])
    // A short body needs no room.
    expect(enter('a', 1)).not.toBe(null)
    expect([enter('b', 20), enter('b', 20), enter('c', 17)].map((leave) => leave !== null)).toEqual([true, true, false])
    first?.leave()
    first?.leave()
    expect([enter('a', 20), enter('c', 17)].map((leave) => leave !== null)).toEqual([true, false])
  })

  it('that do not come is given to others', () => {
    let nowMs = 0
    const room = new BodyRoom(() => nowMs)
    const ended: string[] = []
    const enter = (owner: string, mib: number) => {
      const share = room.enter(owner, mib * MIB)
      share?.yields(() => ended.push(owner))
      return share
    }
    for (const owner of ['a', 'a', 'b', 'b']) enter(owner, 20)
    enter('c', 16)?.yields(null)
    expect(enter('d', 2)).toBeNull()
    nowMs += 1_000
    expect(enter('d', 2)).not.toBeNull()
    expect(ended).toEqual(['a'])
  })

  it('that come too slowly to be here in time make room for any other', () => {
    let nowMs = 0
    const room = new BodyRoom(() => nowMs)
    const received = new Map<string, number>()
    const ended: string[] = []
    for (const owner of ['a', 'b', 'c', 'd']) {
      const pace = { bytes: 20 * MIB, received: () => received.get(owner) ?? 0, withinMs: 30_000, wasLate: false }
      room.enter(owner, 20 * MIB)?.yieldsIf(room.paceOf(pace), () => ended.push(owner))
    }
    room.enter('e', 16 * MIB)
    nowMs = 1_000
    expect(room.enter('z', 2 * MIB)).toBeNull()
    nowMs = 4_000
    for (const owner of ['a', 'b', 'd']) received.set(owner, 2 * MIB)
    expect(room.enter('z', 20 * MIB)).not.toBeNull()
    expect(ended).toEqual(['c'])
    expect(room.enter('y', 20 * MIB)).toBeNull()
    nowMs = 4_001
    expect(room.enter('y', 20 * MIB)).not.toBeNull()
    expect(ended).toEqual(['c', 'a'])
  })

  it('that are announced anew, again and again, are waited for once', () => {
    let nowMs = 0
    const room = new BodyRoom(() => nowMs)
    const announce = (owner: string, mib: number) => {
      const share = room.enter(owner, mib * MIB)
      const pace = { bytes: mib * MIB, received: () => 0, withinMs: 30_000, wasLate: share?.wasLate === true }
      share?.yieldsIf(room.paceOf(pace), () => {})
      return share
    }
    const held = ['a', 'b', 'c', 'd'].map((owner) => announce(owner, 20))
    announce('e', 16)
    nowMs = 850
    expect(room.enter('z', 2 * MIB)).toBeNull()
    for (const share of held) share?.leave(true)
    for (const owner of ['a', 'b', 'c', 'd']) announce(owner, 20)
    nowMs = 860
    expect(room.enter('z', 2 * MIB)).not.toBeNull()
  })

  it('is forgotten with the last body of an owner', () => {
    const room = new BodyRoom()
    for (let i = 0; i < 100; i++) room.enter(`owner ${i}`, 40 * MIB)?.leave()
    expect(room.enter('owner 0', 40 * MIB)).not.toBe(null)
  })
})
