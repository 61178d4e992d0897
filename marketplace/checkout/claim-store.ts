/** What a store looks at in the claims that it keeps; the rest is the claims' own. */
export interface StoredClaim {
  readonly state: string
  readonly claimedAtMs: number
  /** Text that was bought, in the states that have one; null once its keeping time is over, and in listings. */
  readonly result?: string | null
  /** When the work was over, in every state that has a result. */
  readonly finishedAtMs?: number
}

/** A kind of claims: how they are named, and which of them are not over. */
export interface ClaimKind<C extends StoredClaim> {
  /** Word that tells kinds apart where several are kept side by side. */
  readonly name: 'native' | 'stable'
  /** Id of the payment: 64 lower-case hex digits, one per payment for ever. */
  readonly idOf: (claim: C) => string
  /** Whether work or settlement is still to be done. */
  readonly isOpen: (claim: C) => boolean
}

/** A page of claims, newest first, and where the next page begins. */
export interface ClaimPage<C extends StoredClaim> {
  readonly claims: readonly C[]
  readonly nextCursor: string | null
}

/**
 * Where claims are kept: unique per payment over all replicas of an operator. Every write is durable before its promise
 * resolves. One suite of tests is run by every implementation.
 */
export interface ClaimStore<C extends StoredClaim> {
  get(id: string): Promise<C | undefined>
  /** Puts a new claim; if the payment has one already, that one is returned and nothing is written. */
  claim(claim: C): Promise<C | null>
  /** Replaces a claim if it still is in the state given and nobody else has taken it up; false if it moved meanwhile. */
  advance(from: C['state'], next: C): Promise<boolean>
  /** Takes a claim away if it still is in the state given: its payment was not used, and may be offered again. */
  release(from: C['state'], id: string): Promise<boolean>
  /**
   * Claims whose work or settlement is not over and that this replica is to see to: its own, and from now on those of a
   * replica that died. A claim that another living replica works on is not among them.
   */
  open(): Promise<readonly C[]>
  /** Claims by age, newest first, without their results. */
  recent(limit: number, cursor: string | null): Promise<ClaimPage<C>>
  /** Forgets results finished before the time, and the oldest beyond a total of bytes; the claims stay. */
  pruneResults(beforeMs: number, bytesMax: number): Promise<number>
}
