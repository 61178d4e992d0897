import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { delivered } from '../envelope.ts'
import { unknownIn } from '../figures.ts'
import { defineService } from '../service.ts'
import { bodyOf, foreignText, ofPage, PAGE_FIELDS, pageFields, readPage, WEB_URL } from './pages.ts'

const ID = 'node-url-meta' as ServiceId
const FORMAT = { requestFormat: '<absolute http(s) URL>', example: 'https://example.com/' }
const REQUEST = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.1',
  bytesMax: 512 * 1_024,
  tooLong: 'cut',
  until: '</head>',
  freshMs: 600_000,
} as const

const FEED = Type.Object({ title: foreignText(300), url: WEB_URL, type: Type.String({ maxLength: 40 }) })

const RESULT = Type.Object({
  ...PAGE_FIELDS,
  title: foreignText(300),
  description: foreignText(1_000),
  canonical: orNull(WEB_URL),
  siteName: foreignText(200),
  ogImage: orNull(WEB_URL),
  ogType: foreignText(200),
  favicon: orNull(WEB_URL),
  twitterCard: foreignText(200),
  lang: foreignText(35),
  feeds: Type.Array(FEED, { maxItems: 20 }),
  unknown: UNKNOWN,
})

async function readMeta(text: string, context: ServiceContext, signal: AbortSignal) {
  const page = await readPage(text, REQUEST, context, signal)
  const { feeds, ...facts } = delivered(await context.outside.engines.run('page/meta', bodyOf(page), signal))
  return { ...pageFields(ID, 'htmlparser2', page, context), ...facts, feeds: [...feeds], unknown: unknownIn(facts) }
}

/** What a page's HTML head says about it. */
export const urlMeta = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Metadata of a page',
  description:
    'What a public page says about itself: title, description, Open Graph image and type, canonical link, site name, favicon, language and feeds, with absolute URLs. Open Graph counts before Twitter before plain HTML.',
  brief: 'Reads what a page says about itself: title, description, image and links.',
  words: 'metadata preview link website og tags thumbnail',
  capability: 'utility',
  priceUsdMicros: 5_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    source: {
      name: 'example.com',
      url: 'https://example.com/',
      fetchedAt: '2026-11-20T12:00:00.000Z',
      stale: false,
    },
    engine: 'htmlparser2',
    url: 'https://example.com/',
    finalUrl: 'https://example.com/',
    status: 200,
    fetchedAt: '2026-11-20T12:00:00.000Z',
    title: 'Example Domain',
    description: null,
    canonical: null,
    siteName: null,
    ogImage: null,
    ogType: null,
    favicon: null,
    twitterCard: null,
    lang: 'en',
    feeds: [],
    unknown: ['description', 'canonical', 'siteName', 'ogImage', 'ogType', 'favicon', 'twitterCard'],
  },
  resultBytesMax: 131_072,
  ...ofPage(FORMAT),
  resultSchema: RESULT,
  execute: readMeta,
})
