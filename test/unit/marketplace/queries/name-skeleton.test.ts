import { describe, expect, it } from 'vitest'
import { nameSkeleton } from '../../../../marketplace/queries/name-skeleton.ts'

const alike = (one: string, other: string): boolean => nameSkeleton(one) === nameSkeleton(other)

describe('skeletons of names', () => {
  it.each([
    ['Salt', 'salt'],
    ['Salt', 'SALT'],
    ['Salt', '\u0405\u0430lt'],
    ['Salt', 'S\u0430\u0399t'],
    ['Salt', 'Sa1t'],
    ['Salt', ' S-a l.t '],
    ['Salt', 'S\u00e4lt'],
    ['Salt', '\uff33\uff41\uff4c\uff54'],
    ['Salt', '\u{1d412}\u{1d41a}\u{1d425}\u{1d42d}'],
    ['Wool', 'VVool'],
    ['Wool', 'W00L'],
    ['Farthing dollar', 'Farthing Do11ar'],
    ['modern', 'modem'],
    ['Bitcoin', '\u0412itcoin'],
    ['Euro', '\u0395uro'],
  ])('are the same of %j and %j', (one, other) => {
    expect(alike(one, other)).toBe(true)
  })

  it.each([
    ['Salt', 'Malt'],
    ['Salt', 'Salts'],
    ['Wool', 'Cool'],
    ['Bridged dollar', 'Bridged Bitcoin'],
    ['\u5cf0', '\u5c71'],
    ['Salt', ''],
  ])('differ for %j and %j', (one, other) => {
    expect(alike(one, other)).toBe(false)
  })
})
