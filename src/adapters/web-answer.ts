/** Headers of an answer as the parser gives them; repeated headers are a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

const VALUE_CHARS_MAX = 512

/** A header's value, repeated ones joined; empty if absent. */
export function headerOf(headers: AnswerHeaders, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : (value ?? []).join(', ')
}

/** The parsed Content-Type header; its text is cut at a bound. */
export function contentTypeOf(headers: AnswerHeaders): {
  readonly contentType: string
  readonly mediaType: string
  readonly charset: string | null
} {
  const value = headers['content-type']
  const contentType = ((typeof value === 'string' ? value : value?.[0]) ?? '').slice(0, VALUE_CHARS_MAX)
  const mediaType = (contentType.split(';')[0] ?? '').trim().toLowerCase()
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
  return { contentType, mediaType, charset: (quoted ?? plain)?.toLowerCase() ?? null }
}

/** A validator header, which is sent back to the same server later; null if absent or too long to keep. */
export function validatorOf(headers: AnswerHeaders, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' && value !== '' && value.length <= VALUE_CHARS_MAX && isHeaderText(value)
    ? value
    : null
}

/** Whether an answer may be shown to another caller later without asking the site again (RFC 9111). */
export function isStorable(headers: AnswerHeaders): boolean {
  const directives = headerOf(headers, 'cache-control').toLowerCase()
  if (/(^|[\s,])(no-store|no-cache|private)($|[\s,=])/.test(directives) || headerOf(headers, 'vary').trim() === '*')
    return false
  return maxAgeOf(headers) !== 0 && (directives !== '' || !/no-cache/i.test(headerOf(headers, 'pragma')))
}

/**
 * How long an answer may be shown without asking the site again, in milliseconds from its arrival; null if the site
 * leaves that to the cache (RFC 9111, 4.2.1 and 5.3).
 */
export function maxAgeOf(headers: AnswerHeaders): number | null {
  const directives = headerOf(headers, 'cache-control').toLowerCase()
  const [, seconds] =
    /(?:^|[\s,])s-maxage="?(\d+)/.exec(directives) ?? /(?:^|[\s,])max-age="?(\d+)/.exec(directives) ?? []
  if (seconds !== undefined)
    return Math.max(0, Number(seconds) - Number(/^\d+$/.exec(headerOf(headers, 'age'))?.[0] ?? 0)) * 1_000
  const expires = headerOf(headers, 'expires')
  if (expires === '') return null
  // An invalid date, often "0", means expired. The lifetime is the difference of the answer's own two dates, because
  // clocks of two machines may differ.
  const [until, sent] = [Date.parse(expires), Date.parse(headerOf(headers, 'date'))]
  return Number.isNaN(until) ? 0 : Number.isNaN(sent) ? null : Math.max(0, until - sent)
}

/** Whether a text is a valid header value. */
export function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}
