/** Members of a JSON object that was not checked yet. */
export type Fields = Readonly<Record<string, unknown>>

/** The object that a value is, null where it is anything else. */
export function objectOf(value: unknown): Fields | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : null
}

/** The members of a value that is an object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return objectOf(value) ?? {}
}
