/** Where a fact from outside the chain comes from, and how fresh it is. */
export interface Source {
  /** Name of the provider, as in documents and settings. */
  readonly name: string
  readonly url?: string
  /** When the provider's answer came (ISO 8601, UTC). For several answers, the oldest. */
  readonly fetchedAt: string
  /** Whether the value is older than usual because the provider could not be reached. */
  readonly stale: boolean
  /** Text that the provider requires beside its data. */
  readonly attribution?: string
}

/** A fact and its source. */
export interface Sourced<T> {
  readonly value: T
  readonly source: Source
}
