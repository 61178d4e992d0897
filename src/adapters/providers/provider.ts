import type { Result } from '../../../consensus/primitives/result.ts'

/** Somebody who can be asked for one kind of thing. */
export interface Provider<Query, Value> {
  /** As settings call it. */
  readonly name: string
  /** Where what it says can be looked up by people. */
  readonly url?: string
  /** What the operator has still to set for it; absent: nothing. */
  readonly lacks?: string
  /** Words that it wants beside what it gives. */
  readonly attribution?: string
  /**
   * Asks. Faults `provider/not-found` and `web/refused` are answers: the provider works, and another is not asked. With every
   * other fault the next is tried, and the breaker counts, unless the fault's detail says that the question may be the reason
   * (`ofQuestion`): callers could else have a provider left alone for everybody. `retryAfterMs` is a pause that it asked for.
   */
  readonly ask: (query: Query, signal: AbortSignal) => Promise<Result<Value>>
  /** The cheapest question that shows whether it can be asked. */
  readonly check: (signal: AbortSignal) => Promise<Result<unknown>>
}

/** How a provider stands, for operators. */
export interface ProviderFacts {
  readonly what: string
  readonly name: string
  /** Whether it would be asked now. */
  readonly usable: boolean
  /** What went wrong last; null while all is well. */
  readonly trouble: string | null
}

/** What came of the check of a provider. */
export interface ProviderCheck {
  readonly what: string
  readonly name: string
  readonly ok: boolean
  /** Whether it answers, and something is odd all the same. */
  readonly doubtful?: true
  readonly detail: string
  readonly ms: number
}

/** Providers of one kind, as operators see them. */
export interface Checkable {
  readonly facts: readonly ProviderFacts[]
  /** Asks every one of them the cheapest question, whatever its breaker says. */
  readonly checkAll: () => Promise<readonly ProviderCheck[]>
}
