import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { gfmTable } from 'micromark-extension-gfm-table'
import { EngineRefusal } from '../../engines/refusal.ts'

/** Trees of Markdown, as the parser makes them. */
type Root = ReturnType<typeof fromMarkdown>
type Content = Root['children'][number]
type Nodes = Root | Content
type Parents = Extract<Nodes, { readonly children: unknown }>
type Table = Extract<Content, { readonly type: 'table' }>

/** Longest text that is parsed: the parser takes more than twice the time for twice the text, where that was made for it. */
const TEXT_CHARS_MAX = 32_768
/** Text that stands deeper than this within blocks and marks keeps its words alone. */
const DEPTH_MAX = 64
const CODE_BLOCK = '(code block)'
/** What a heading or an entry of a list ends with, or is given. */
const SENTENCE_END = /[.!?…:;。！？]["'”’)\]]*$/u
/** Struck-out words are read like all others. */
const STRIKE_MARK = /~~/g
/** Blocks that begin so are programs, rules for looks, comments and declarations. */
const UNSHOWN = /^\s*<(?:script|style|template|[!?])/i
const TAG = /<(?:\/?[a-z]|!--)[^<>]*>/gi

/** A Markdown text as it is read out: what the marks mean is left out, and every block is a line that ends as a sentence does. */
export function plainText({ text }: { readonly text: string }): { readonly text: string } {
  if (text.length > TEXT_CHARS_MAX) throw new EngineRefusal(`the text is longer than ${TEXT_CHARS_MAX} characters`)
  const root = fromMarkdown(text, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] })
  return { text: blocksIn(root, 0).join('\n') }
}

/** Lines of the blocks within. */
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

/** Entries of lists are sentences. */
function itemLines(lines: readonly string[]): readonly string[] {
  return lines.map(asSentence)
}

function rowsOf({ children }: Table, depth: number): readonly string[] {
  return children.map((row) => {
    const cells = row.children.map((cell) => flowing(cell, depth + 2)).filter((cell) => cell !== '')
    return asSentence(cells.join(', '))
  })
}

/** Text of a block on one line. */
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

/** Words between the tags of a block of HTML: they are as much of the text as any. Not those that a page does not show. */
function markupWords(markup: string): string {
  if (UNSHOWN.test(markup)) return ''
  return markup.replaceAll(TAG, ' ').replaceAll(/\s+/g, ' ').trim()
}

/** Words anywhere within, however deep: what stands so deep would exceed the stack otherwise. */
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
