import { describe, expect, it } from 'vitest'
import { fieldsOf, objectOf } from '../../../../consensus/primitives/fields.ts'

describe('a value that was not checked yet', () => {
  it('has members if it is an object, and no others', () => {
    const object = { a: 1 }
    expect([fieldsOf(object), objectOf(object)]).toEqual([object, object])
    for (const value of [null, undefined, 7, 'text', [1], true])
      expect([fieldsOf(value), objectOf(value)]).toEqual([{}, null])
  })
})
