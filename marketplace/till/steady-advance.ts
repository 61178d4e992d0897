import type { Clock } from '../../consensus/chain/ports.ts'
import { type ClaimStore, ClaimsAway, type StoredClaim } from './claim-store.ts'

/** How long a move is tried where the store cannot be reached, and how often. */
const TRY_MS = 30_000
const RETRY_MS = 250

/** What waiting takes. */
export interface Waiting {
  readonly clock: Clock
  readonly pause: (ms: number) => Promise<void>
  /** Whether there is no more time to wait. */
  readonly isOver: () => boolean
}

/**
 * Moves a claim as its store does, and keeps at it while the store cannot be reached: work that is done is not done for
 * nothing. A move whose answer was lost counts as ours if the claim is exactly what was written.
 */
export async function advanceSteadily<C extends StoredClaim>(
  store: Pick<ClaimStore<C>, 'advance' | 'get'>,
  { id, from, next }: { readonly id: string; readonly from: C['state']; readonly next: C },
  { clock, pause, isOver }: Waiting,
): Promise<boolean> {
  const untilMs = clock.now() + TRY_MS
  for (let lost = false; ; lost = true) {
    try {
      if (await store.advance(from, next)) return true
      return lost && JSON.stringify(await store.get(id)) === JSON.stringify(next)
    } catch (error) {
      if (!(error instanceof ClaimsAway) || clock.now() >= untilMs || isOver()) throw error
      await pause(RETRY_MS)
    }
  }
}
