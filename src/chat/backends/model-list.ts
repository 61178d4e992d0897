/** Longest list that is looked at, in bytes; gateways to many models have some hundred kilobytes. */
export const LIST_BYTES_MAX = 2 * 1_048_576

/**
 * Ids in an answer to the question for all models: `{ data: [{ id }] }`, as OpenAI has it, or just the list, as some do. Null for
 * anything else.
 */
export function idsListed(text: string): readonly string[] | null {
  const list = listIn(text)
  if (list === null) return null
  return list.flatMap((one) => {
    const id = (one as { readonly id?: unknown } | null)?.id
    return typeof id === 'string' ? [id] : []
  })
}

function listIn(text: string): readonly unknown[] | null {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return null
  }
  if (Array.isArray(answer)) return answer
  const { object, data } = (answer ?? {}) as { readonly object?: unknown; readonly data?: unknown }
  // Ollama has null where it has no model yet.
  if (data === null && object === 'list') return []
  return Array.isArray(data) ? data : null
}
