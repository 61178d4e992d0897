const YEAR = /^\d{4}-/

/** RFC 3339 in UTC; null if the year does not have four digits. */
export function instantText(ms: number): string | null {
  const text = new Date(ms).toISOString()
  return YEAR.test(text) ? text : null
}
