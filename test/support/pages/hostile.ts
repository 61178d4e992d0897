/** Pages of up to about 2 MB that can cost a parser seconds, its stack or its memory. The last one is empty. */
export const HOSTILE_PAGES: Readonly<Record<string, () => string>> = {
  'fifty thousand divs within each other': () => '<div>'.repeat(50_000),
  'the same, closed': () => `${'<div>'.repeat(50_000)}x${'</div>'.repeat(50_000)}`,
  'twenty thousand tables within each other': () => '<table><tr><td>'.repeat(20_000),
  'tables that only begin': () => '<table>'.repeat(100_000),
  'flat elements of 1.7 megabytes': () => '<p>a</p>'.repeat(212_500),
  'flat spans of 1.7 megabytes': () => '<b>x</b><i>y</i>'.repeat(106_000),
  'one tag with a hundred thousand attributes': () =>
    `<p ${Array.from({ length: 100_000 }, (_, i) => `a${i}=b`).join(' ')}>text</p>`,
  'an attribute of 1.7 megabytes': () => `<p class="${'x '.repeat(850_000)}">text</p>`,
  'three thousand tags with forty attributes': () =>
    `<p ${Array.from({ length: 40 }, (_, i) => `a${i}="${i}"`).join(' ')}>x</p>`.repeat(3_000),
  'entities without end': () => `<p>${'&amp;'.repeat(340_000)}</p>`,
  'entities that are not closed': () => '&'.repeat(1_700_000),
  'closing tags of nothing': () => `${'<b>'.repeat(4_000)}${'</i>'.repeat(400_000)}`,
  'paragraphs closed that never began': () => '</p>'.repeat(400_000),
  'misnested formatting': () => '<b><i></b></i>'.repeat(100_000),
  'a comment that does not end': () => `<!--${'-'.repeat(1_700_000)}`,
  comments: () => '<!---->'.repeat(240_000),
  'a tag that does not end': () => `<a ${'b '.repeat(850_000)}`,
  'less-than signs': () => '<'.repeat(1_700_000),
  'one text of two megabytes': () => 'word '.repeat(400_000),
  'one word of two megabytes': () => 'x'.repeat(2_000_000),
  'blanks of two megabytes': () => `<p>a${' '.repeat(2_000_000)}b</p>`,
  'line ends in preformatted text in quotations': () =>
    `${'<blockquote>'.repeat(250)}<pre>${'\n'.repeat(1_700_000)}</pre>`,
  'quotations of lines': () => `${'<blockquote>'.repeat(250)}${'a<br>'.repeat(90_000)}`,
  'lists within each other': () => '<ul><li>x'.repeat(20_000),
  'a list of fifty thousand items': () => `<ol>${'<li>x'.repeat(50_000)}</ol>`,
  'a table of a hundred thousand cells': () => `<table><tr>${'<td>x'.repeat(100_000)}</table>`,
  'a table with columns by the million': () => `<table>${'<tr><td colspan=1000000000>x</td>'.repeat(1_000)}</table>`,
  'lists of definitions': () => `<dl>${'<dt>a<dd>b'.repeat(60_000)}`,
  'select without end': () => '<select><option>'.repeat(60_000),
  'svg within svg': () => '<svg><g>'.repeat(60_000),
  templates: () => '<template><div>'.repeat(60_000),
  forms: () => '<form><div>'.repeat(60_000),
  links: () => '<a href="/x">y</a>'.repeat(60_000),
  'long links': () => `<a href="${'/../'.repeat(500)}">y</a>`.repeat(800),
  pictures: () => '<img src=x alt=y>'.repeat(60_000),
  heads: () => '<head><title>x</title>'.repeat(60_000),
  metas: () => '<meta name="description" content="x">'.repeat(40_000),
  bases: () => '<base href="https://x.example/">'.repeat(40_000),
  'data for machines, deep': () => `<script type="application/ld+json">${'['.repeat(60_000)}</script><p>x`,
  'data for machines, much': () => `<script type="application/ld+json">{}</script>`.repeat(30_000),
  'commas and full stops': () => `<p>${',.'.repeat(800_000)}</p>`,
  backticks: () => `<code>${'`'.repeat(800_000)}</code>`,
  'marks of markdown': () => `<p>${'*_[]`#>~|\\'.repeat(150_000)}</p>`,
  'NUL bytes': () => '\0'.repeat(1_700_000),
  'half characters': () => '\ud800'.repeat(400_000),
  nothing: () => '',
}

/** Feeds of up to about 2 MB that attack parsers of XML and JSON. The last one is empty. */
export const HOSTILE_FEEDS: Readonly<Record<string, () => string>> = {
  'a billion laughs': () =>
    `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">${Array.from(
      { length: 9 },
      (_, i) => `<!ENTITY lol${i + 1} "${`&lol${i === 0 ? '' : i};`.repeat(10)}">`,
    ).join('')}]><rss version="2.0"><channel><title>&lol9;</title><item><title>&lol9;</title></item></channel></rss>`,
  'quadratic entities': () =>
    `<!DOCTYPE a [<!ENTITY a "${'a'.repeat(100_000)}">]><rss version="2.0"><channel><title>${'&a;'.repeat(100_000)}</title></channel></rss>`,
  'an entity from a file': () =>
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss version="2.0"><channel><title>&x;</title></channel></rss>',
  'XML a hundred thousand deep': () => `<rss version="2.0"><channel>${'<a>'.repeat(100_000)}`,
  'items a hundred thousand deep': () => `<rss version="2.0"><channel>${'<item>'.repeat(100_000)}`,
  'an Atom feed a hundred thousand deep': () =>
    `<feed xmlns="http://www.w3.org/2005/Atom">${'<entry>'.repeat(100_000)}`,
  'JSON a hundred thousand deep': () => `{"version":"https://jsonfeed.org/version/1.1","items":${'['.repeat(100_000)}`,
  'JSON a hundred thousand deep, closed': () =>
    `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[{"id":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`,
  'forty thousand items': () =>
    `<rss version="2.0"><channel>${'<item><title>x</title></item>'.repeat(40_000)}</channel></rss>`,
  'half a million elements': () => `<rss version="2.0"><channel>${'<a/>'.repeat(500_000)}</channel></rss>`,
  namespaces: () =>
    `<rss version="2.0" ${Array.from({ length: 20_000 }, (_, i) => `xmlns:n${i}="u${i}"`).join(' ')}><channel><title>x</title></channel></rss>`,
  'a prototype': () =>
    '<rss version="2.0"><channel><__proto__><a>1</a></__proto__><constructor>x</constructor></channel></rss>',
  'CDATA that does not end': () => `<rss version="2.0"><channel><title><![CDATA[${'x'.repeat(1_700_000)}`,
  'a comment that does not end': () => `<rss version="2.0"><!--${'-'.repeat(1_700_000)}`,
  'a description of markup': () =>
    `<rss version="2.0"><channel><item><description>${'&lt;div&gt;'.repeat(170_000)}</description></item></channel></rss>`,
  'NUL bytes': () => `<rss version="2.0"><channel><title>${'\0'.repeat(100_000)}x</title></channel></rss>`,
  nothing: () => '',
}
