import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { gfmTable } from 'micromark-extension-gfm-table'
import { EngineRefusal } from '../../engines/refusal.ts'

type Root = ReturnType<typeof fromMarkdown>
type Content = Root['children'][number]
type Nodes = Root | Content
type Parents = Extract<Nodes, { readonly children: unknown }>
type Table = Extract<Content, { readonly type: 'table' }>

/** On hostile text the parser takes more than linear time. */
const TEXT_CHARS_MAX = 32_768
/** Below this depth only the words of a text are kept. */
const DEPTH_MAX = 64
const CODE_BLOCK = '(code block)'
/** Headings, list items and table rows without this end get a full stop. */
const SENTENCE_END = /[.!?…:;。！？]["'”’)\]]*$/u
/** Struck-out words are kept. Only their marks are removed. */
const STRIKE_MARK = /~~/g
/** HTML blocks that show nothing: scripts, styles, templates, comments and declarations. */
const UNSHOWN = /^\s*<(?:script|style|template|[!?])/i
const TAG = /<(?:\/?[a-z]|!--)[^<>]*>/gi

/** Markdown as text to be spoken. Each paragraph, heading, table row or code block becomes one line. */
export function plainText({ text }: { readonly text: string }): { readonly text: string } {
  if (text.length > TEXT_CHARS_MAX) throw new EngineRefusal(`the text is longer than ${TEXT_CHARS_MAX} characters`)
  const root = fromMarkdown(text, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] })
  return { text: blocksIn(root, 0).join('\n') }
}

function blocksIn(node: Parents, depth: number): readonly string[] {
  return node.children.flatMap((child) => blockLines(child, depth + 1)).filter((line) => line !== '')
}

function blockLines(node: Nodes, depth: number): readonly string[] {
  if (depth > DEPTH_MAX) return [wordsIn(node)]
  switch (node.type) {
    case 'code':
      return [CODE_BLOCK]
    case 'heading':
      return [asSentence(flowing(node, depth))]
    case 'table':
      return rowsOf(node, depth)
    case 'html':
      return [markupWords(node.value)]
    case 'listItem':
      return itemLines(blocksIn(node, depth))
    case 'root':
    case 'blockquote':
    case 'list':
      return blocksIn(node, depth)
    default:
      return [flowing(node, depth)]
  }
}

function itemLines(lines: readonly string[]): readonly string[] {
  return lines.map(asSentence)
}

function rowsOf({ children }: Table, depth: number): readonly string[] {
  return children.map((row) => {
    const cells = row.children.map((cell) => flowing(cell, depth + 2)).filter((cell) => cell !== '')
    return asSentence(cells.join(', '))
  })
}

function flowing(node: Nodes, depth: number): string {
  return inlineText(node, depth).replaceAll(/\s+/g, ' ').trim()
}

function inlineText(node: Nodes, depth: number): string {
  if (depth > DEPTH_MAX) return wordsIn(node)
  switch (node.type) {
    case 'text':
      return node.value.replaceAll(STRIKE_MARK, '')
    case 'inlineCode':
      return node.value
    case 'image':
    case 'imageReference':
      return node.alt ?? ''
    case 'break':
      return ' '
    case 'html':
      return /^<br\b/i.test(node.value) ? ' ' : ''
    default:
      return 'children' in node ? node.children.map((child) => inlineText(child, depth + 1)).join('') : ''
  }
}

function markupWords(markup: string): string {
  if (UNSHOWN.test(markup)) return ''
  return markup.replaceAll(TAG, ' ').replaceAll(/\s+/g, ' ').trim()
}

/** A loop, because deep nesting would overflow the stack. */
function wordsIn(node: Nodes): string {
  const words: string[] = []
  const left: Nodes[] = [node]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next.type === 'text' || next.type === 'inlineCode') words.push(next.value)
    else if ('children' in next) left.push(...next.children.toReversed())
  }
  return words.join(' ').replaceAll(/\s+/g, ' ').trim()
}

function asSentence(line: string): string {
  return line === '' || SENTENCE_END.test(line) ? line : `${line}.`
}
