const FENCE = '```'

/** Without a fence around it. Null if there is no JSON object. */
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

/** The answer of a model without the code fence around it. */
export function readUnfenced(answer: string): string {
  // No regular expression: a caller can provoke answers on which it would take too long.
  const text = answer.trim()
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE)) return text
  const inner = text.slice(FENCE.length, -FENCE.length)
  return (inner.startsWith('json') ? inner.slice('json'.length) : inner).trim()
}
