/** Headers of an answer, as the parser gives them: several of one name are a list. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

const VALUE_CHARS_MAX = 512

/** A header's value, several joined; empty where there is none. */
export function headerOf(headers: AnswerHeaders, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : (value ?? []).join(', ')
}

/** What the Content-Type header says; the header itself cut at a bound. */
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

/** A header that is sent back to the same server later; null where it is none or too long to be worth it. */
export function validatorOf(headers: AnswerHeaders, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' && value !== '' && value.length <= VALUE_CHARS_MAX && isHeaderText(value)
    ? value
    : null
}

/** Whether an answer may be shown to another caller later without asking the site again (RFC 9111). */
export function isStorable(headers: AnswerHeaders): boolean {
  const directives = headerOf(headers, 'cache-control').toLowerCase()
  return (
    !/(^|[\s,])(no-store|no-cache|private|max-age=0+)($|[\s,=])/.test(directives) &&
    headerOf(headers, 'vary').trim() !== '*'
  )
}

/** Whether a text can be the value of a header. */
export function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}
