/** Longest text of a sample in a document of many samples: enough for a report, too short for a file. */
const CHARS_MAX = 4_000
const CHARS_SHOWN = 120

/** Cuts the long texts of a sample, for documents with many samples and for models that read every letter. */
export function withTextsCut(value: unknown, charsMax = CHARS_MAX): unknown {
  if (typeof value === 'string')
    return value.length > charsMax ? `${value.slice(0, CHARS_SHOWN)}... (${value.length} characters)` : value
  if (Array.isArray(value)) return value.map((inner) => withTextsCut(inner, charsMax))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withTextsCut(inner, charsMax)]))
}
