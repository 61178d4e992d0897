/** An HTML entity: decimal number, hexadecimal number, or name. */
export const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}\d?));/gi
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

/** Takes the groups of {@link ENTITY}; undefined for an unknown name, or a number below 32 or outside Unicode. */
export function entitySign(decimal?: string, hex?: string, name?: string): string | undefined {
  if (name !== undefined) return NAMED.get(name) ?? NAMED.get(name.toLowerCase())
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  const isSign = code > 31 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isSign ? String.fromCodePoint(code) : undefined
}
