/** Legal forms of several countries. */
const DOTTED = String.raw`Sp\. ?z ?o\. ?o\.|S\.A\.(?:S\.)?|S\.[rR]\.[lL]\.|S\.p\.A\.|s\.r\.o\.|a\.s\.|d\.o\.o\.|B\.V\.|N\.V\.|S\.L\.|e\.V\.|e\.K\.`
const PLAIN = 'GmbH & Co\\. KG|GmbH|AG|KG|SE|UG|Ltd\\.?|Inc\\.?|LLC|PLC|plc|Oy|AB|ApS|SARL'
/** Words of a name before its legal form. */
const NAME = String.raw`(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}\p{N}'\u2019-]{0,40}(?: (?:&|\p{Lu}[\p{L}\p{M}\p{N}'\u2019-]{0,40})){0,4}`
const COMPANY = new RegExp(`${NAME} (?:${DOTTED}|${PLAIN})(?![\\p{L}\\p{N}])`, 'gu')
const FORM = new RegExp(`(?<=[\\p{L}\\p{N}] )(?:${DOTTED})(?![\\p{L}\\p{N}])`, 'gu')

/** Linear in the length of the text. */
export function companiesIn(text: string): readonly string[] {
  return [...text.matchAll(COMPANY)].map(([name]) => name)
}

/** The full stops of legal forms look like ends of sentences. Offsets in the text stay the same. */
export function withoutDottedForms(text: string): string {
  return text.replaceAll(FORM, (form) => ' '.repeat(form.length))
}
