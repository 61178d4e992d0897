const FENCE = '```'

/** The JSON object that a model answered with, null where it answered with something else. A fence around it is taken off. */
export function readJsonAnswer(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(unfenced(text.trim()))
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null
  } catch {
    return null
  }
}

/** By hand: callers can make a model answer what no regular expression gets through. */
function unfenced(text: string): string {
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE)) return text
  const inner = text.slice(FENCE.length, -FENCE.length)
  return inner.startsWith('json') ? inner.slice('json'.length) : inner
}
