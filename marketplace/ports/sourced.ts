/** Where a fact from outside the chain comes from, and how fresh it is. */
export interface Source {
  /** Name of the provider, as documents and settings call it. */
  readonly name: string
  readonly url?: string
  /** When it was asked (ISO 8601, UTC). */
  readonly fetchedAt: string
  /** Whether it is older than the provider would give it now, as that could not be asked. */
  readonly stale: boolean
  /** Words that the provider wants beside what it gives. */
  readonly attribution?: string
}

/** A fact with where it comes from. */
export interface Sourced<T> {
  readonly value: T
  readonly source: Source
}
