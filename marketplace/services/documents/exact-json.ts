import { encodeText } from '../../../consensus/primitives/text.ts'
import { Problem } from './readers.ts'

/** Longest request of a document, bytes of UTF-8. */
export const DOCUMENT_REQUEST_BYTES_MAX = 65_536

/** Longest number that can be one with so few digits that JSON keeps them all. */
const NUMBER_CHARS_MAX = 40
const NAME_SHOWN_MAX = 60

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

/**
 * JSON text as plain values. A member that an object has twice is a problem, as one of them would be lost. A number with more digits than JSON numbers keep, or with an exponent, is a problem: what is
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
    const twice = memberTwice(text)
    if (twice !== undefined) return new Problem(`"${twice}" is there twice in one object; leave one of them out`)
    return inexact[0] === undefined ? value : new Problem(inexactText(inexact[0]))
  } catch {
    return new Problem(
      `the request is not JSON text; it takes an object with the fields of requestFormat${brokenAt(text)}`,
    )
  }
}

/** The first member that an object of valid JSON has once more. */
function memberTwice(text: string): string | undefined {
  const open: Set<string>[] = []
  for (const [token, key] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (key !== undefined) {
      const name = JSON.parse(key) as string
      if (open.at(-1)?.has(name)) return name.slice(0, NAME_SHOWN_MAX)
      open.at(-1)?.add(name)
    }
  }
  return undefined
}

/** Where text stops being JSON, to be read after a sentence. */
function brokenAt(text: string): string {
  const at = stopOf(text) ?? strangeTokenIn(text)
  const before = text.slice(0, at).trimEnd()
  if (at >= text.trimEnd().length) return before === '' ? '' : '; it ends before it is complete'
  const isLastComma = before.endsWith(',') && /^\s*[}\]]/.test(text.slice(at))
  const last = isLastComma ? before.length - 1 : at
  const hint = isLastComma ? ': no comma may follow the last member' : ''
  return `; it is broken near letter ${last + 1}, at ${text[last]}${hint}`
}

/** How many letters begin well; undefined where the parser does not tell. */
function stopOf(text: string): number | undefined {
  try {
    JSON.parse(text)
    return text.length
  } catch (error) {
    const { message } = error as SyntaxError
    const place = / at position ([0-9]+)/.exec(message)?.[1]
    return place === undefined ? (message.includes('end of JSON') ? text.length : undefined) : Number(place)
  }
}

/** Of a token that is out of place the parser tells no place: it is the last letter of the shortest beginning that it refuses so. */
function strangeTokenIn(text: string): number {
  let [well, ill] = [0, text.length]
  while (ill - well > 1) {
    const middle = (well + ill) >> 1
    if (stopOf(text.slice(0, middle)) === undefined) ill = middle
    else well = middle
  }
  return well
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
