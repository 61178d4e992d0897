import { encodeText } from '../../../consensus/primitives/text.ts'
import { Problem } from './readers.ts'

/** Maximum length of a document request, in bytes of UTF-8. */
export const DOCUMENT_REQUEST_BYTES_MAX = 65_536

/** More than enough: a JSON number keeps at most 17 significant digits. */
const NUMBER_CHARS_MAX = 40
const NAME_SHOWN_MAX = 60

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

/**
 * Parses JSON without loss, or returns a {@link Problem}. A duplicate member is a problem, because the parser would
 * keep only one of the two. So is a number with an exponent or with more digits than JSON numbers keep.
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

/** The name of the first duplicate member in valid JSON, cut for display. */
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

/** Describes where the text stops being JSON; appended to a sentence. */
function brokenAt(text: string): string {
  const at = stopOf(text) ?? strangeTokenIn(text)
  const before = text.slice(0, at).trimEnd()
  if (at >= text.trimEnd().length) return before === '' ? '' : '; it ends before it is complete'
  const isLastComma = before.endsWith(',') && /^\s*[}\]]/.test(text.slice(at))
  const last = isLastComma ? before.length - 1 : at
  const hint = isLastComma ? ': no comma may follow the last member' : ''
  return `; it is broken near letter ${last + 1}, at ${text[last]}${hint}`
}

/** Length of the valid beginning; undefined if the parser gives no position. */
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

/**
 * The parser gives no position for a misplaced token. So a binary search finds the shortest beginning that fails this
 * way; the token is its last letter.
 */
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

/** Long numbers are refused unread: stripping their trailing zeros by the pattern takes quadratic time. */
function isExact(source: string, value: number): boolean {
  return source.length <= NUMBER_CHARS_MAX && plainNumber(source) === String(value)
}

/** The same number without zeros at the end of its decimals; -0 as 0. A number with an exponent stays as it is. */
function plainNumber(source: string): string {
  const short = source.includes('.') && !/[eE]/.test(source) ? source.replace(/\.?0+$/, '') : source
  return short === '-0' ? '0' : short
}
