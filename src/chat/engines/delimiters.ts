/** How a language hides brackets that do not count. */
export interface QuotingRules {
  readonly comments: readonly string[]
  readonly blockComments: boolean
  /** Quotes of texts that end on their line. */
  readonly quotes: readonly string[]
  /** Quotes of texts that may span lines, longer ones first. */
  readonly longQuotes: readonly string[]
}

const PAIRS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
const OPENING = new Set(Object.values(PAIRS))

/** A sentence; null if the brackets balance. This counts and does not parse, so it can be wrong in both directions. */
export function bracketProblem(code: string, rules: QuotingRules): string | null {
  const open: { readonly mark: string; readonly line: number }[] = []
  let line = 1
  for (let at = 0; at < code.length; ) {
    const next = afterHidden(code, at, rules)
    if (next > at) {
      for (; at < next; at++) if (code[at] === '\n') line += 1
      continue
    }
    const mark = code[at++] as string
    if (mark === '\n') line += 1
    else if (OPENING.has(mark)) open.push({ mark, line })
    else if (mark in PAIRS && open.pop()?.mark !== PAIRS[mark]) return `"${mark}" on line ${line} closes nothing`
  }
  const last = open.at(-1)
  return last === undefined ? null : `"${last.mark}" on line ${last.line} is not closed`
}

/** End of the comment or quoted text that begins here, else the same position. */
function afterHidden(code: string, at: number, { comments, blockComments, quotes, longQuotes }: QuotingRules): number {
  if (blockComments && code.startsWith('/*', at)) return after(code, '*/', at + 2)
  if (comments.some((mark) => code.startsWith(mark, at))) return after(code, '\n', at)
  const long = longQuotes.find((mark) => code.startsWith(mark, at))
  if (long !== undefined) return after(code, long, at + long.length)
  const mark = code[at] as string
  if (mark === '\\') return Math.min(at + 2, code.length)
  return quotes.includes(mark) ? afterQuoted(code, at, mark) : at
}

function after(code: string, mark: string, from: number): number {
  const found = code.indexOf(mark, from)
  return found === -1 ? code.length : found + mark.length
}

/** A quote that does not close on its line is an apostrophe. */
function afterQuoted(code: string, at: number, mark: string): number {
  for (let i = at + 1; i < code.length && code[i] !== '\n'; i++) {
    if (code[i] === '\\') i += 1
    else if (code[i] === mark) return i + 1
  }
  return at
}
