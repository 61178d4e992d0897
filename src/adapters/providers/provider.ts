import type { Result } from '../../../consensus/primitives/result.ts'

/** A source that can be asked for one kind of data. */
export interface Provider<Query, Value> {
  /** Its name in the settings, or its host. */
  readonly name: string
  /** A page where people can look up its data. */
  readonly url?: string
  /** What the operator must still configure; absent if nothing. */
  readonly lacks?: string
  /** Attribution that its terms require beside the data. */
  readonly attribution?: string
  /**
   * Asks. `provider/not-found` and `web/refused` are answers: the provider works, and no other is asked. At any other
   * fault the next provider is tried. The breaker counts the failure, unless the fault says that the query may be the
   * cause (`ofQuestion`): otherwise one caller could block a provider for all callers. `retryAfterMs` is a pause that the
   * provider asked for.
   */
  readonly ask: (query: Query, signal: AbortSignal) => Promise<Result<Value>>
  /** The cheapest query that shows whether it works. */
  readonly check: (signal: AbortSignal) => Promise<Result<unknown>>
}

/** State of a provider, for operators. */
export interface ProviderFacts {
  readonly what: string
  readonly name: string
  /** Whether it would be asked now. */
  readonly usable: boolean
  /** The last failure; null while all is well. */
  readonly trouble: string | null
}

/** Result of checking a provider. */
export interface ProviderCheck {
  readonly what: string
  readonly name: string
  readonly ok: boolean
  /** The provider answers, but something is odd. */
  readonly doubtful?: true
  readonly detail: string
  readonly ms: number
}

/** Providers of one kind, as operators see them. */
export interface Checkable {
  readonly facts: readonly ProviderFacts[]
  /** Checks every provider by the cheapest query, whatever its breaker says. */
  readonly checkAll: () => Promise<readonly ProviderCheck[]>
}
