/** A postcode of the United Kingdom: "BS1 5TY". */
const POSTCODE = String.raw`[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}`
/** An id for taxes, an IBAN or the like: letters of a country, then mostly digits. */
const ID = String.raw`[A-Z]{2,4}[A-Z\d.-]{0,4}\d{6,14}[A-Z\d]{0,3}|[A-Z]{2}\d{2}(?: [A-Z\d]{4}){3,7}(?: [A-Z\d]{1,4})?|[A-Z]{2,3}[ -](?:\d{2,4}[ .]){2,3}\d{2,4}`
const CODE = new RegExp(`(?<![\\p{L}\\p{N}])(?:${POSTCODE}|${ID})(?![\\p{L}\\p{N}])`, 'gu')

/** A text with a comma and spaces in place of codes, which name nothing; all else stands where it stood. */
export function withoutCodes(text: string): string {
  return text.replaceAll(CODE, (code) => ','.padEnd(code.length))
}
