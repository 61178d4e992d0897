/** The JSON object that a model answered with, null where it answered with something else. A fence around it is taken off. */
export function readJsonAnswer(text: string): Readonly<Record<string, unknown>> | null {
  const [, fenced] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/.exec(text) ?? []
  try {
    const value: unknown = JSON.parse(fenced ?? text)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null
  } catch {
    return null
  }
}
