import type { ModelFacts } from './backend.ts'

/** What the list of a server that answers says of the models that its operator named; null is no list. */
export function listedDetail(
  models: readonly ModelFacts[],
  listed: readonly string[] | null,
): { readonly doubtful?: true; readonly detail: string } {
  const missing = models.filter(({ id }) => listed !== null && !listed.some((one) => isNameOf(one, id)))
  if (missing.length === 0) return { detail: 'answers' }
  const ids = missing.map(({ id }) => id).join(', ')
  return { doubtful: true, detail: `answers, but does not list ${ids}: is the id right?` }
}

/** Some list longer names than they are asked by: `llama3:latest`, `models/gemini-pro`. */
function isNameOf(listed: string, id: string): boolean {
  return listed === id || listed === `${id}:latest` || listed.endsWith(`/${id}`)
}
