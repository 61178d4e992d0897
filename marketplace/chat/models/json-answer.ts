const FENCE = '```'

/** The JSON object that a model answered with, null where it answered with something else. A fence around it is taken off. */
export function readJsonAnswer(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(readUnfenced(text))
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null
  } catch {
    return null
  }
}

/** What a model answered without the fence around it, where there is one. */
export function readUnfenced(answer: string): string {
  // By hand: callers can make a model answer what no regular expression gets through.
  const text = answer.trim()
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE)) return text
  const inner = text.slice(FENCE.length, -FENCE.length)
  return (inner.startsWith('json') ? inner.slice('json'.length) : inner).trim()
}
