/** Content type of an HTML form. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

const FIELDS_MAX = 32

/** Fields of a form by name; undefined if there are too many, or if a name comes twice. */
export function readForm(text: string): Readonly<Record<string, string>> | undefined {
  if (text.split('&', FIELDS_MAX + 1).length > FIELDS_MAX) return undefined
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(fields, name)) return undefined
    fields[name] = value
  }
  return fields
}

/** Whether a `Content-Type` header names a form. */
export function isForm(contentType: string | undefined): boolean {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() === FORM_TYPE
}
