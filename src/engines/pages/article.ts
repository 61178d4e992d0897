import { Readability } from '@mozilla/readability'
import type { Article, PageBody } from '../../../marketplace/ports/page-tasks.ts'
import { EngineRefusal } from '../refusal.ts'
import { decodePage } from './charset.ts'
import { type CleanPage, cleanPage } from './clean-page.ts'
import { asCodeBlock, toMarkdown } from './markdown.ts'
import { type BodyKind, bodyKind } from './media-type.ts'
import { countWords, cutText, isoDate, oneLine, visible } from './text.ts'
import { pruneTree, textOf, treeOf } from './tree.ts'

/** Longest text and longest markdown of a result. */
const TEXT_CHARS_MAX = 100_000
const TITLE_CHARS_MAX = 300
const EXCERPT_CHARS_MAX = 500
const BYLINE_CHARS_MAX = 200
/** Shorter main content is distrusted, and the whole page is used. */
const CONTENT_CHARS_MIN = 250
/** The text is cut before it becomes markdown, which adds characters. */
const TREE_LIMITS = { charsMax: TEXT_CHARS_MAX, elementsMax: 20_000 }
/** Longest text in a code block. The fence around it must fit too. */
const CODE_CHARS_MAX = TEXT_CHARS_MAX - 2_000

/** The main content of HTML, any other text as it is. Throws a refusal if the body is not text. */
export function readArticle(body: PageBody): Article {
  const kind = bodyKind(body)
  if (kind === null) throw new EngineRefusal(`${body.mediaType || 'a body without a type'} is no text`)
  const { text, ...read } = decodePage(body)
  const page = kind === 'html' ? readPage(text, body.url) : readPlain(text, kind)
  return { ...page, ...read }
}

type Page = Omit<Article, 'charset' | 'charsetFrom'>

function readPlain(whole: string, kind: BodyKind): Page {
  const text = visible(whole).trim()
  const language = kind === 'text' ? '' : kind
  return {
    title: null,
    lang: null,
    byline: null,
    excerpt: null,
    publishedAt: null,
    text: cutText(text, TEXT_CHARS_MAX),
    markdown: text === '' ? '' : cutText(asCodeBlock(cutText(text, CODE_CHARS_MAX), language), TEXT_CHARS_MAX),
    wordCount: countWords(text),
    truncated: text.length > CODE_CHARS_MAX,
    readability: false,
  }
}

function readPage(markup: string, url: string): Page {
  const page = cleanPage(markup, url)
  const found = mainContent(page)
  const content = found?.content ?? treeOf(page).body
  const text = found?.text ?? page.text
  const isPruned = pruneTree(content, TREE_LIMITS)
  const markdown = toMarkdown(content)
  return {
    title: oneLine(found?.title ?? page.title, TITLE_CHARS_MAX),
    lang: oneLine(found?.lang ?? page.lang, 35),
    byline: oneLine(found?.byline, BYLINE_CHARS_MAX),
    excerpt: oneLine(found?.excerpt, EXCERPT_CHARS_MAX),
    publishedAt: isoDate(found?.publishedTime),
    text: cutText(text, TEXT_CHARS_MAX),
    markdown: cutText(markdown, TEXT_CHARS_MAX),
    wordCount: countWords(text),
    truncated: page.truncated || isPruned || text.length > TEXT_CHARS_MAX || markdown.length > TEXT_CHARS_MAX,
    readability: found?.content !== undefined,
  }
}

/** What the page says about itself, with its main content if it was found. */
function mainContent(page: CleanPage) {
  const reader = new Readability<Element>(treeOf(page), {
    keepClasses: true,
    serializer: (node) => node as Element,
  })
  const found = reader.parse()
  if (found === null) return undefined
  const text = found.content ? textOf(found.content) : ''
  const isFound = text.length >= CONTENT_CHARS_MIN && found.content
  return isFound
    ? { ...found, content: found.content as Element, text }
    : { ...found, content: undefined, text: undefined }
}
