import fc from 'fast-check'
import { Compile } from 'typebox/compile'
import { expect, it } from 'vitest'
import type { Engines } from '../../marketplace/ports/engines.ts'
import { runService } from '../../marketplace/till/workshop.ts'
import { runEngine } from '../../src/workers/engine-worker.ts'
import { FakeWeb } from '../support/fake-web.ts'
import { outsideOf } from '../support/outside.ts'
import { emptyServiceChain } from '../support/service-chain.ts'
import { serviceNamed } from '../support/service-results.ts'

const ADDRESS = 'https://a.example/page'

/** Runs the engines on this thread: the test is about their results, not about processes. */
const engines = {
  run: async (task: never, input: unknown) => {
    const outcome = await runEngine({ task, input })
    if ('refused' in outcome)
      return { ok: false, fault: { code: 'engine/refused', detail: { reason: outcome.refused } } }
    return { ok: true, value: outcome.output }
  },
} as unknown as Engines

const TAGS = [
  'p',
  'div',
  'a',
  'table',
  'tr',
  'td',
  'ul',
  'ol',
  'li',
  'pre',
  'code',
  'blockquote',
  'title',
  'meta',
  'link',
]
const FEED_TAGS = [
  'rss',
  'channel',
  'item',
  'title',
  'link',
  'description',
  'pubDate',
  'guid',
  'feed',
  'entry',
  'rdf:RDF',
]
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '&lt;',
    '&#x110000;',
    '&amp;amp;',
    '<![CDATA[',
    ']]>',
    '<!--',
    '\0',
    '\ud800',
    '\u202e',
    '`',
    '](',
    '|',
  ),
)
const attribute = fc.oneof(
  fc.constantFrom(
    'href="javascript:x"',
    'href=//b.example',
    'hidden',
    'style=display:none',
    'property=og:title',
    'name=description',
    'rel=canonical',
    'rel=alternate type=application/rss+xml',
    'isPermaLink=false',
    'version="2.0"',
    'xmlns="http://www.w3.org/2005/Atom"',
  ),
  fc.string({ maxLength: 12 }).map((value) => `content="${value}"`),
)
const piece = fc.oneof(
  text,
  fc
    .tuple(fc.constantFrom(...TAGS, ...FEED_TAGS), fc.array(attribute, { maxLength: 3 }))
    .map(([tag, attributes]) => `<${tag} ${attributes.join(' ')}>`),
  fc.constantFrom(...TAGS, ...FEED_TAGS).map((tag) => `</${tag}>`),
)
const markup = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))
const prefix = fc.constantFrom(
  '',
  '<!doctype html>',
  '<rss version="2.0"><channel>',
  '<?xml version="1.0"?><feed>',
  '{"items":',
)
const mediaType = fc.constantFrom('text/html', 'text/plain', 'application/xml', 'application/json', '', 'image/png')
const charset = fc.constantFrom('utf-8', 'utf-16le', 'shift_jis', 'x', 'gb18030')
const page = fc.record({
  body: fc.oneof(
    fc.tuple(prefix, markup).map((parts) => new Uint8Array(Buffer.from(parts.join('')))),
    fc.uint8Array({ maxLength: 200 }),
  ),
  contentType: fc.tuple(mediaType, charset).map(([type, name]) => `${type}; charset=${name}`),
  status: fc.constantFrom(200, 404),
})

it.each(['node-web-fetch', 'node-url-meta', 'node-rss-read'])(
  '%s gives what it promises for any page, or says why it cannot',
  async (serviceId) => {
    const { context } = await emptyServiceChain()
    const definition = serviceNamed(serviceId)
    const checker = Compile(definition.resultSchema)
    await fc.assert(
      fc.asyncProperty(page, async (one) => {
        const web = new FakeWeb()
        web.pages[ADDRESS] = one
        const outside = outsideOf({ web, engines })
        const result = await runService(definition, ADDRESS, { ...context, outside })
        if (!result.ok) {
          expect(result.fault.code).toBe('service/failed')
          return
        }
        const value = JSON.parse(result.value) as { readonly markdown?: string }
        expect([...checker.Errors(value)]).toEqual([])
        const { markdown = '' } = value
        // Inside code, brackets are not links.
        if (!markdown.includes('`')) expect(markdown).not.toMatch(/(?<!\\)\]\((?!https?:|mailto:)/)
      }),
      { numRuns: 300 },
    )
  },
)
