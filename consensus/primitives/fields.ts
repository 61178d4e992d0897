/** Members of a JSON object, unchecked. */
export type Fields = Readonly<Record<string, unknown>>

/** The value if it is a JSON object, else null. */
export function objectOf(value: unknown): Fields | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : null
}

/** The members of a JSON object; empty for any other value. */
export function fieldsOf(value: unknown): Fields {
  return objectOf(value) ?? {}
}
