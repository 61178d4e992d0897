/** A postcode of the United Kingdom: "BS1 5TY". */
const POSTCODE = String.raw`[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}`
/** A tax number, an IBAN or the like: a country code, then mostly digits. */
const ID = String.raw`[A-Z]{2,4}[A-Z\d.-]{0,4}\d{6,14}[A-Z\d]{0,3}|[A-Z]{2}\d{2}(?: [A-Z\d]{4}){3,7}(?: [A-Z\d]{1,4})?|[A-Z]{2,3}[ -](?:\d{2,4}[ .]){2,3}\d{2,4}`
const CODE = new RegExp(`(?<![\\p{L}\\p{N}])(?:${POSTCODE}|${ID})(?![\\p{L}\\p{N}])`, 'gu')

/** Codes are not names. Offsets in the text stay the same. */
export function withoutCodes(text: string): string {
  return text.replaceAll(CODE, (code) => ','.padEnd(code.length))
}
