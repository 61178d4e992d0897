/** Longest text of a sample where others are beside it: a report has room, a file has none. */
const CHARS_MAX = 4_000
const CHARS_SHOWN = 120

/**
 * A sample whose long texts are cut, each with how long it was: for documents that show many, and for models that read every
 * letter. `GET /services/{serviceId}/example` has it whole.
 */
export function withTextsCut(value: unknown, charsMax = CHARS_MAX): unknown {
  if (typeof value === 'string')
    return value.length > charsMax ? `${value.slice(0, CHARS_SHOWN)}... (${value.length} characters)` : value
  if (Array.isArray(value)) return value.map((inner) => withTextsCut(inner, charsMax))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withTextsCut(inner, charsMax)]))
}
