import { Compile } from 'typebox/compile'
import { fieldsOf } from '../../consensus/primitives/fields.ts'
import type { Schema } from './schema.ts'
import * as Type from './schema.ts'
import { sentences } from './sentences.ts'

/** Maximum values in a message, without tool arguments and payment. The longest handshake has about a hundred. */
export const MESSAGE_VALUES_MAX = 256
/** Maximum arguments of one call. */
export const ARGUMENTS_MAX = 64
/** Maximum characters of a resource's address. Answers repeat it. */
export const URI_CHARS_MAX = 2_048
const ICONS_MAX = 16
const PROMPT_ARGUMENTS_MAX = 16

const ANY_OBJECT = Type.Object({})
const NAMED_OBJECTS = Type.Record(Type.String(), ANY_OBJECT)
const ICON = Type.Object({ sizes: Type.Optional(Type.Array(Type.String(), { maxItems: ICONS_MAX })) })
const CLIENT_INFO = Type.Object({ icons: Type.Optional(Type.Array(ICON, { maxItems: ICONS_MAX })) })
const CAPABILITIES = Type.Object({
  experimental: Type.Optional(NAMED_OBJECTS),
  extensions: Type.Optional(NAMED_OBJECTS),
})

/** Metadata of every message in the revisions of MCP without a handshake. */
const META: Schema = Type.Object({
  'io.modelcontextprotocol/clientInfo': Type.Optional(CLIENT_INFO),
  'io.modelcontextprotocol/clientCapabilities': Type.Optional(CAPABILITIES),
})

/** Parameters that could make the SDK write long reports. The SDK checks all other parameters itself. */
const PARAMETERS: Readonly<Record<string, Schema>> = {
  initialize: Type.Object({
    clientInfo: Type.Optional(CLIENT_INFO),
    capabilities: Type.Optional(CAPABILITIES),
  }),
  'prompts/get': Type.Object({
    arguments: Type.Optional(Type.Record(Type.String(), Type.String(), { maxProperties: PROMPT_ARGUMENTS_MAX })),
  }),
  'resources/read': Type.Object({ uri: Type.Optional(Type.String({ maxLength: URI_CHARS_MAX })) }),
}

const META_CHECK = Compile(META)
const CHECKS = new Map(Object.entries(PARAMETERS).map(([method, schema]) => [method, Compile(schema)]))

/**
 * What is wrong with a message. Empty if it may go to the SDK, whose validator visits each member several times and reports
 * each misfit at length: a hostile message must be cut off here.
 */
export function messageMisfits(message: unknown): readonly string[] {
  const { method, params } = fieldsOf(message)
  const { arguments: given, _meta: meta } = fieldsOf(params)
  if (valuesIn(message, [method === 'tools/call' ? given : null, fieldsOf(meta)['x402/payment']]) > MESSAGE_VALUES_MAX)
    return [`a message may have ${MESSAGE_VALUES_MAX} values, beside arguments of a tool and payment`]
  // The members of a list are counted, too: a long list must not reach the validator that would refuse it.
  if (typeof given === 'object' && Object.keys(given ?? {}).length > ARGUMENTS_MAX)
    return [`there may be ${ARGUMENTS_MAX} arguments`]
  const check = typeof method === 'string' ? CHECKS.get(method) : undefined
  return [...misfitsOf(check, params, 'params'), ...misfitsOf(META_CHECK, meta, 'params._meta')]
}

function misfitsOf(check: typeof META_CHECK | undefined, value: unknown, at: string): readonly string[] {
  if (check === undefined || value === undefined || check.Check(value)) return []
  return sentences(check.Errors(value), { schema: {}, whole: at, member: 'member' }).map((said) => `${at}: ${said}`)
}

/** Counts a value and all values inside it, except inside a member of `without`. Stops once there are too many. */
function valuesIn(value: unknown, without: readonly unknown[]): number {
  let count = 0
  const left = [value]
  while (left.length > 0 && count <= MESSAGE_VALUES_MAX) {
    const next = left.pop()
    count += 1
    if (next === null || typeof next !== 'object' || without.includes(next)) continue
    const inside = Object.values(next)
    if (inside.length > MESSAGE_VALUES_MAX) return inside.length
    left.push(...inside)
  }
  return count
}
