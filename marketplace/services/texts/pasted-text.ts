/** A tag, or a border of a comment. Every part of a text is read once. */
const TAG = /<!--|-->|<(\/?)([a-z][a-z0-9]*)(?:[\s/][^<>]*)?>|<![a-z][^<>]*>/gi
/** Elements whose tags tell that a text is HTML: others, such as `List<String>`, are what the text says. */
const KNOWN =
  setOf(`a abbr address article aside b big blockquote body br button caption center code dd del details div dl dt em
  font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins label li link main mark meta nav ol option p picture
  pre script section select small source span strong style sub summary sup svg table tbody td template textarea tfoot th thead time
  title tr u ul video`)
/** Those within a sentence; all others end one. */
const INLINE = setOf('a abbr b big button code del em font i ins label mark small span strong sub sup time u')
/** Those whose text is not for readers. */
const SILENT = setOf('head iframe script select style svg template textarea')
const TAGS_MIN = 2
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}\d?));/gi
const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    ndash: '\u2013',
    mdash: '\u2014',
    hellip: '\u2026',
    lsquo: '\u2018',
    rsquo: '\u2019',
    ldquo: '\u201c',
    rdquo: '\u201d',
    bdquo: '\u201e',
    laquo: '\u00ab',
    raquo: '\u00bb',
    euro: '\u20ac',
    pound: '\u00a3',
    copy: '\u00a9',
    reg: '\u00ae',
    trade: '\u2122',
    bull: '\u2022',
    middot: '\u00b7',
    deg: '\u00b0',
    auml: '\u00e4',
    ouml: '\u00f6',
    uuml: '\u00fc',
    Auml: '\u00c4',
    Ouml: '\u00d6',
    Uuml: '\u00dc',
    szlig: '\u00df',
    eacute: '\u00e9',
    egrave: '\u00e8',
    agrave: '\u00e0',
    aacute: '\u00e1',
    oacute: '\u00f3',
    iacute: '\u00ed',
    uacute: '\u00fa',
    ntilde: '\u00f1',
    ccedil: '\u00e7',
    oslash: '\u00f8',
    aring: '\u00e5',
    aelig: '\u00e6',
    times: '\u00d7',
    frac12: '\u00bd',
  }),
)

/**
 * A text as it is read where it was pasted as HTML: without tags, scripts and comments, each block on a line of its own, entities
 * as the signs that they stand for. Any other text as it stands. Total; the work grows with the length.
 */
export function pastedText(text: string): string {
  const tags = text.includes('<') ? [...text.matchAll(TAG)] : []
  const isHtml = tags.filter(([, , name]) => name !== undefined && KNOWN.has(name.toLowerCase())).length >= TAGS_MIN
  return withoutEntities(isHtml ? withoutTags(text, tags) : text)
}

function withoutTags(text: string, tags: readonly RegExpExecArray[]): string {
  const parts: string[] = []
  /** The element, or the comment, that is passed over until it ends. */
  let silent: string | null = null
  let at = 0
  for (const tag of tags) {
    const name = (tag[2] ?? tag[0]).toLowerCase()
    if (silent === null) {
      parts.push(flowing(text.slice(at, tag.index)), INLINE.has(name) ? '' : '\n')
      if (name === '<!--' || (SILENT.has(name) && tag[1] === '')) silent = name === '<!--' ? '-->' : name
    } else if (name === silent && tag[1] !== '') silent = null
    at = tag.index + tag[0].length
  }
  if (silent === null) parts.push(flowing(text.slice(at)))
  const lines = parts.join('').split('\n')
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
}

/** In HTML a line break is a space. */
function flowing(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function withoutEntities(text: string): string {
  return text.includes('&') ? text.replaceAll(ENTITY, sign) : text
}

/** What an entity stands for; an unknown one stands for itself. */
function sign(entity: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED.get(name) ?? entity
  const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal)
  const isSign = code > 31 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isSign ? String.fromCodePoint(code) : entity
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}
