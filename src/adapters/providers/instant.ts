const YEAR = /^\d{4}-/

/** A moment in RFC 3339 form, in UTC; null if its year does not have four digits. */
export function instantText(ms: number): string | null {
  const text = new Date(ms).toISOString()
  return YEAR.test(text) ? text : null
}
