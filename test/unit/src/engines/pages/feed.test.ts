import { describe, expect, it } from 'vitest'
import type { FeedContent } from '../../../../../marketplace/ports/page-tasks.ts'
import { readFeed } from '../../../../../src/engines/pages/feed.ts'

function feedOf(text: string, itemsMax = 50): FeedContent {
  const bytes = new Uint8Array(Buffer.from(text))
  return readFeed({ bytes, mediaType: 'text/plain', charset: null, url: 'https://a.example/dir/feed', itemsMax })
}

function rssItem(inner: string) {
  return feedOf(`<rss version="2.0"><channel><title>t</title><item>${inner}</item></channel></rss>`).items[0]
}

// The example of https://www.rssboard.org/files/sample-rss-2.xml, shortened.
const RSS = `<?xml version="1.0"?>
<rss version="2.0">
  <channel>
    <title>Liftoff News</title>
    <link>http://liftoff.msfc.nasa.gov/</link>
    <description>Liftoff to Space Exploration.</description>
    <language>en-us</language>
    <pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate>
    <lastBuildDate>Tue, 10 Jun 2003 09:41:01 GMT</lastBuildDate>
    <item>
      <title>Star City</title>
      <link>http://liftoff.msfc.nasa.gov/news/2003/news-starcity.asp</link>
      <description>How do Americans get ready to work with Russians aboard the International Space Station? They take a crash course in culture, language and protocol at Russia's &lt;a href="http://howe.iki.rssi.ru/GCTC/gctc_e.htm"&gt;Star City&lt;/a&gt;.</description>
      <pubDate>Tue, 03 Jun 2003 09:39:21 GMT</pubDate>
      <guid>http://liftoff.msfc.nasa.gov/2003/06/03.html#item573</guid>
    </item>
  </channel>
</rss>`

// The example of RFC 4287, 1.1, shortened (https://www.rfc-editor.org/rfc/rfc4287#section-1.1).
const ATOM = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title type="text">dive into mark</title>
  <updated>2005-07-31T12:29:29Z</updated>
  <id>tag:example.org,2003:3</id>
  <link rel="alternate" type="text/html" hreflang="en" href="http://example.org/"/>
  <link rel="self" type="application/atom+xml" href="http://example.org/feed.atom"/>
  <entry>
    <title>Atom draft-07 snapshot</title>
    <link rel="enclosure" type="audio/mpeg" length="1337" href="http://example.org/audio/ph34r_my_podcast.mp3"/>
    <link rel="alternate" type="text/html" href="http://example.org/2005/04/02/atom"/>
    <id>tag:example.org,2003:3.2397</id>
    <updated>2005-07-31T12:29:29Z</updated>
    <published>2003-12-13T08:29:29-04:00</published>
    <author><name>Mark Pilgrim</name></author>
    <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p><i>[Update: The Atom draft is finished.]</i></p></div></content>
  </entry>
</feed>`

// The example of RSS 1.0, 7 (https://web.resource.org/rss/1.0/spec#s7), with a Dublin Core date.
const RDF = `<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="http://www.xml.com/xml/news.rss">
    <title>XML.com</title>
    <link>http://xml.com/pub</link>
    <description>XML.com features a rich mix of information and services for the XML community.</description>
  </channel>
  <item rdf:about="http://xml.com/pub/2000/08/09/xslt/xslt.html">
    <title>Processing Inclusions with XSLT</title>
    <link>http://xml.com/pub/2000/08/09/xslt/xslt.html</link>
    <description>Processing document inclusions with general XML tools can be problematic.</description>
    <dc:date>2000-08-09</dc:date>
  </item>
</rdf:RDF>`

// The example of https://www.jsonfeed.org/version/1.1/#a-simple-example.
const JSON_FEED = `{
  "version": "https://jsonfeed.org/version/1.1",
  "title": "My Example Feed",
  "home_page_url": "https://example.org/",
  "feed_url": "https://example.org/feed.json",
  "items": [
    {"id": "2", "content_text": "This is a second item.", "url": "https://example.org/second-item"},
    {"id": "1", "content_html": "<p>Hello, world!</p>", "url": "https://example.org/initial-post"}
  ]
}`

describe('a feed', () => {
  it('of RSS is read', () => {
    expect(feedOf(RSS)).toEqual({
      format: 'rss',
      title: 'Liftoff News',
      link: 'http://liftoff.msfc.nasa.gov/',
      language: 'en-us',
      updated: '2003-06-10T09:41:01.000Z',
      items: [
        {
          title: 'Star City',
          link: 'http://liftoff.msfc.nasa.gov/news/2003/news-starcity.asp',
          id: 'http://liftoff.msfc.nasa.gov/2003/06/03.html#item573',
          published: '2003-06-03T09:39:21.000Z',
          author: null,
          summary:
            "How do Americans get ready to work with Russians aboard the International Space Station? They take a crash course in culture, language and protocol at Russia's Star City.",
        },
      ],
      total: 1,
    })
  })

  it('of Atom is read', () => {
    expect(feedOf(ATOM)).toEqual({
      format: 'atom',
      title: 'dive into mark',
      link: 'http://example.org/',
      language: null,
      updated: '2005-07-31T12:29:29.000Z',
      items: [
        {
          title: 'Atom draft-07 snapshot',
          link: 'http://example.org/2005/04/02/atom',
          id: 'tag:example.org,2003:3.2397',
          published: '2003-12-13T12:29:29.000Z',
          author: 'Mark Pilgrim',
          summary: '[Update: The Atom draft is finished.]',
        },
      ],
      total: 1,
    })
  })

  it('of RDF is read', () => {
    expect(feedOf(RDF)).toMatchObject({
      format: 'rdf',
      title: 'XML.com',
      link: 'http://xml.com/pub',
      items: [
        {
          title: 'Processing Inclusions with XSLT',
          link: 'http://xml.com/pub/2000/08/09/xslt/xslt.html',
          id: 'http://xml.com/pub/2000/08/09/xslt/xslt.html',
          published: '2000-08-09T00:00:00.000Z',
        },
      ],
    })
  })

  it('of JSON is read', () => {
    expect(feedOf(JSON_FEED)).toMatchObject({
      format: 'json',
      title: 'My Example Feed',
      link: 'https://example.org/',
      items: [
        { id: '2', title: null, summary: 'This is a second item.', link: 'https://example.org/second-item' },
        { id: '1', summary: 'Hello, world!', link: 'https://example.org/initial-post' },
      ],
    })
  })

  it('has so many items at most, and says how many there are', () => {
    const items = '<item><title>x</title></item>'.repeat(120)
    const feed = feedOf(`<rss version="2.0"><channel>${items}</channel></rss>`, 50)
    expect([feed.items.length, feed.total]).toEqual([50, 120])
  })

  it.each([
    ['<title><![CDATA[<b>a</b> &amp; b]]></title>', { title: 'a & b' }],
    ['<title>5 &lt; 6</title>', { title: '5 < 6' }],
    [`<title>${'x'.repeat(900)}</title>`, { title: 'x'.repeat(300) }],
    [`<description>${'&lt;p&gt;y&lt;/p&gt; '.repeat(900)}</description>`, { summary: 'y '.repeat(250).trim() }],
    ['<description>&lt;script&gt;alert(1)&lt;/script&gt;z</description>', { summary: 'z' }],
    ['<link>../x</link>', { link: 'https://a.example/x' }],
    ['<link>javascript:alert(1)</link>', { link: null }],
    ['<guid>https://a.example/g</guid>', { link: 'https://a.example/g', id: 'https://a.example/g' }],
    ['<guid isPermaLink="false">https://a.example/g</guid>', { link: null, id: 'https://a.example/g' }],
    ['<pubDate>Thu, 19 Nov 2026 08:30:00 +0100</pubDate>', { published: '2026-11-19T07:30:00.000Z' }],
    ['<pubDate>19 Nov 26 08:30 EST</pubDate>', { published: '2026-11-19T13:30:00.000Z' }],
    ['<pubDate>yesterday 5</pubDate>', { published: null }],
    ['<pubDate>Thu, 99 Nov 2026 08:30:00</pubDate>', { published: null }],
    ['<author>a@b.example (A. Uthor)</author>', { author: expect.stringContaining('A. Uthor') }],
  ])('has an item with %s', (inner, item) => {
    expect(rssItem(`<title>t</title>${inner}`.replace('<title>t</title><title>', '<title>'))).toMatchObject(item)
  })

  it('of JSON with fields of other kinds is read as far as it goes', () => {
    const odd = [1, null, [], { id: 7, title: ['a'], url: {}, authors: 'x', date_published: 5, tags: 0 }, 'x']
    const feed = feedOf(JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', title: 5, items: odd }))
    expect(feed.items.length).toBeLessThanOrEqual(feed.total)
    const values = feed.items.flatMap((item) => Object.values(item))
    expect(values.filter((value) => value !== null && typeof value !== 'string')).toEqual([])
    expect(feed.items.map(({ published }) => published)).toEqual(feed.items.map(() => null))
  })

  it.each([
    ['text', 'this is no feed'],
    ['{"version": "1"}', 'this is no feed'],
    ['<html><body>x', 'this is a page, and no feed'],
    [
      '<!doctype html><link rel=alternate type=application/rss+xml href=/f.xml>',
      'this is a page; its feed is https://a.example/f.xml',
    ],
  ])('is not %s', (text, reason) => {
    expect(() => feedOf(text)).toThrow(reason)
  })
})
