import { describe, expect, it } from 'vitest'
import type { PageMeta } from '../../../../../marketplace/ports/page-tasks.ts'
import { readMeta } from '../../../../../src/engines/pages/meta.ts'

const NOTHING: PageMeta = {
  title: null,
  description: null,
  canonical: null,
  siteName: null,
  ogImage: null,
  ogType: null,
  favicon: null,
  twitterCard: null,
  lang: null,
  feeds: [],
}

function metaOf(html: string, mediaType = 'text/html'): PageMeta {
  const bytes = new Uint8Array(Buffer.from(html))
  return readMeta({ bytes, mediaType, charset: 'utf-8', url: 'https://a.example/dir/page?q=1' })
}

describe('metadata of a page', () => {
  it.each<[string, string, Partial<PageMeta>]>([
    ['nothing', '', {}],
    ['no head', '<p>text', {}],
    ['a title with entities and blanks', '<title>\n A &amp; B &#x2014; C&nbsp; </title>', { title: 'A & B — C' }],
    ['the first of two titles', '<title>a</title><title>b</title>', { title: 'a' }],
    ['no title of a picture', '<svg><title>a</title></svg><title>b</title>', { title: 'b' }],
    ['Open Graph first', '<title>a</title><meta property=og:title content=b>', { title: 'b' }],
    [
      'Twitter before plain HTML',
      '<meta name=description content=a><meta name=twitter:description content=b>',
      { description: 'b' },
    ],
    [
      'Open Graph before Twitter',
      '<meta name=twitter:title content=a><meta property=og:title content=b>',
      { title: 'b' },
    ],
    ['Open Graph under the wrong attribute', '<meta name="OG:Title" content=" b ">', { title: 'b' }],
    ['the first of two', '<meta property=og:type content=a><meta property=og:type content=b>', { ogType: 'a' }],
    ['no empty one', '<meta name=description content=""><meta name=description content=b>', { description: 'b' }],
    ['relative addresses', '<meta property=og:image content="../i.png">', { ogImage: 'https://a.example/i.png' }],
    ['addresses without a scheme', '<link rel=canonical href="//b.example/x">', { canonical: 'https://b.example/x' }],
    [
      'addresses by the base, wherever that stands',
      '<link rel=canonical href=x><base href="/other/"><base href="/wrong/">',
      { canonical: 'https://a.example/other/x' },
    ],
    [
      'no base that leads elsewhere',
      '<base href="javascript:x"><link rel=canonical href=x>',
      { canonical: 'https://a.example/dir/x' },
    ],
    ['no harmful addresses', '<meta property=og:image content="javascript:alert(1)">', {}],
    ['no pictures in place of addresses', '<link rel=icon href="data:image/png;base64,AAAA">', {}],
    [
      'the address of Open Graph where no other is',
      '<meta property=og:url content="/x">',
      { canonical: 'https://a.example/x' },
    ],
    ['an icon by any of its names', '<link rel="shortcut ICON" href="/f.ico">', { favicon: 'https://a.example/f.ico' }],
    [
      'an icon before one for telephones',
      '<link rel=apple-touch-icon href=/t.png><link rel=icon href=/f.ico>',
      { favicon: 'https://a.example/f.ico' },
    ],
    ['the name of the site', '<meta name=application-name content=a>', { siteName: 'a' }],
    ['the card', '<meta name=twitter:card content=summary>', { twitterCard: 'summary' }],
    ['the language', '<html lang="de-AT"><head>', { lang: 'de-AT' }],
    ['the language of Open Graph', '<meta property=og:locale content=de_AT>', { lang: 'de_AT' }],
    ['nothing of the body', '<head></head><body><title>a</title><meta property=og:title content=b>', {}],
    ['nothing after the head', '<head></head><title>a</title>', {}],
    ['nothing that is never shown', '<template><title>a</title></template><noscript><title>b</title></noscript>', {}],
    [
      'each feed once',
      '<link rel=alternate type=application/rss+xml href=/f title=F><link rel=alternate type=application/rss+xml href=/f><link rel=alternate type=text/html href=/x><link rel="alternate stylesheet" type=text/css href=/c>',
      { feeds: [{ title: 'F', url: 'https://a.example/f', type: 'application/rss+xml' }] },
    ],
  ])('is %s', (_, html, meta) => {
    expect(metaOf(html)).toEqual({ ...NOTHING, ...meta })
  })

  it('is cut at its bounds', () => {
    const links = Array.from({ length: 30 }, (_, i) => `<link rel=alternate type=application/atom+xml href=/${i}>`)
    const meta = metaOf(
      `<title>${'\u{1f600}'.repeat(5_000)}</title><meta name=description content="${'d'.repeat(9_000)}"><link rel=canonical href="/${'x'.repeat(3_000)}">${links.join('')}`,
    )
    expect([meta.title?.length, meta.title?.isWellFormed(), meta.description?.length]).toEqual([300, true, 1_000])
    expect([meta.canonical, meta.feeds.length]).toEqual([null, 20])
  })

  it('is refused of what is no HTML', () => {
    expect(() => metaOf('{}', 'application/json')).toThrow('application/json is no HTML')
  })
})
