import { encodeText } from '../../../consensus/primitives/text.ts'
import { Problem } from './readers.ts'

/** Longest request of a document, bytes of UTF-8. */
export const DOCUMENT_REQUEST_BYTES_MAX = 65_536

/** Longest number that can be one with so few digits that JSON keeps them all. */
const NUMBER_CHARS_MAX = 40

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

/**
 * JSON text as plain values. A number with more digits than JSON numbers keep, or with an exponent, is a problem: what is
 * read must be what was written, and such amounts can be written as text.
 */
export function readExactJson(text: string): unknown {
  if (encodeText(text).length > DOCUMENT_REQUEST_BYTES_MAX)
    return new Problem(`the request is limited to ${DOCUMENT_REQUEST_BYTES_MAX} bytes`)
  const inexact: string[] = []
  const note: Reviver = (_key, value, context) => {
    const source = context?.source
    if (typeof value === 'number' && source !== undefined && !isExact(source, value)) inexact.push(source)
    return value
  }
  try {
    const value: unknown = JSON.parse(text, note)
    return inexact[0] === undefined ? value : new Problem(inexactText(inexact[0]))
  } catch {
    return new Problem('the request is not JSON text; it takes an object with the fields of requestFormat')
  }
}

function inexactText(source: string): string {
  return `the number ${source.slice(0, NUMBER_CHARS_MAX)} has an exponent or more digits than JSON numbers keep; write it as text, in digits with at most one point`
}

/** A long number is not looked into: the last of its zeros would be searched for once for each of them. */
function isExact(source: string, value: number): boolean {
  return source.length <= NUMBER_CHARS_MAX && plainNumber(source) === String(value)
}

/** The shortest way to write the same number. */
function plainNumber(source: string): string {
  const short = source.includes('.') && !/[eE]/.test(source) ? source.replace(/\.?0+$/, '') : source
  return short === '-0' ? '0' : short
}
