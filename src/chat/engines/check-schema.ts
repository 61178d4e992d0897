import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { readUnfenced } from '../../../marketplace/chat/models/json-answer.ts'
import type { SchemaCheck } from '../../../marketplace/ports/chat-tasks.ts'
import { EngineRefusal } from '../../engines/refusal.ts'

/**
 * Formats and unknown keywords are ignored. Only own properties count, because every object inherits `constructor` and
 * `toString`. A part that is referenced often is compiled once.
 */
const OPTIONS = {
  strict: false,
  validateFormats: false,
  validateSchema: false,
  logger: false,
  ownProperties: true,
  inlineRefs: false,
} as const
const ERRORS_MAX = 3
const REASON_CHARS_MAX = 300
/** Drafts in which `items` may be a list. */
const OLD_DRAFT = /draft-0[3-7]/

type Schema = Readonly<Record<string, unknown>>

/**
 * With null as `text`, only the schema is checked. Throws a refusal if the schema is unusable. If the check takes too long, this
 * process is ended from outside.
 */
export function checkSchema({ schema, text }: { readonly schema: Schema; readonly text: string | null }): SchemaCheck {
  const validate = compiled(schema)
  if (text === null) return { passes: false, text: '', reason: 'there is no text' }
  const bare = readUnfenced(text)
  const value = parsed(bare)
  if (value === undefined) return { passes: false, text: bare, reason: 'it is not JSON' }
  return validate(value)
    ? { passes: true, text: bare, reason: '' }
    : { passes: false, text: bare, reason: reasonOf(validate.errors ?? []) }
}

function compiled({ $schema, $async: _, ...schema }: Schema): ValidateFunction {
  // `$async` exists only in this library. It would turn every result into a promise, which always counts as true.
  try {
    const ajv = OLD_DRAFT.test(String($schema)) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS)
    return ajv.compile(schema)
  } catch (error) {
    throw new EngineRefusal(error instanceof Error ? error.message.slice(0, REASON_CHARS_MAX) : 'unknown cause')
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function reasonOf(errors: readonly ErrorObject[]): string {
  const told = errors
    .slice(0, ERRORS_MAX)
    .map(({ instancePath, message }) => `${instancePath === '' ? 'the whole' : instancePath} ${message}`)
  return told.join('; ').slice(0, REASON_CHARS_MAX)
}
