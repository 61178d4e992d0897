import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { SearchHit } from '../../ports/providers.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import { delivered, SOURCE_ENVELOPE, sourceEnvelope } from '../envelope.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-web-search' as ServiceId
const FORMAT = { requestFormat: '<query>, at most 400 characters and 50 words', example: 'post-quantum signatures' }
const QUERY_CHARS_MAX = 400
const QUERY_WORDS_MAX = 50

const HIT = Type.Object({
  title: Type.String({ maxLength: 200 }),
  url: Type.String({ pattern: '^https?://', maxLength: 2_048 }),
  snippet: Type.String({ maxLength: 500 }),
  host: Type.String({ minLength: 1, maxLength: 255 }),
  date: orNull(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}(T[0-9:.]+Z)?$' })),
  rank: Type.Integer({ minimum: 1, maximum: 10 }),
})

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  query: Type.String(),
  results: Type.Array(HIT, { maxItems: 10 }),
  provider: Type.String(),
  tookMs: Type.Integer({ minimum: 0 }),
  unknown: UNKNOWN,
})

function parse(request: string): Result<string> {
  const query = request.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  if (query === '') return unusable('the query is empty', FORMAT)
  if (query.length > QUERY_CHARS_MAX) return unusable(`the query has more than ${QUERY_CHARS_MAX} characters`, FORMAT)
  if (query.split(' ').length > QUERY_WORDS_MAX)
    return unusable(`the query has more than ${QUERY_WORDS_MAX} words`, FORMAT)
  return ok(query)
}

function ranked(hit: SearchHit, index: number) {
  const { title, url, snippet, date } = hit
  return { title, url, snippet, host: new URL(url).host, date, rank: index + 1 }
}

/** Web pages for a query. */
export const webSearch = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Web search',
  description:
    'The first ten pages of the web for a query, by the search provider that the result names: title, URL, snippet as plain text, host and date where it is known. An empty list is an answer.',
  brief: 'Searches the web and gives the first ten pages with title, URL and snippet.',
  words: 'google internet look online results find',
  capability: 'search',
  priceUsdMicros: 8_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    source: { name: 'searxng', fetchedAt: '2026-11-20T12:00:00.000Z', stale: false },
    query: 'post-quantum signatures',
    results: [
      {
        title: 'FIPS 204, Module-Lattice-Based Digital Signature Standard',
        url: 'https://csrc.nist.gov/pubs/fips/204/final',
        snippet:
          'This standard specifies ML-DSA, a set of algorithms that can be used to generate and verify signatures.',
        host: 'csrc.nist.gov',
        date: '2024-08-13',
        rank: 1,
      },
    ],
    provider: 'searxng',
    tookMs: 640,
    unknown: [],
  },
  timeoutMs: 6_000,
  resultBytesMax: 131_072,
  repeatable: true,
  requestCharsMax: 2 * QUERY_CHARS_MAX,
  parse,
  ready: ({ outside }) => outside.search.readiness(),
  resultSchema: RESULT,
  execute: async (query, context, signal) => {
    const beganMs = context.clock.now()
    const { value, source } = delivered(await context.outside.search.ask(query, signal))
    const results = value.map(ranked)
    return {
      ...sourceEnvelope(ID, source, context),
      query,
      results,
      provider: source.name,
      tookMs: Math.max(0, Math.round(context.clock.now() - beganMs)),
      unknown: results.some(({ date }) => date === null) ? ['results.date'] : [],
    }
  },
})
