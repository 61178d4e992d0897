/** Gateways with many models send some hundred kilobytes. */
export const LIST_BYTES_MAX = 2 * 1_048_576

/** Ids of `{ data: [{ id }] }` as in OpenAI's API, or of a bare list. Null for anything else. */
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
  // Ollama sends null if it has no model yet.
  if (data === null && object === 'list') return []
  return Array.isArray(data) ? data : null
}
