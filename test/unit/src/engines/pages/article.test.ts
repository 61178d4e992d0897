import { readFileSync } from 'node:fs'
import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import type { Article, PageBody } from '../../../../../marketplace/ports/page-tasks.ts'
import { readArticle } from '../../../../../src/engines/pages/article.ts'

const DOCUMENTS = new URL('../../../../support/pages/documents/', import.meta.url)
const URL_OF_PAGE = 'https://news.example/2026/11/a.html'

function body(content: string | Uint8Array, mediaType = 'text/html', charset: string | null = null): PageBody {
  const bytes = typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : content
  return { bytes, mediaType, charset, url: URL_OF_PAGE }
}

function markdownOf(html: string): string {
  return readArticle(body(html)).markdown
}

describe('an article', () => {
  it.each(['news', 'docs', 'start', 'forum'])('of the page "%s" is read as it was looked at', (name) => {
    const golden = JSON.parse(readFileSync(new URL(`${name}.json`, DOCUMENTS), 'utf8')) as Article
    expect(readArticle(body(readFileSync(new URL(`${name}.page`, DOCUMENTS))))).toEqual(golden)
  })

  it('has no word of hidden elements', () => {
    const { text, markdown } = readArticle(
      body(
        '<p>seen</p><p hidden>a</p><p style="color:red; display:none">b</p><p aria-hidden="true">c</p><noscript>d</noscript><template>e</template><svg><text>f</text></svg><!-- g --><script>h</script><style>i</style><textarea>j</textarea><p>\u202eseen too\u200b</p>',
      ),
    )
    expect([text, markdown]).toEqual(['seen\n\nseen too', 'seen\n\nseen too'])
  })

  it('tells that it was cut, and counts the words of the whole', () => {
    const { text, markdown, truncated, wordCount } = readArticle(body(`<p>${'one two '.repeat(30_000)}</p>`))
    expect([text.length, markdown.length <= 100_000, truncated, wordCount]).toEqual([100_000, true, true, 60_000])
  })

  it.each([
    ['application/json', '{"a": "```"}', '````json\n{"a": "```"}\n````'],
    ['application/ld+json', '[1]', '```json\n[1]\n```'],
    ['text/plain', 'a <b> c', '```\na <b> c\n```'],
    ['text/markdown', '[x](javascript:alert(1))', '```\n[x](javascript:alert(1))\n```'],
    ['application/rss+xml', '<rss/>', '```xml\n<rss/>\n```'],
    ['', 'no type', '```\nno type\n```'],
  ])('of the type "%s" is the text as it is', (mediaType, text, markdown) => {
    expect(readArticle(body(text, mediaType))).toMatchObject({ text, markdown, title: null, readability: false })
  })

  it.each(['image/png', 'image/svg+xml', 'application/pdf', 'application/octet-stream', 'video/mp4', 'text'])(
    'of the type "%s" is refused',
    (mediaType) => {
      expect(() => readArticle(body('x', mediaType))).toThrow(`${mediaType} is no text`)
    },
  )

  it('without a type is read as what it looks like', () => {
    expect(readArticle(body('<!doctype html><title>t</title><p>x', '')).title).toBe('t')
    expect(() => readArticle(body('\0\x01\x02', ''))).toThrow('a body without a type is no text')
  })
})

describe('the charset of a page', () => {
  const utf16 = (name: string, text: string): Uint8Array => iconv.encode(text, name, { addBOM: true })
  it.each<[string, Uint8Array, string | null, string, Article['charsetFrom'], string]>([
    ['a byte order mark', iconv.encode('é', 'utf-8', { addBOM: true }), 'koi8-r', 'utf-8', 'bom', 'é'],
    ['a mark of UTF-16', utf16('utf-16le', '<p>é</p>'), null, 'utf-16le', 'bom', 'é'],
    ['a mark of the other UTF-16', utf16('utf-16be', '<p>é</p>'), 'utf-8', 'utf-16be', 'bom', 'é'],
    ['the header', iconv.encode('Привет', 'koi8-r'), 'KOI8-R', 'koi8-r', 'header', 'Привет'],
    ['a header that means more', iconv.encode('€', 'windows-1252'), 'iso-8859-1', 'windows-1252', 'header', '€'],
    ['the markup', iconv.encode('<meta charset=shift_jis>日本', 'shift_jis'), null, 'shift_jis', 'markup', '日本'],
    [
      'the old markup',
      iconv.encode('<meta http-equiv=content-type content="text/html; charset=gb2312">中文', 'gbk'),
      null,
      'gbk',
      'markup',
      '中文',
    ],
    ['a markup that lies', Buffer.from('<meta charset="utf-16">é'), null, 'utf-8', 'markup', 'é'],
    ['nothing, UTF-8', Buffer.from('é'), null, 'utf-8', 'guess', 'é'],
    ['nothing, Latin 1', Buffer.from([0xe9, 0x21]), null, 'windows-1252', 'guess', 'é!'],
    ['an unknown name', Buffer.from([0xe9, 0x21]), 'x-klingon', 'windows-1252', 'guess', 'é!'],
    ['a name that is no charset', Buffer.from('6964'), 'hex', 'utf-8', 'guess', '6964'],
    ['a character that was cut', Buffer.from('é日').subarray(0, 4), null, 'utf-8', 'guess', 'é\ufffd'],
  ])('is told by %s', (_, bytes, header, charset, charsetFrom, text) => {
    expect(readArticle(body(bytes, 'text/html', header))).toMatchObject({ charset, charsetFrom, text })
  })

  it('of an XML document is told by its declaration', () => {
    const bytes = iconv.encode('<?xml version="1.0" encoding="ISO-8859-2"?><a>ł</a>', 'iso-8859-2')
    expect(readArticle(body(bytes, 'text/xml'))).toMatchObject({ charset: 'iso-8859-2', charsetFrom: 'markup' })
  })

  it('leaves no half characters and no NUL', () => {
    const { text } = readArticle(body(iconv.encode('a\ud800b\0c', 'utf-16le'), 'text/plain', 'utf-16le'))
    expect([text, text.isWellFormed()]).toEqual(['a\ufffdbc', true])
  })
})

describe('markdown of a page', () => {
  it.each([
    ['<a href="javascript:alert(1)">x</a>', 'x'],
    ['<a href=" java\nscript:alert(1)">x</a>', 'x'],
    ['<a href="&#106;avascript:alert(1)">x</a>', 'x'],
    ['<a href="data:text/html,<script>">x</a>', 'x'],
    ['<a href="vbscript:x">x</a><a href="file:///etc/passwd">y</a>', 'xy'],
    ['<base href="javascript:alert(1)//"><a href="y">x</a>', '[x](https://news.example/2026/11/y)'],
    ['<base href="//b.example/c/"><base href="//evil.example/"><a href="y">x</a>', '[x](https://b.example/c/y)'],
    ['<base href="file:///"><a href="y">x</a>', '[x](https://news.example/2026/11/y)'],
    ['[x](javascript:alert(1))', '\\[x\\](javascript:alert(1))'],
    ['&lt;javascript:alert(1)&gt;', '\\<javascript:alert(1)>'],
    ['&lt;img src=x onerror=alert(1)&gt;', '\\<img src=x onerror=alert(1)>'],
    ['<img src="javascript:x" alt="a ](b) c">', 'a \\](b) c'],
    ['<img src="/i.png" alt="](javascript:x)[y">', '![\\](javascript:x)\\[y](https://news.example/i.png)'],
    ['<a href="/a)[x](javascript:alert(1)">y</a>', '[y](https://news.example/a%29[x]%28javascript:alert%281%29)'],
    ['<a href="/a" title="&quot;)[x](javascript:alert(1))">y</a>', '[y](https://news.example/a)'],
    ['<pre><code class="language-```x">a</code></pre>', '```\na\n```'],
    ['<pre><code>```\n&lt;script&gt;</code></pre>', '````\n```\n<script>\n````'],
    ['<a href="mailto:a@b.example">m</a><a href="mailto:a@b.example?body=x)y">n</a>', '[m](mailto:a@b.example)n'],
    ['<del>a</del> <b>b</b>', '~~a~~ **b**'],
    ['<table><tr><th>a|b<th>c<tr><td>1<br>2<td>3</table>', '| a\\|b | c |\n| --- | --- |\n| 1 2 | 3 |'],
    ['<table><tr><td><table><tr><td>a</table><td><ul><li>b</ul></table>', '| a |\n| --- |\n\n- b'],
    ['<ol start=9><li>a<li>b<ul><li>c</ul></ol>', '9. a\n10. b\n    - c'],
  ])('of %s is harmless', (html, markdown) => {
    expect(markdownOf(`<p>${html}`)).toBe(markdown)
  })
})
