const YEAR = /^\d{4}-/

/** A moment as RFC 3339 writes it in UTC, which has four digits for the year; null for one that needs more. */
export function instantText(ms: number): string | null {
  const text = new Date(ms).toISOString()
  return YEAR.test(text) ? text : null
}
