/** A fenced code block in Markdown. */
export interface FencedBlock {
  /** In lower case; empty if there is none. */
  readonly language: string
  readonly code: string
  /** Line of the opening fence, from 1. */
  readonly line: number
  readonly closed: boolean
}

const LANGUAGE_CHARS_MAX = 32

/**
 * Fenced blocks in order (CommonMark 0.31, 4.5). Unlike in CommonMark, a fence may have any indent, because models put
 * blocks into nested lists.
 */
export function fencedBlocks(text: string): readonly FencedBlock[] {
  const blocks: FencedBlock[] = []
  let open: { readonly fence: string; readonly language: string; readonly line: number } | null = null
  let code: string[] = []
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const fence = fenceOf(line)
    if (open === null) {
      if (fence === null || !opens(fence)) continue
      open = { fence: fence.marks, language: languageOf(fence.rest), line: i + 1 }
      code = []
    } else if (fence !== null && closes(fence, open.fence)) {
      blocks.push({ language: open.language, line: open.line, code: code.join('\n'), closed: true })
      open = null
    } else code.push(line)
  }
  if (open !== null) blocks.push({ language: open.language, line: open.line, code: code.join('\n'), closed: false })
  return blocks
}

interface Fence {
  readonly marks: string
  readonly rest: string
}

function fenceOf(line: string): Fence | null {
  const start = line.trimStart()
  const mark = start[0]
  if (mark !== '`' && mark !== '~') return null
  let length = 0
  while (start[length] === mark) length += 1
  return length < 3 ? null : { marks: start.slice(0, length), rest: start.slice(length).trim() }
}

/** Further backticks after the fence make it inline code. */
function opens({ marks, rest }: Fence): boolean {
  return !marks.startsWith('`') || !rest.includes('`')
}

function closes({ marks, rest }: Fence, opened: string): boolean {
  return rest === '' && marks[0] === opened[0] && marks.length >= opened.length
}

/** Some models write the language as `{.python}` or `js:file.js`. */
function languageOf(rest: string): string {
  const word = /^[{.\s]*([\p{L}\d#+_-]+)/u.exec(rest.slice(0, 2 * LANGUAGE_CHARS_MAX))?.[1] ?? ''
  return word.slice(0, LANGUAGE_CHARS_MAX).toLowerCase()
}
