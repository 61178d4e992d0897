/**
 * JSON schemas with static types. The constructors have the names of typebox and give the same JSON. Typebox itself would
 * add 21 kB to the 55 kB (gzip) of the client in a browser.
 */

declare const WIRE: unique symbol
declare const DECODED: unique symbol
const OPTIONAL = Symbol('optional')
const CONVERT = Symbol('convert')

/** A JSON schema. `Wire` is the type of the JSON, `Decoded` the type that {@link decode} returns. */
export interface Schema<Wire = unknown, Decoded = Wire> {
  readonly [WIRE]?: Wire
  readonly [DECODED]?: Decoded
}

/** A member that may be missing. */
export interface OptionalSchema {
  readonly [OPTIONAL]: true
}

/** Schemas of the members of an object, by name. */
export type Properties = Readonly<Record<string, Schema>>

/** Schema of an object with known members. */
export interface ObjectSchema<P extends Properties = Properties, More = unknown>
  extends Schema<Members<P, 'wire'> & More, Members<P, 'decoded'>> {
  readonly properties: P
}

/** JSON type of the members that a schema names. */
export type StaticMembers<S> = S extends { readonly properties: infer P } ? Members<P, 'wire'> : never

/** JSON type of a schema. */
export type Static<S> = S extends Schema<infer Wire, infer _> ? Wire : never
/** Type that {@link decode} returns for a schema. */
export type Decoded<S> = S extends Schema<infer _, infer D> ? D : never

type OptionalNames<P> = { [K in keyof P]: P[K] extends OptionalSchema ? K : never }[keyof P]
type Member<S, How> = How extends 'wire' ? Static<S> : Decoded<S>
type Flat<T> = { [K in keyof T]: T[K] }
type Members<P, How> = Flat<
  { readonly [K in Exclude<keyof P, OptionalNames<P>>]: Member<P[K], How> } & {
    readonly [K in OptionalNames<P>]?: Member<P[K], How> | undefined
  }
>

interface Keywords {
  readonly description?: string
  readonly default?: unknown
  readonly format?: string
  readonly contentEncoding?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly additionalProperties?: boolean
}

type Open<K> = K extends { readonly additionalProperties: true } ? { readonly [member: string]: unknown } : unknown

interface Rules extends Keywords {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Properties
  readonly required?: readonly string[]
  readonly patternProperties?: Properties
  readonly [CONVERT]?: (value: unknown) => unknown
}

/* @__NO_SIDE_EFFECTS__ */
function simple(type: string, keywords: Keywords = {}): Schema {
  return { type, ...keywords } as Schema
}

/* @__NO_SIDE_EFFECTS__ */
function stringSchema(keywords?: Keywords): Schema<string> {
  return simple('string', keywords) as Schema<string>
}

/* @__NO_SIDE_EFFECTS__ */
function numberSchema(keywords?: Keywords): Schema<number> {
  return simple('number', keywords) as Schema<number>
}

/* @__NO_SIDE_EFFECTS__ */
function integerSchema(keywords?: Keywords): Schema<number> {
  return simple('integer', keywords) as Schema<number>
}

/* @__NO_SIDE_EFFECTS__ */
function booleanSchema(keywords?: Keywords): Schema<boolean> {
  return simple('boolean', keywords) as Schema<boolean>
}

/* @__NO_SIDE_EFFECTS__ */
function nullSchema(): Schema<null> {
  return simple('null') as Schema<null>
}

/* @__NO_SIDE_EFFECTS__ */
function unknownSchema(keywords: Keywords = {}): Schema<unknown> {
  return { ...keywords } as Schema<unknown>
}

/* @__NO_SIDE_EFFECTS__ */
function literalSchema<const T extends string | number | boolean>(value: T, keywords: Keywords = {}): Schema<T> {
  return { type: typeof value, const: value, ...keywords } as Schema<T>
}

/* @__NO_SIDE_EFFECTS__ */
function arraySchema<W, D>(items: Schema<W, D>, keywords: Keywords = {}): Schema<readonly W[], readonly D[]> {
  return { type: 'array', items, ...keywords } as Schema<readonly W[], readonly D[]>
}

/* @__NO_SIDE_EFFECTS__ */
function unionSchema<const S extends readonly Schema[]>(
  anyOf: S,
  keywords: Keywords = {},
): Schema<Static<S[number]>, Decoded<S[number]>> {
  return { anyOf, ...keywords } as Schema<Static<S[number]>, Decoded<S[number]>>
}

/* @__NO_SIDE_EFFECTS__ */
function recordSchema<W, D>(
  _names: Schema<string>,
  values: Schema<W, D>,
  keywords: Keywords = {},
): Schema<Readonly<Record<string, W>>, Readonly<Record<string, D>>> {
  return { type: 'object', patternProperties: { '^.*$': values }, ...keywords } as Schema<
    Readonly<Record<string, W>>,
    Readonly<Record<string, D>>
  >
}

/* @__NO_SIDE_EFFECTS__ */
function objectSchema<P extends Properties, const K extends Keywords = Keywords>(
  properties: P,
  keywords?: K,
): ObjectSchema<P, Open<K>> {
  const required = Object.keys(properties).filter((name) => !isOptional(properties[name]))
  return {
    ...{ type: 'object', ...(required.length > 0 && { required }), properties },
    ...keywords,
  } as unknown as ObjectSchema<P, Open<K>>
}

/* @__NO_SIDE_EFFECTS__ */
function optionalSchema<S extends Schema>(schema: S): S & OptionalSchema {
  return { ...schema, [OPTIONAL]: true }
}

/* @__NO_SIDE_EFFECTS__ */
function unsafeSchema<T>(schema: object): Schema<T> {
  return { ...schema } as Schema<T>
}

/* @__NO_SIDE_EFFECTS__ */
function pickSchema<P extends Properties, K extends keyof P & string>(
  { properties }: ObjectSchema<P>,
  names: readonly K[],
): ObjectSchema<Pick<P, K>> {
  const picked = Object.entries(properties).filter(([name]) => (names as readonly string[]).includes(name))
  return objectSchema(Object.fromEntries(picked) as Pick<P, K>)
}

/* @__NO_SIDE_EFFECTS__ */
function omitSchema<P extends Properties, K extends keyof P & string>(
  schema: ObjectSchema<P>,
  names: readonly K[],
): ObjectSchema<Omit<P, K>> {
  const left = Object.keys(schema.properties).filter((name) => !(names as readonly string[]).includes(name))
  return pickSchema(schema, left as never[]) as unknown as ObjectSchema<Omit<P, K>>
}

export {
  arraySchema as Array,
  booleanSchema as Boolean,
  integerSchema as Integer,
  literalSchema as Literal,
  nullSchema as Null,
  numberSchema as Number,
  objectSchema as Object,
  omitSchema as Omit,
  optionalSchema as Optional,
  pickSchema as Pick,
  recordSchema as Record,
  stringSchema as String,
  unionSchema as Union,
  unknownSchema as Unknown,
  unsafeSchema as Unsafe,
}

/** A schema whose values are converted when decoded, such as text to `bigint`. `convert` returns undefined to refuse. */
/* @__NO_SIDE_EFFECTS__ */
export function decodedBy<W, D, E>(schema: Schema<W, D>, convert: (value: D) => E | undefined): Schema<W, E> {
  const { [CONVERT]: first } = schema as Rules
  const both = (value: unknown): unknown => {
    const decoded = first === undefined ? value : first(value)
    return decoded === undefined ? undefined : convert(decoded as D)
  }
  return { ...schema, [CONVERT]: both } as unknown as Schema<W, E>
}

/** An object with one member. It is decoded to the value of that member. */
/* @__NO_SIDE_EFFECTS__ */
export function memberOf<const K extends string, W, D>(
  name: K,
  schema: Schema<W, D>,
): Schema<{ readonly [P in K]: W }, D> {
  const whole = objectSchema({ [name]: schema } as { readonly [P in K]: Schema<W, D> })
  return decodedBy(whole, (value) => (value as { readonly [P in K]: D })[name]) as unknown as Schema<
    { readonly [P in K]: W },
    D
  >
}

function isOptional(schema: object | undefined): boolean {
  return schema !== undefined && OPTIONAL in schema
}

/**
 * Reads a value by a schema. Undefined if it does not fit. Members that an object schema does not name are dropped, unless it sets
 * `additionalProperties`.
 */
export function decode<W, D>(schema: Schema<W, D>, value: unknown): D | undefined {
  const { [CONVERT]: convert, ...rules } = schema as Rules
  const plain = decodePlain(rules, value)
  return (plain === undefined || convert === undefined ? plain : convert(plain)) as D | undefined
}

function decodePlain(rules: Rules, value: unknown): unknown {
  if (rules.const !== undefined && value !== rules.const) return undefined
  if (rules.enum !== undefined && !rules.enum.includes(value)) return undefined
  for (const one of rules.anyOf ?? []) {
    const decoded = decode(one, value)
    if (decoded !== undefined) return decoded
  }
  if (rules.anyOf !== undefined) return undefined
  switch (rules.type) {
    case undefined:
      return value
    case 'string':
      return typeof value === 'string' && textFits(rules, value) ? value : undefined
    case 'integer':
      return Number.isSafeInteger(value) && numberFits(rules, value as number) ? value : undefined
    case 'number':
      return typeof value === 'number' && numberFits(rules, value) ? value : undefined
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'null':
      return value === null ? null : undefined
    case 'array':
      return decodeItems(rules, value)
    default:
      return decodeMembers(rules, value)
  }
}

function textFits({ pattern, minLength = 0, maxLength = Infinity }: Rules, text: string): boolean {
  if (text.length < minLength || text.length > maxLength) return false
  if (pattern === undefined) return true
  const search = new RegExp(pattern)
  try {
    return search.test(text)
  } catch {
    // A text of many megabytes can exhaust the stack of the search. A hostile node may answer with such a text, which is refused as a
    // misfit.
    return false
  }
}

function numberFits({ minimum = -Infinity, maximum = Infinity }: Rules, value: number): boolean {
  return value >= minimum && value <= maximum
}

function decodeItems({ items = {}, maxItems = Infinity }: Rules, value: unknown): unknown {
  if (!Array.isArray(value) || value.length > maxItems) return undefined
  const decoded = value.flatMap((item) => {
    const one = decode(items, item)
    return one === undefined ? [] : [one]
  })
  return decoded.length === value.length ? decoded : undefined
}

function decodeMembers({ properties, patternProperties, additionalProperties }: Rules, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
  const members: Map<string, unknown> = new Map(additionalProperties === true ? Object.entries(value) : [])
  const inside = patternProperties?.['^.*$']
  const known =
    inside === undefined ? (properties ?? {}) : Object.fromEntries(Object.keys(value).map((name) => [name, inside]))
  for (const [name, schema] of Object.entries(known)) {
    const member = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
    const decoded = member === undefined ? undefined : decode(schema, member)
    if (decoded !== undefined) members.set(name, decoded)
    else if (member !== undefined || !isOptional(schema)) return undefined
  }
  return Object.fromEntries(members)
}
