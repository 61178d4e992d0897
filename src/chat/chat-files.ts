import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import {
  COMPARISON_FIELDS,
  type Comparison,
  type FaqEntry,
  type ProductFacts,
} from '../../marketplace/chat/info/shapes.ts'

const FILE_CHARS_MAX = 262_144
const PRODUCTS_MAX = 16
const ENTRIES_MAX = 64
const NAME_CHARS_MAX = 60
const FACT_CHARS_MAX = 300
const QUESTION_CHARS_MAX = 300
const ANSWER_CHARS_MAX = 2_000

class Wrong extends Error {}

/**
 * Reads the operator's comparison with other products: an object by product name, each with the texts of {@link
 * COMPARISON_FIELDS}. The fault `config/file` names the place.
 */
export function readComparison(path: string | null): Promise<Result<Comparison>> {
  return path === null ? Promise.resolve(ok({})) : readChecked(path, comparisonIn)
}

/** Reads the operator's questions: a list of `question` and `answer`. Fault `config/file`. */
export function readFaq(path: string | null): Promise<Result<readonly FaqEntry[]>> {
  return path === null ? Promise.resolve(ok([])) : readChecked(path, faqIn)
}

/** Time of the last change of the files, at most `nowMs`. Without files, `nowMs`. */
export async function changedAt(paths: readonly (string | null)[], nowMs: number): Promise<number> {
  const named = paths.filter((path) => path !== null)
  const times = await Promise.all(
    named.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
  const newest = Math.max(0, ...times)
  return newest === 0 ? nowMs : Math.min(newest, nowMs)
}

async function readChecked<T>(path: string, check: (value: unknown) => T): Promise<Result<T>> {
  const wrong = (reason: string) => fail(fault('config/file', { path: resolve(path), reason }))
  const text = await readFile(path, 'utf8').catch(() => null)
  if (text === null) return wrong('it cannot be read')
  if (text.length > FILE_CHARS_MAX) return wrong(`it is longer than ${FILE_CHARS_MAX} characters`)
  try {
    return ok(check(JSON.parse(text)))
  } catch (error) {
    if (error instanceof Wrong) return wrong(error.message)
    if (error instanceof SyntaxError) return wrong('it is not JSON')
    throw error
  }
}

function comparisonIn(value: unknown): Comparison {
  const products = Object.entries(fieldsOf(value, 'it'))
  if (products.length > PRODUCTS_MAX) throw new Wrong(`it has more than ${PRODUCTS_MAX} products`)
  return Object.fromEntries(
    products.map(([name, facts]) => [textOf(name, 'a name', NAME_CHARS_MAX), productOf(facts, name)]),
  )
}

function productOf(value: unknown, name: string): ProductFacts {
  const fields = onlyFields(value, name, COMPARISON_FIELDS)
  const facts = COMPARISON_FIELDS.map((field) => [field, textOf(fields[field], `${name}.${field}`, FACT_CHARS_MAX)])
  return Object.fromEntries(facts) as ProductFacts
}

function faqIn(value: unknown): readonly FaqEntry[] {
  if (!Array.isArray(value) || value.length > ENTRIES_MAX)
    throw new Wrong(`it must be a list of at most ${ENTRIES_MAX}`)
  return value.map((entry, i) => {
    const { question, answer } = onlyFields(entry, `[${i}]`, ['question', 'answer'])
    return {
      question: textOf(question, `[${i}].question`, QUESTION_CHARS_MAX),
      answer: textOf(answer, `[${i}].answer`, ANSWER_CHARS_MAX),
    }
  })
}

function onlyFields(value: unknown, place: string, names: readonly string[]): Readonly<Record<string, unknown>> {
  const fields = fieldsOf(value, place)
  const foreign = Object.keys(fields).find((name) => !names.includes(name))
  if (foreign !== undefined)
    throw new Wrong(`${place}: there is no field "${foreign.slice(0, 40)}"; there are ${names.join(', ')}`)
  return fields
}

function fieldsOf(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Wrong(`${place} must be an object`)
  return value as Readonly<Record<string, unknown>>
}

function textOf(value: unknown, place: string, charsMax: number): string {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= charsMax
  if (!isText) throw new Wrong(`${place} must be a text of 1 to ${charsMax} characters`)
  return value.trim()
}
