import { unknownName } from '../../consensus/primitives/likeness.ts'

/** One misfit that a validator found. Ajv and typebox both report these members. */
export interface Complaint {
  readonly keyword: string
  readonly instancePath: string
  readonly params: object
  readonly message?: string | undefined
}

/** What was checked: its schema, and the words for the whole and for one member. */
export interface Checked {
  readonly schema: object
  readonly whole: string
  readonly member: string
}

type Params = Readonly<Record<string, unknown>>

interface Shape {
  readonly anyOf?: readonly Shape[]
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
}

const HEX_WORDS = 'bytes in hexadecimal digits (0-9, a-f), two for each'
const ID_WORDS = '64 hexadecimal digits (0-9, a-f), as ids of transactions and blocks are'

/** The patterns of the contract in words. */
const PATTERN_WORDS: Readonly<Record<string, string>> = {
  '^[0-9a-f]{64}$': ID_WORDS,
  '^(0x)?[0-9a-f]{64}$': `${ID_WORDS}, or the same behind 0x`,
  '^[0-9a-f]{128}$': '128 hexadecimal digits (0-9, a-f), as signatures of a tab have',
  '^([0-9a-f]{2})*$': HEX_WORDS,
  '^([0-9a-f]{2})+$': HEX_WORDS,
  '^(0|[1-9][0-9]*)$': 'a whole number as text, without a sign or zeros before it',
  '^(0|[1-9][0-9]*)(\\.[0-9]+)?$': 'a plain decimal number, like 12.5',
  '^(latest|[0-9]{1,10}|[0-9a-f]{64})$': 'latest, a height, or the id of a block (64 hexadecimal digits)',
  '^([0-9a-f]{64}|[A-Z0-9]{2,10}-[A-Z0-9]{2,10}-[0-9]{1,4})$':
    'the name of a pool, like FAR-FUSD-30, or its id (64 hexadecimal digits)',
  '^[A-Z0-9]{2,10}-[A-Z0-9]{2,10}-[0-9]{1,4}$': 'the name of a pool, like FAR-FUSD-30',
  '^[A-Z][A-Z0-9]{1,9}$': 'the symbol of an asset: 2 to 10 capitals or digits, like FUSD',
  '^[0-9]{1,9}$': 'what the page before gave as its cursor',
  '^[0-9a-f]{32}$': '32 hexadecimal digits (0-9, a-f), as the template has them',
  '^[0-9a-f]{64}\\.(0|[1-9][0-9]{0,9})$': 'the id of an event, as the stream gives it',
  '^[a-z0-9-]{3,32}$': 'the id of an agent: 3 to 32 small letters, digits or -',
  '^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$':
    'the id of an agent: 3 to 32 small letters, digits or -, none of those at an end',
  '^[a-z0-9-]{4,48}$': 'the id of a service: 4 to 48 small letters, digits or -',
  '^(block|reorganisation|receipt|refund|tab)(,(block|reorganisation|receipt|refund|tab)){0,4}$':
    'some of block, reorganisation, receipt, refund and tab, with commas between',
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

/** Maximum characters shown of a path. The caller chose its names. */
const PATH_CHARS_MAX = 200

/** The findings of a validator in words: one sentence for each missing or unknown member, and for each wrong value. */
export function sentences(complaints: readonly Complaint[], checked: Checked): readonly string[] {
  const said = new Set<string>()
  const wanted = new Map<string, Set<string>>()
  for (const complaint of complaints) {
    for (const sentence of memberSentences(complaint, checked)) said.add(sentence)
    const words = valueWords(complaint)
    if (words === undefined) continue
    const place = placeOf(complaint.instancePath) || checked.whole
    wanted.set(place, (wanted.get(place) ?? new Set()).add(words))
  }
  for (const [place, words] of wanted) said.add(`${place} must be ${[...words].join(' or ')}`)
  return said.size > 0 ? [...said] : [`${checked.whole} must have the documented shape`]
}

function memberSentences({ keyword, instancePath, params }: Complaint, { schema, member }: Checked): readonly string[] {
  const path = segmentsOf(instancePath)
  // Typebox reports each unknown member alone, then all together. After eight reports it stops, so the last may be missing.
  if (keyword === 'boolean') return strangers([String(path.at(-1))], path.slice(0, -1), { schema, member })
  const at = placeOf(instancePath)
  const { missingProperty, requiredProperties, additionalProperty, additionalProperties } = params as Params
  if (keyword === 'required')
    return listOf(requiredProperties ?? missingProperty).map((name) => `${at === '' ? '' : `${at}.`}${name} is missing`)
  return keyword === 'additionalProperties'
    ? strangers(listOf(additionalProperties ?? additionalProperty), path, { schema, member })
    : []
}

function strangers(
  names: readonly string[],
  path: readonly string[],
  { schema, member }: Pick<Checked, 'schema' | 'member'>,
): readonly string[] {
  const known = namesAt(schema, path)
  const at = path.join('.').slice(0, PATH_CHARS_MAX)
  return names.map((name) =>
    at === '' ? unknownName(member, name, known) : `${at}: ${unknownName('member', name, known)}`,
  )
}

/** Undefined if the complaint is not about the value. */
function valueWords({ keyword, params, message = 'of another form' }: Complaint): string | undefined {
  const { type, limit, pattern, allowedValue, allowedValues } = params as Params
  switch (keyword) {
    case 'required':
    case 'additionalProperties':
    case 'anyOf':
    case 'boolean':
      return undefined
    case 'type':
      return listOf(type)
        .map((name) => TYPE_WORDS[name] ?? name)
        .join(' or ')
    case 'minimum':
      return `at least ${limit}`
    case 'maximum':
      return `at most ${limit}`
    case 'minLength':
      return limit === 1 ? 'text that is not empty' : `text of at least ${limit} characters`
    case 'maxLength':
      return `text of at most ${limit} characters`
    case 'maxItems':
      return `a list of at most ${limit}`
    case 'maxProperties':
      return `an object of at most ${limit} members`
    case 'pattern':
      return PATTERN_WORDS[String(pattern)] ?? `text that fits ${String(pattern)}`
    case 'const':
      return String(allowedValue)
    case 'enum':
      return listOf(allowedValues).join(' or ')
    default:
      return message.replace(/^must be /, '')
  }
}

function namesAt(schema: Shape, [segment, ...rest]: readonly string[]): readonly string[] {
  const names = [schema, ...(schema.anyOf ?? [])].flatMap(({ properties = {}, items }) => {
    if (segment === undefined) return Object.keys(properties)
    const inside = Object.hasOwn(properties, segment) ? properties[segment] : items
    return inside === undefined ? [] : namesAt(inside, rest)
  })
  return [...new Set(names)]
}

function placeOf(pointer: string): string {
  return segmentsOf(pointer).join('.').slice(0, PATH_CHARS_MAX)
}

function segmentsOf(pointer: string): readonly string[] {
  return pointer.split('/').slice(1)
}

function listOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(String)
}
