import { describe, expect, it } from 'vitest'
import { AGENT_ID, SERVICE_ID } from '../../../../consensus/primitives/ids.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const ASCII = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))

describe('an agent id', () => {
  it('has 3 to 32 characters', () => {
    for (let length = 0; length <= 40; length++)
      expect(AGENT_ID.test('a'.repeat(length))).toBe(length >= 3 && length <= 32)
  })

  it('is made of lower-case letters, digits and inner hyphens', () => {
    for (const character of ASCII) {
      const letterOrDigit = (LETTERS + DIGITS).includes(character)
      expect(AGENT_ID.test(`${character}aa`)).toBe(letterOrDigit)
      expect(AGENT_ID.test(`aa${character}`)).toBe(letterOrDigit)
      expect(AGENT_ID.test(`a${character}a`)).toBe(letterOrDigit || character === '-')
    }
    expect(AGENT_ID.test('0--0')).toBe(true)
  })

  it.for(['abc\n', '\nabc', 'abc\nabc', 'abc ', 'äbc', 'a\u0131b', 'ＡＢＣ', 'abc\u0000'])('is not %j', (text) => {
    expect(AGENT_ID.test(text)).toBe(false)
    expect(SERVICE_ID.test(`${text}a`) && SERVICE_ID.test(text)).toBe(false)
  })
})

describe('a service id', () => {
  it('has 4 to 48 characters', () => {
    for (let length = 0; length <= 60; length++)
      expect(SERVICE_ID.test('a'.repeat(length))).toBe(length >= 4 && length <= 48)
  })

  it('begins with a letter, ends with a letter or digit, and has hyphens inside only', () => {
    for (const character of ASCII) {
      const letter = LETTERS.includes(character)
      const letterOrDigit = letter || DIGITS.includes(character)
      expect(SERVICE_ID.test(`${character}aaa`)).toBe(letter)
      expect(SERVICE_ID.test(`aaa${character}`)).toBe(letterOrDigit)
      expect(SERVICE_ID.test(`a${character}aa`)).toBe(letterOrDigit || character === '-')
    }
  })

  it.for(['abcd\n', '\nabcd', 'abcd ', 'abcd\u0000', 'äbcd'])('is not %j', (text) => {
    expect(SERVICE_ID.test(text)).toBe(false)
  })
})
