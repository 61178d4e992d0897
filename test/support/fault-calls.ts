import { sourceFiles } from './source-tree.ts'

/** A call in the source that makes a fault. */
export interface FaultCall {
  /** `path:line`. */
  readonly at: string
  /** Codes in the first argument: several for a conditional expression, none for a variable. */
  readonly codes: readonly string[]
  /** Names of the facts. Empty without a second argument. Undefined if that argument is not a plain object literal. */
  readonly facts: readonly string[] | undefined
}

/** All calls of `fault(...)` in the source. */
export function faultCalls(): readonly FaultCall[] {
  return sourceFiles().flatMap(({ path, text }) =>
    [...text.matchAll(/(?<![\w.])fault\(/g)]
      .filter(({ index }) => !/function $/.test(text.slice(0, index)))
      .map(({ index }) => {
        const [first = '', second] = parts(text, index + 'fault('.length)
        const codes = [...first.matchAll(/'([a-z0-9]+\/[a-z0-9-]+)'/g)].map(([, code]) => code as string)
        return { at: `${path}:${text.slice(0, index).split('\n').length}`, codes, facts: factsOf(second) }
      }),
  )
}

/** Names in an object literal. Empty for a call without facts, undefined for any other expression. */
function factsOf(argument: string | undefined): readonly string[] | undefined {
  const text = argument?.trim() ?? ''
  if (text === '') return []
  if (!text.startsWith('{') || text.includes('...')) return undefined
  return parts(text, 1)
    .map((field) => /^\s*(\w+)/.exec(field)?.[1])
    .filter((name) => name !== undefined)
}

/** Splits the text from `start` to its closing bracket at commas of the outermost level. Strings stay whole. */
function parts(text: string, start: number): string[] {
  const found: string[] = []
  let from = start
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at] as string
    if (`'"\``.includes(character)) at = endOfString(text, at)
    else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character) && depth-- === 0) return [...found, text.slice(from, at)]
    else if (character === ',' && depth === 0) {
      found.push(text.slice(from, at))
      from = at + 1
    }
  }
  return found
}

function endOfString(text: string, start: number): number {
  const quote = text[start] as string
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (quote === '`' && text.startsWith('${', at)) {
      const inner = parts(text, at + 2).join(',')
      at += 2 + inner.length
    } else if (text[at] === quote) return at
  }
  return text.length
}
