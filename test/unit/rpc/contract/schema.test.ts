import { Type as Library } from 'typebox'
import { describe, expect, it } from 'vitest'
import * as Type from '../../../../rpc/contract/schema.ts'
import { answer, type Handler } from '../../../../rpc/server/answer.ts'

const { decode } = Type

describe('a schema', () => {
  it('is the JSON that typebox makes', () => {
    const made = (T: typeof Library): readonly unknown[] => [
      T.Object({ a: T.Optional(T.String({ pattern: '^a' })), b: T.Integer({ minimum: 0 }) }, { description: 'x' }),
      T.Object({}, { additionalProperties: false }),
      T.Object({ a: T.Optional(T.Number()) }),
      T.Record(T.String(), T.Unknown(), { description: 'y' }),
      T.Union([T.String(), T.Null()], { description: 'z' }),
      ...[T.Literal('a'), T.Literal(1), T.Literal(true), T.Boolean()],
      T.Array(T.String(), { maxItems: 3 }),
      T.Unsafe<'a'>({ type: 'string', enum: ['a'] }),
      T.Pick(T.Object({ a: T.String(), b: T.String() }, { additionalProperties: true }), ['b']),
      T.Omit(T.Object({ a: T.String(), b: T.String() }), ['a']),
    ]
    expect(JSON.stringify(made(Type as unknown as typeof Library))).toBe(JSON.stringify(made(Library)))
  })
})

describe('an answer', () => {
  const ANSWER = Type.Object({
    count: Type.Integer({ minimum: 0, maximum: 9 }),
    name: Type.Optional(Type.String({ pattern: '^[a-z]*$', minLength: 1, maxLength: 3 })),
    list: Type.Array(Type.Union([Type.Literal('a'), Type.Null()]), { maxItems: 2 }),
  })

  it('is decoded to the members that its schema names', () => {
    expect(decode(ANSWER, { count: 0, name: 'abc', list: ['a', null], more: 1 })).toEqual({
      ...{ count: 0, name: 'abc', list: ['a', null] },
    })
    expect(decode(ANSWER, { count: 9, list: [] })).toEqual({ count: 9, list: [] })
  })

  it.each([
    ...[null, undefined, [], 'x', 7, {}, { count: 1 }, { list: [] }],
    ...[-1, 10, 1.5, '1', null, Number.NaN, 2 ** 53].map((count) => ({ count, list: [] })),
    ...['', 'abcd', 'A', 7, null].map((name) => ({ count: 1, list: [], name })),
    ...[{}, 'a', ['b'], ['a', 'a', 'a'], [undefined]].map((list) => ({ count: 1, list })),
    Object.create({ count: 1, list: [] }),
  ])('of another shape is refused: %j', (value) => {
    expect(decode(ANSWER, value)).toBeUndefined()
  })

  it('is refused where a text is too long to be searched for its pattern', () => {
    const pairs = Type.Object({ hex: Type.String({ pattern: '^([0-9a-f]{2})*$' }) })
    expect(decode(pairs, { hex: 'ab'.repeat(1_000) })).toEqual({ hex: 'ab'.repeat(1_000) })
    expect(decode(pairs, { hex: 'ab'.repeat(9_000_000) })).toBeUndefined()
  })

  it('keeps every member of an open object and of a record, whatever their names', () => {
    const json = JSON.parse('{"__proto__": "x", "a": "y"}')
    const open = decode(Type.Object({ a: Type.String() }, { additionalProperties: true }), json)
    expect(Object.entries(open as object)).toEqual(Object.entries(json))
    expect(Object.entries(decode(Type.Record(Type.String(), Type.String()), json) as object)).toEqual(
      Object.entries(json),
    )
    expect(decode(Type.Record(Type.String(), Type.Integer()), json)).toBeUndefined()
  })

  it('is converted where the schema says so, one conversion after the other', () => {
    const half = Type.decodedBy(Type.Integer(), (value) => (value % 2 === 0 ? value / 2 : undefined))
    const nested = Type.decodedBy(Type.memberOf('value', half), (value) => `half of it is ${value}`)
    expect(decode(nested, { value: 8 })).toBe('half of it is 4')
    expect(decode(nested, { value: 7 })).toBeUndefined()
    expect(decode(nested, {})).toBeUndefined()
  })
})

it('a handler that answers another shape than its route does not compile', () => {
  // @ts-expect-error: a health answer has a status.
  const missing: Handler<'getHealth'> = () => answer({ state: 'ok' })
  // @ts-expect-error: its status is a literal.
  const other: Handler<'getHealth'> = () => answer({ status: 'well' })
  // @ts-expect-error: the route of a transaction has no such parameter.
  const parameter: Handler<'getTransaction'> = (_, { params }) => answer({ txId: params.id })
  const right: Handler<'getHealth'> = () => answer({ status: 'ok' })
  expect([missing, other, parameter, right]).toHaveLength(4)
})
