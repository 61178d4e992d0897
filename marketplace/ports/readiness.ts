/** Whether something can be delivered right now, by what, or why not and which settings would change that. */
export type Readiness =
  | { readonly available: true; readonly engine: string }
  | { readonly available: false; readonly reason: string; readonly requires: readonly string[] }

/** What is not there because the operator did not set it up. */
export function notConfigured(what: string, ...requires: readonly string[]): Readiness {
  return { available: false, reason: `${what} is not configured`, requires }
}

/** A provider, backend or the like with its trouble, whose text mostly begins with the name already. */
export function troubleOf(name: string, trouble: string | null): string {
  if (trouble === null) return `${name}: not checked yet`
  return trouble.startsWith(`${name} `) ? trouble : `${name}: ${trouble}`
}

/** What is set up, and cannot be used at the moment. */
export function notNow(reason: string): Readiness {
  return { available: false, reason, requires: [] }
}
