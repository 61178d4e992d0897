/** Whether something can be delivered at present: by which engine, or why not and which settings are missing. */
export type Readiness =
  | { readonly available: true; readonly engine: string }
  | { readonly available: false; readonly reason: string; readonly requires: readonly string[] }

/** The operator has not configured it. */
export function notConfigured(what: string, ...requires: readonly string[]): Readiness {
  return { available: false, reason: `${what} is not configured`, requires }
}

/** Null means not checked yet. Many troubles already begin with the name. */
export function troubleOf(name: string, trouble: string | null): string {
  if (trouble === null) return `${name}: not checked yet`
  return trouble.startsWith(`${name} `) ? trouble : `${name}: ${trouble}`
}

/** For what is configured, but cannot be used at the moment. */
export function notNow(reason: string): Readiness {
  return { available: false, reason, requires: [] }
}
