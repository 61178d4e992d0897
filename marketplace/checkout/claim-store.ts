import type { TxId } from '../../consensus/primitives/ids.ts'
import type { Claim } from './claim.ts'

/** A page of claims, newest first, and where the next page begins. */
export interface ClaimPage {
  readonly claims: readonly Claim[]
  readonly nextCursor: string | null
}

/**
 * Where claims are kept: unique per payment over all replicas of an operator. Every write is durable before its promise
 * resolves. One suite of tests is run by every implementation.
 */
export interface ClaimStore {
  get(txId: TxId): Promise<Claim | undefined>
  /** Puts a new claim; if the payment has one already, that one is returned and nothing is written. */
  claim(claim: Claim): Promise<Claim | null>
  /** Replaces a claim if it still is in the state given; false if it moved meanwhile. */
  advance(from: Claim['state'], next: Claim): Promise<boolean>
  /** Claims whose work or settlement is not over. */
  open(): Promise<readonly Claim[]>
  /** Claims by age, newest first, without their results. */
  recent(limit: number, cursor: string | null): Promise<ClaimPage>
  /** Forgets results finished before the time, and the oldest beyond a total of bytes; the claims stay. */
  pruneResults(beforeMs: number, bytesMax: number): Promise<number>
}
