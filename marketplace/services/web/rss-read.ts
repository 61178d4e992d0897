import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import type { FeedContent, FeedItem } from '../../ports/page-tasks.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { delivered } from '../envelope.ts'
import { unknownIn } from '../figures.ts'
import { defineService } from '../service.ts'
import { bodyOf, foreignText, INSTANT, ofPage, PAGE_FIELDS, pageFields, readPage, WEB_URL } from './pages.ts'

const ID = 'node-rss-read' as ServiceId
const FORMAT = {
  requestFormat: '<absolute http(s) URL of a feed>: RSS, Atom, RDF or JSON Feed',
  example: 'https://example.com/feed.xml',
}
const REQUEST = {
  accept:
    'application/rss+xml,application/atom+xml,application/feed+json,application/rdf+xml,application/xml;q=0.9,text/xml;q=0.9,application/json;q=0.8,*/*;q=0.1',
  bytesMax: 4 * 1_024 * 1_024,
  tooLong: 'fail',
  freshMs: 300_000,
} as const
const ITEMS_MAX = 50
const HTTP_ERROR = 400

const ITEM = Type.Object({
  title: foreignText(300),
  link: orNull(WEB_URL),
  id: foreignText(2_048),
  published: orNull(INSTANT),
  author: foreignText(200),
  summary: foreignText(500),
})

const RESULT = Type.Object({
  ...PAGE_FIELDS,
  feed: Type.Object({
    title: foreignText(300),
    link: orNull(WEB_URL),
    format: Type.Unsafe<FeedContent['format']>({ type: 'string', enum: ['rss', 'atom', 'rdf', 'json'] }),
    language: foreignText(35),
    updated: orNull(INSTANT),
  }),
  items: Type.Array(ITEM, { maxItems: ITEMS_MAX }),
  total: Type.Integer({ minimum: 0 }),
  skipped: Type.Integer({ minimum: 0 }),
  unknown: UNKNOWN,
})

async function readFeed(text: string, context: ServiceContext, signal: AbortSignal) {
  const page = await readPage(text, REQUEST, context, signal)
  if (page.status >= HTTP_ERROR) throw new Error(`the address answers with status ${page.status}`)
  const input = { ...bodyOf(page), itemsMax: ITEMS_MAX }
  const { items, total, ...feed } = delivered(await context.outside.engines.run('page/feed', input, signal))
  const { title, link, language, updated } = feed
  return {
    ...pageFields(ID, 'feedsmith', page, context),
    feed,
    items: [...items],
    total,
    skipped: total - items.length,
    unknown: [...unknownIn({ title, link, language, updated }).map((name) => `feed.${name}`), ...unknownOf(items)],
  }
}

/** Fields that at least one item lacks. */
function unknownOf(items: readonly FeedItem[]): readonly string[] {
  const names = new Set(items.flatMap((item) => unknownIn({ ...item })))
  return [...names].sort().map((name) => `items.${name}`)
}

/** The first items of a feed. */
export const rssRead = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Feed reader',
  description:
    'Reads a public RSS, Atom, RDF or JSON feed: its first 50 items with title, link, id, author, date (ISO 8601) and summary of at most 500 characters, all as plain text. What is no feed is refunded.',
  brief: 'Reads a public RSS, Atom, RDF or JSON feed, up to 50 items.',
  words: 'news blog podcast articles headlines latest subscribe',
  capability: 'utility',
  priceUsdMicros: 4_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    source: {
      name: 'example.com',
      url: 'https://example.com/feed.xml',
      fetchedAt: '2026-11-20T12:00:00.000Z',
      stale: false,
    },
    engine: 'feedsmith',
    url: 'https://example.com/feed.xml',
    finalUrl: 'https://example.com/feed.xml',
    status: 200,
    fetchedAt: '2026-11-20T12:00:00.000Z',
    feed: { title: 'Example', link: 'https://example.com/', format: 'rss', language: 'en', updated: null },
    items: [
      {
        title: 'First entry',
        link: 'https://example.com/first',
        id: 'https://example.com/first',
        published: '2026-11-19T08:30:00.000Z',
        author: null,
        summary: 'What the first entry is about.',
      },
    ],
    total: 1,
    skipped: 0,
    unknown: ['feed.updated', 'items.author'],
  },
  resultBytesMax: 1_048_576,
  ...ofPage(FORMAT),
  resultSchema: RESULT,
  execute: readFeed,
})
