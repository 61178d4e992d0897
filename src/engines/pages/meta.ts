import { Parser } from 'htmlparser2'
import type { PageBody, PageMeta } from '../../../marketplace/ports/page-tasks.ts'
import { EngineRefusal } from '../refusal.ts'
import { decodePage } from './charset.ts'
import { type Attributes, isDropped } from './clean-elements.ts'
import { bodyKind } from './media-type.ts'
import { cutText, oneLine, webUrl } from './text.ts'

const META_LIMITS = { title: 300, description: 1_000, name: 200, feeds: 20 }
const FEED_TYPES = /^application\/(rss\+xml|atom\+xml|rdf\+xml|feed\+json|json)$/
const ELEMENTS_MAX = 20_000
const DEPTH_END = 1_024
const PIECE_CHARS = 16_384
const RAW_CHARS_MAX = 4_096

/**
 * What the head of a page says about it. The first of several values counts, and Open Graph wins over Twitter and plain
 * HTML. Throws a refusal if the body is not HTML.
 */
export function readMeta(body: PageBody): PageMeta {
  if (bodyKind(body) !== 'html') throw new EngineRefusal(`${body.mediaType || 'a body without a type'} is no HTML`)
  const { text } = decodePage(body)
  const scan = new HeadScan()
  const parser = new Parser({
    onopentag: (name, attributes) => scan.open(name, attributes),
    onclosetag: (name) => scan.close(name),
    ontext: (words) => scan.text(words),
  })
  for (let at = 0; at < text.length && !scan.ended; at += PIECE_CHARS) parser.write(text.slice(at, at + PIECE_CHARS))
  parser.end()
  return metaOf(scan, body.url)
}

interface HeadLink {
  readonly rels: readonly string[]
  readonly href: string
  readonly type: string
  readonly title: string | null
}

class HeadScan {
  readonly metas = new Map<string, string>()
  readonly links: HeadLink[] = []
  base: string | null = null
  title: string | null = null
  lang: string | null = null
  ended = false
  #elements = 0
  #depth = 0
  #inTitle = false
  /** Depth of an ignored element. A picture in the head may have a title too. */
  #dropped: number | null = null

  open(name: string, attributes: Attributes): void {
    this.#elements += 1
    this.#depth += 1
    this.ended ||= name === 'body' || this.#elements > ELEMENTS_MAX || this.#depth > DEPTH_END
    if (this.ended || this.#dropped !== null) return
    if (name === 'html') this.lang ??= attributes.lang ?? null
    else if (name === 'base') this.base ??= attributes.href ?? null
    else if (name === 'title') this.#inTitle = this.title === null
    else if (name === 'meta') this.#meta(attributes)
    else if (name === 'link') this.#link(attributes)
    else if (isDropped(name, attributes)) this.#dropped = this.#depth
  }

  close(name: string): void {
    if (this.#dropped === this.#depth) this.#dropped = null
    this.#depth -= 1
    this.#inTitle = false
    this.ended ||= name === 'head'
  }

  text(words: string): void {
    if (this.#inTitle && !this.ended) this.title = cutText((this.title ?? '') + words, RAW_CHARS_MAX)
  }

  #meta({ name, property, 'http-equiv': header, content }: Attributes): void {
    const key = (property ?? name ?? header ?? '').trim().toLowerCase()
    const said = cutText(content ?? '', RAW_CHARS_MAX).trim()
    if (key !== '' && said !== '' && !this.metas.has(key)) this.metas.set(key, said)
  }

  #link({ rel, href, type, title }: Attributes): void {
    if (rel === undefined || href === undefined) return
    const rels = cutText(rel, 200).toLowerCase().split(/\s+/)
    this.links.push({ rels, href, type: (type ?? '').trim().toLowerCase(), title: title ?? null })
  }
}

function metaOf(scan: HeadScan, url: string): PageMeta {
  const base = webUrl(scan.base, url) ?? url
  const first = (...keys: readonly string[]): string | null => {
    const key = keys.find((one) => scan.metas.has(one))
    return key === undefined ? null : (scan.metas.get(key) as string)
  }
  const linked = (rel: string): string | null => {
    const urls = scan.links.filter(({ rels }) => rels.includes(rel)).map(({ href }) => webUrl(href, base))
    return urls.find((one) => one !== null) ?? null
  }
  return {
    title: oneLine(first('og:title', 'twitter:title') ?? scan.title, META_LIMITS.title),
    description: oneLine(first('og:description', 'twitter:description', 'description'), META_LIMITS.description),
    canonical: linked('canonical') ?? webUrl(first('og:url'), base),
    siteName: oneLine(first('og:site_name', 'application-name'), META_LIMITS.name),
    ogImage: webUrl(
      first('og:image', 'og:image:url', 'og:image:secure_url', 'twitter:image', 'twitter:image:src'),
      base,
    ),
    ogType: oneLine(first('og:type'), META_LIMITS.name),
    favicon: linked('icon') ?? linked('apple-touch-icon'),
    twitterCard: oneLine(first('twitter:card'), META_LIMITS.name),
    lang: oneLine(scan.lang ?? first('content-language', 'og:locale'), 35),
    feeds: feedsOf(scan.links, base),
  }
}

function feedsOf(links: readonly HeadLink[], base: string): PageMeta['feeds'] {
  const feeds: PageMeta['feeds'][number][] = []
  for (const { rels, href, type, title } of links) {
    const url = webUrl(href, base)
    const isFeed = rels.includes('alternate') && FEED_TYPES.test(type) && url !== null
    if (!isFeed || feeds.length >= META_LIMITS.feeds || feeds.some((one) => one.url === url)) continue
    feeds.push({ title: oneLine(title, META_LIMITS.title), url, type })
  }
  return feeds
}
