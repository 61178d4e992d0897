import { type AnyFeed, type AtomFeed, type JsonFeed, parseFeed, type RdfFeed, type RssFeed } from 'feedsmith'
import { Parser } from 'htmlparser2'
import type { FeedContent, FeedItem, PageBody } from '../../../marketplace/ports/page-tasks.ts'
import { EngineRefusal } from '../refusal.ts'
import { decodePage } from './charset.ts'
import { readMeta } from './meta.ts'
import { cutText, isoDate, oneLine, webUrl } from './text.ts'
import { TextWriter } from './text-writer.ts'

const FEED_LIMITS = { title: 300, author: 200, id: 2_048, summary: 500 }
/** Characters of markup that are read for one field. Later ones would seldom fit. */
const MARKUP_CHARS_MAX = 20_000
/** Characters in which a document is recognised as HTML. */
const HEAD_CHARS = 4_096

/** Reads RSS, Atom, RDF or JSON Feed. Refuses other documents. If the document is a page, the refusal names up to two of its feeds. */
export function readFeed(body: PageBody & { readonly itemsMax: number }): FeedContent {
  const { text } = decodePage(body)
  const parsed = parsedFeed(text, body)
  const all = itemsOf(parsed, body.url)
  const items = all.slice(0, body.itemsMax).map((item) => item())
  return { ...channelOf(parsed, body.url), items, total: all.length }
}

type Parsed = AnyFeed<string>

function parsedFeed(text: string, body: PageBody): Parsed {
  try {
    return parseFeed(text.trimStart()) as Parsed
  } catch {
    throw new EngineRefusal(whyNot(text, body))
  }
}

function whyNot(text: string, body: PageBody): string {
  if (!/<(!doctype\s+html|html)[\s>]/i.test(text.slice(0, HEAD_CHARS))) return 'this is no feed'
  const { feeds } = readMeta({ ...body, mediaType: 'text/html' })
  const urls = feeds.slice(0, 2).map(({ url }) => url)
  return urls.length === 0 ? 'this is a page, and no feed' : `this is a page; its feed is ${urls.join(' or ')}`
}

function channelOf(parsed: Parsed, base: string): Omit<FeedContent, 'items' | 'total'> {
  const { title, link, language, updated } = channelFacts(parsed)
  return {
    format: parsed.format,
    title: oneLine(plain(title), FEED_LIMITS.title),
    link: webUrl(link, base),
    language: oneLine(textIn(language), 35),
    updated: isoDate(updated),
  }
}

interface ChannelFacts {
  readonly title: unknown
  readonly link: unknown
  readonly language: unknown
  readonly updated: unknown
}

function channelFacts({ format, feed }: Parsed): ChannelFacts {
  if (format === 'json') {
    return { title: feed.title, link: feed.home_page_url, language: feed.language, updated: undefined }
  }
  if (format === 'atom') {
    const { title, links, xml, updated } = feed
    return { title: title?.value, link: atomLink(links), language: xml?.lang, updated }
  }
  const dc = feed.dc
  const dates = format === 'rss' ? (feed.lastBuildDate ?? feed.pubDate) : undefined
  const language = format === 'rss' ? feed.language : undefined
  return {
    title: feed.title,
    link: feed.link,
    language: language ?? dc?.languages?.[0],
    updated: dates ?? dc?.dates?.[0] ?? feed.atom?.updated,
  }
}

/** The items are read on demand, because a feed may have thousands. */
function itemsOf({ format, feed }: Parsed, base: string): readonly (() => FeedItem)[] {
  if (format === 'json') return listOf(feed.items).map((item) => () => jsonItem(item, base))
  if (format === 'atom') return listOf(feed.entries).map((entry) => () => atomItem(entry, base))
  if (format === 'rdf') return listOf(feed.items).map((item) => () => rdfItem(item, base))
  return listOf(feed.items).map((item) => () => rssItem(item, base))
}

function rssItem(item: RssFeed.Item<string>, base: string): FeedItem {
  const { guid, dc, authors, content, atom } = item
  const permalink = guid?.isPermaLink === false ? undefined : guid?.value
  return {
    title: oneLine(plain(item.title), FEED_LIMITS.title),
    link: webUrl(item.link, base) ?? webUrl(atomLink(atom?.links), base) ?? absolute(permalink, base),
    id: oneLine(textIn(guid?.value), FEED_LIMITS.id),
    published: isoDate(item.pubDate) ?? isoDate(dc?.dates?.[0]) ?? isoDate(atom?.published),
    author: authorOf(dc?.creators?.[0] ?? authors?.[0]?.name ?? authors?.[0]?.email ?? item.itunes?.author),
    summary: summaryOf(item.description ?? content?.encoded),
  }
}

function rdfItem(item: RdfFeed.Item<string>, base: string): FeedItem {
  const { dc, rdf, content } = item
  return {
    title: oneLine(plain(item.title), FEED_LIMITS.title),
    link: webUrl(item.link, base),
    id: oneLine(textIn(rdf?.about), FEED_LIMITS.id),
    published: isoDate(dc?.dates?.[0]),
    author: authorOf(dc?.creators?.[0]),
    summary: summaryOf(item.description ?? content?.encoded),
  }
}

function atomItem(entry: AtomFeed.Entry<string>, base: string): FeedItem {
  return {
    title: oneLine(plain(entry.title?.value), FEED_LIMITS.title),
    link: webUrl(atomLink(entry.links), base),
    id: oneLine(textIn(entry.id), FEED_LIMITS.id),
    published: isoDate(entry.published) ?? isoDate(entry.updated),
    author: authorOf(entry.authors?.[0]?.name),
    summary: summaryOf(entry.summary?.value ?? entry.content?.value),
  }
}

function jsonItem(item: JsonFeed.Item<string>, base: string): FeedItem {
  const text = typeof item.content_text === 'string' ? item.content_text : undefined
  const summary = typeof item.summary === 'string' ? item.summary : text
  return {
    title: oneLine(textIn(item.title), FEED_LIMITS.title),
    link: webUrl(item.url, base) ?? webUrl(item.external_url, base),
    id: oneLine(textIn(item.id), FEED_LIMITS.id),
    published: isoDate(item.date_published) ?? isoDate(item.date_modified),
    author: authorOf(item.authors?.[0]?.name),
    // `summary` and `content_text` are text by definition (JSON Feed 1.1), even if they look like markup.
    summary: summary === undefined ? summaryOf(item.content_html) : oneLine(summary, FEED_LIMITS.summary),
  }
}

/** A missing relation means `alternate` (RFC 4287, 4.2.7.2). */
function atomLink(links: unknown): unknown {
  const list = listOf(links as readonly { readonly href?: unknown; readonly rel?: unknown }[])
  return list.find(({ rel }) => rel === undefined || rel === 'alternate')?.href
}

/** An id may look like a path. */
function absolute(text: unknown, base: string): string | null {
  return typeof text === 'string' && /^https?:\/\//i.test(text) ? webUrl(text, base) : null
}

function authorOf(name: unknown): string | null {
  return oneLine(plain(name), FEED_LIMITS.author)
}

function summaryOf(markup: unknown): string | null {
  return oneLine(plain(markup), FEED_LIMITS.summary)
}

/** Entities are decoded twice, because feeds escape their markup. */
function plain(markup: unknown): string | null {
  const text = textIn(markup)
  if (text === null || !/[<&]/.test(text)) return text
  const writer = new TextWriter()
  let hidden = 0
  const isHidden = (tag: string): boolean => tag === 'script' || tag === 'style'
  const parser = new Parser({
    onopentagname: (tag) => {
      if (isHidden(tag)) hidden += 1
      writer.open(tag)
    },
    onclosetag: (tag) => {
      if (isHidden(tag)) hidden -= 1
      writer.close(tag)
    },
    ontext: (words) => {
      if (hidden === 0) writer.text(words)
    },
  })
  parser.end(cutText(text, MARKUP_CHARS_MAX))
  return writer.toString()
}

function textIn(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? value : null
}

function listOf<T>(list: readonly T[] | undefined): readonly T[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'object' && one !== null) : []
}
