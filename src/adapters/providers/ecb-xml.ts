import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../../consensus/primitives/result.ts'
import type { ReferenceRates } from '../../../marketplace/ports/providers.ts'
import { referenceRates } from './day-rates.ts'

const DEPTH_MAX = 8
const NAME = /[A-Za-z_][\w:.-]{0,63}/y
const ATTRIBUTE = /\s+([A-Za-z_][\w:.-]{0,63})\s*=\s*(?:"([^"<&]{0,200})"|'([^'<&]{0,200})')/y
const DECLARATION = /^\uFEFF?(?:<\?xml [^<>?]{0,200}\?>)?/

interface Tag {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
}

/**
 * Rates in the file of the European Central Bank. The parser accepts only closed elements, attributes and text: no
 * entities, comments or document types. Anything else is `provider/answer`.
 */
export function ecbRates(provider: string, xml: string, nowMs: number): Result<ReferenceRates> {
  const tags = elementsOf(xml)
  const wrong = (reason: string): Result<never> => fail(fault('provider/answer', { provider, reason }))
  if (tags === null) return wrong('it is not the XML of such a file')
  const cubes = tags.filter(({ name }) => name === 'Cube')
  const [day, ...more] = cubes.flatMap(({ attributes }) => attributes.get('time') ?? [])
  if (day === undefined || more.length > 0) return wrong('it is not about one day')
  const rates = cubes.flatMap(({ attributes }): (readonly [string, string])[] => {
    const [currency, rate] = [attributes.get('currency'), attributes.get('rate')]
    return currency === undefined ? [] : [[currency, rate ?? '']]
  })
  return referenceRates(provider, day, rates, nowMs)
}

/** Null if the text is not well formed. */
function elementsOf(xml: string): readonly Tag[] | null {
  const tags: Tag[] = []
  const open: string[] = []
  let at = DECLARATION.exec(xml)?.[0].length ?? 0
  while (at < xml.length) {
    const begin = xml.indexOf('<', at)
    const text = xml.slice(at, begin < 0 ? xml.length : begin)
    if (text.includes('&') || (open.length === 0 && text.trim() !== '')) return null
    if (begin < 0) break
    const end = xml[begin + 1] === '/' ? closing(xml, begin, open) : opening(xml, begin, open, tags)
    if (end === null || (open.length === 0 && xml.slice(end).includes('<'))) return null
    at = end
  }
  return open.length === 0 ? tags : null
}

/** Position after the closing tag of the innermost open element; null if there is none. */
function closing(xml: string, begin: number, open: string[]): number | null {
  const name = open.pop()
  const rest =
    name === undefined ? null : /^\s{0,9}>/.exec(xml.slice(begin + 2 + name.length, begin + 12 + name.length))
  return rest !== null && xml.startsWith(name as string, begin + 2)
    ? begin + 2 + (name as string).length + rest[0].length
    : null
}

/** Position after the opening tag; null if there is none. */
function opening(xml: string, begin: number, open: string[], tags: Tag[]): number | null {
  NAME.lastIndex = begin + 1
  const name = NAME.exec(xml)?.[0]
  if (name === undefined || open.length >= DEPTH_MAX) return null
  let at = begin + 1 + name.length
  const attributes = new Map<string, string>()
  for (;;) {
    ATTRIBUTE.lastIndex = at
    const [all, key, double, single] = ATTRIBUTE.exec(xml) ?? []
    if (all === undefined || key === undefined) break
    if (attributes.has(key)) return null
    attributes.set(key, double ?? single ?? '')
    at += all.length
  }
  tags.push({ name, attributes })
  const rest = /^\s{0,9}(\/?)>/.exec(xml.slice(at, at + 12))
  if (rest === null) return null
  if (rest[1] === '') open.push(name)
  return at + rest[0].length
}
