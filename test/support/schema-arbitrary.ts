import fc from 'fast-check'

/** The parts of a JSON schema that the API document uses for requests. */
export interface RequestSchema {
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly RequestSchema[]
  readonly type?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: RequestSchema
  readonly properties?: Readonly<Record<string, RequestSchema>>
  readonly required?: readonly string[]
}

/** Resolves references of a document. */
export type Resolve = (ref: string) => RequestSchema

/** Values that schemas rarely allow. */
export const ODD: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 53,
    1e308,
    '',
    '0',
    '-1',
    '0x',
    'FF',
    '\u0000',
    '\ud800',
    [],
    {},
    [[]],
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Longest text to make for a schema without a pattern, unless the schema demands a longer one. */
const CHARS_MAX = 40
const DEPTH_MAX = 6

/** Values that a schema allows. `known` texts are used where they fit: existing ids reach more code than random ones. */
export function valuesOf(
  schema: RequestSchema,
  resolve: Resolve,
  known: readonly string[],
  depth = 0,
): fc.Arbitrary<unknown> {
  const { $ref, anyOf, type } = schema
  if ($ref !== undefined) return valuesOf(resolve($ref), resolve, known, depth)
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((each) => valuesOf(each, resolve, known, depth)))
  if (depth > DEPTH_MAX) return ODD
  switch (type) {
    case 'string':
      return textsOf(schema, known)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -(2 ** 31), max: Math.min(schema.maximum ?? 2 ** 31, 2 ** 32) })
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}, resolve, known, depth + 1), { maxLength: 4 })
    case 'object':
      return objectsOf(schema, resolve, known, depth)
    default:
      return ODD
  }
}

function textsOf(
  { pattern, minLength = 0, maxLength = CHARS_MAX }: RequestSchema,
  known: readonly string[],
): fc.Arbitrary<string> {
  const max = Math.min(maxLength, Math.max(minLength, CHARS_MAX))
  const expression = pattern === undefined ? null : new RegExp(pattern)
  const made = expression === null ? fc.string({ minLength, maxLength: max }) : fc.stringMatching(expression)
  const fitting = known.filter(
    (text) => (expression?.test(text) ?? true) && text.length >= minLength && text.length <= maxLength,
  )
  return fitting.length === 0 ? made : fc.oneof(made, fc.constantFrom(...fitting))
}

function objectsOf(
  { properties = {}, required = [] }: RequestSchema,
  resolve: Resolve,
  known: readonly string[],
  depth: number,
) {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, valuesOf(inner, resolve, known, depth + 1)]),
  )
  return fc.record(fields, { requiredKeys: required.filter((name) => name in fields) as never[] })
}

/** A body that mostly breaks a schema in one place: an odd value for a field or for the whole body, an extra field, or a missing one. */
export function brokenValuesOf(
  schema: RequestSchema,
  resolve: Resolve,
  known: readonly string[],
): fc.Arbitrary<unknown> {
  const good = valuesOf(schema, resolve, known)
  return fc
    .tuple(good, ODD, fc.nat(), fc.constantFrom('replace', 'remove', 'add', 'whole'))
    .map(([value, odd, at, how]) => {
      if (how === 'whole' || value === null || typeof value !== 'object' || Array.isArray(value)) return odd
      const names = Object.keys(value)
      const name = names[at % Math.max(1, names.length)] ?? 'extra'
      const { [name]: _, ...rest } = value as Record<string, unknown>
      if (how === 'remove') return rest
      return how === 'add' ? { ...value, extra: odd } : { ...rest, [name]: odd }
    })
}
