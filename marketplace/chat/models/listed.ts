import type { ModelFacts } from './backend.ts'

/** Reports configured models that the server does not list. Null means that it has no list. */
export function listedDetail(
  models: readonly ModelFacts[],
  listed: readonly string[] | null,
): { readonly doubtful?: true; readonly detail: string } {
  const missing = models.filter(({ id }) => listed !== null && !listed.some((one) => isNameOf(one, id)))
  if (missing.length === 0) return { detail: 'answers' }
  const ids = missing.map(({ id }) => id).join(', ')
  return { doubtful: true, detail: `answers, but does not list ${ids}: is the id right?` }
}

/** Some servers list longer names than those they accept: `llama3:latest`, `models/gemini-pro`. */
function isNameOf(listed: string, id: string): boolean {
  return listed === id || listed === `${id}:latest` || listed.endsWith(`/${id}`)
}
