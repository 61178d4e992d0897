import { describe, expect, it } from 'vitest'
import { AssertionError, assert, unreachable } from '../../../../consensus/primitives/assert.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../../consensus/primitives/result.ts'

describe('an assertion', () => {
  it('lets what is true pass', () => {
    for (const value of [true, 1, 'a', {}, []]) expect(() => assert(value, 'unused')).not.toThrow()
  })

  it('stops on what is not, with its message and a name of its own', () => {
    for (const value of [false, 0, '', null, undefined, Number.NaN])
      expect(() => assert(value, 'broken')).toThrow(new AssertionError('broken'))
    expect(new AssertionError('broken')).toBeInstanceOf(Error)
    expect(new AssertionError('broken').name).toBe('AssertionError')
  })

  it('closes a switch that has no case left', () => {
    expect(() => unreachable('surprise' as never)).toThrow(new AssertionError('unreachable: surprise'))
  })
})

describe('a result', () => {
  it('is a value or a fault', () => {
    const refusal = fault('tx/version', { version: 2 })
    expect(ok(5)).toEqual({ ok: true, value: 5 })
    expect(fail(refusal)).toEqual({ ok: false, fault: refusal })
  })
})
