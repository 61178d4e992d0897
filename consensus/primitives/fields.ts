/** Members of a JSON object, unchecked. */
export type Fields = Readonly<Record<string, unknown>>

export function objectOf(value: unknown): Fields | null {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : null
}

export function fieldsOf(value: unknown): Fields {
  return objectOf(value) ?? {}
}
