import type { Result } from '../../../consensus/primitives/result.ts'

/** A source that can be asked for one kind of data. */
export interface Provider<Query, Value> {
  /** The name in the settings, or the host. */
  readonly name: string
  /** A page where people can look up the data. */
  readonly url?: string
  /** What the operator must still configure. */
  readonly lacks?: string
  /** Attribution that the terms require beside the data. */
  readonly attribution?: string
  /**
   * `provider/not-found` and `web/refused` are answers: no other provider is asked. Any other fault counts against the
   * provider, unless its `ofQuestion` says that the query may be the cause: otherwise one caller could block a provider
   * for all. `retryAfterMs` is a pause that the provider asked for.
   */
  readonly ask: (query: Query, signal: AbortSignal) => Promise<Result<Value>>
  /** The cheapest query that shows whether the provider works. */
  readonly check: (signal: AbortSignal) => Promise<Result<unknown>>
}

/** State of a provider, for operators. */
export interface ProviderFacts {
  readonly what: string
  readonly name: string
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
