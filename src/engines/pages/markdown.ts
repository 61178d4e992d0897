/// <reference path="./turndown.d.mts" />

import TurndownService from 'turndown'

/** Elements that do not fit in a Markdown cell. A table with one of them is layout. */
const NO_CELLS = 'table, ul, ol, pre, blockquote, h1, h2, h3, h4, h5, h6, hr'

interface TableFacts {
  readonly isLayout: boolean
  readonly firstRow: Element | null
}

/**
 * Markdown (CommonMark with tables and strikethrough) of a cleaned tree. It contains no raw markup: brackets of the
 * text are escaped, and links are web or mail addresses.
 */
export function toMarkdown(root: Element): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    hr: '---',
    bulletListMarker: '-',
    codeBlockStyle: 'fenced',
    emDelimiter: '*',
  })
  const escapeMarks = service.escape.bind(service)
  service.escape = (text) => escapeMarks(text).replaceAll('<', '\\<')
  service.addRule('strikethrough', { filter: ['del', 's', 'strike'], replacement: (content) => `~~${content}~~` })
  addImages(service)
  addItems(service)
  addTables(service)
  return service.turndown(root).trim()
}

/** Alt texts are untrusted: escaped, they cannot end the image and begin other markup. */
function addImages(service: TurndownService): void {
  service.addRule('image', {
    filter: 'img',
    replacement: (_, node) => {
      const alt = service.escape((node.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim())
      const src = node.getAttribute('src')
      return src === null ? alt : `![${alt}](${escapeUrl(src)})`
    },
  })
  service.addRule('link', {
    filter: 'a',
    replacement: (content, node) => {
      const href = node.getAttribute('href')
      const words = content.replace(/\s*\n\s*/g, ' ').trim()
      return href === null || words === '' ? content : `[${words}](${escapeUrl(href)})`
    },
  })
}

function escapeUrl(url: string): string {
  return url.replace(/[()<>\\\s]/g, (character) =>
    encodeURIComponent(character).replace('(', '%28').replace(')', '%29'),
  )
}

/** Items are counted as they come. Searching each one among its siblings would take quadratic time. */
function addItems(service: TurndownService): void {
  const counts = new WeakMap<Element, number>()
  service.addRule('listItem', {
    filter: 'li',
    replacement: (content, node) => {
      const list = node.parentElement
      let mark = '-'
      if (list !== null && list.nodeName === 'OL') {
        const number = counts.get(list) ?? Number(list.getAttribute('start') ?? 1)
        counts.set(list, number + 1)
        mark = `${number}.`
      }
      const indent = ' '.repeat(mark.length + 1)
      return `${mark} ${content.trim().replace(/\n(?=[^\n])/g, `\n${indent}`)}\n`
    },
  })
}

function addTables(service: TurndownService): void {
  const known = new WeakMap<Element, TableFacts>()
  const factsOf = (node: Element): TableFacts => {
    const table = node.closest('table')
    if (table === null) return { isLayout: true, firstRow: null }
    const facts = known.get(table) ?? {
      isLayout: table.querySelector(NO_CELLS) !== null,
      firstRow: table.querySelector('tr'),
    }
    known.set(table, facts)
    return facts
  }
  service.addRule('cell', {
    filter: ['td', 'th'],
    replacement: (content, node) => {
      if (factsOf(node).isLayout) return `\n\n${content.trim()}\n\n`
      return ` ${content
        .trim()
        .replace(/\s*\n\s*/g, ' ')
        .replaceAll('|', '\\|')} |`
    },
  })
  service.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => {
      const { isLayout, firstRow } = factsOf(node)
      if (isLayout) return content
      const rule = node === firstRow ? `\n|${' --- |'.repeat(node.childElementCount)}` : ''
      return `\n|${content}${rule}`
    },
  })
  service.addRule('rows', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content })
  service.addRule('table', {
    filter: 'table',
    replacement: (content, node) => {
      const { isLayout } = factsOf(node)
      return isLayout ? `\n\n${content.trim()}\n\n` : `\n\n${content.replace(/\n+/g, '\n').trim()}\n\n`
    },
  })
}

/** No content can end the block. */
export function asCodeBlock(text: string, language: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}
