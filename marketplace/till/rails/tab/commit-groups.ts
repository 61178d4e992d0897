import type { Clock, Timers } from '../../../../consensus/chain/ports.ts'
import { ClaimsAway } from '../../claim-store.ts'
import { Gathered } from '../../gathered.ts'
import type { AnsweredTabRow, EndedTabCall, SealCall, TabStore } from './tab-store.ts'

/** How long a group is tried again while the store is away, and the pause between two tries. */
const TRY_MS = 30_000
const RETRY_MS = 250

/** What groups are committed with. */
export interface CommitParts {
  readonly store: Pick<TabStore, 'commit'>
  readonly seal: SealCall
  readonly clock: Clock
  readonly timers: Timers
  /** Whether nothing may be written any more. */
  readonly isAbandoned: () => boolean
}

/** Writes the ends of calls in groups, so that a busy node writes seldom. */
export class CommitGroups {
  readonly #parts: CommitParts
  readonly #groups = new Gathered((ended: readonly EndedTabCall[]) => this.#commit(ended))

  constructor(parts: CommitParts) {
    this.#parts = parts
  }

  /** Resolves with the answer once it is on disk; with null if the call is with another replica by now. Throws {@link ClaimsAway} if the store stays away. */
  add(ended: EndedTabCall): Promise<AnsweredTabRow | null> {
    return this.#groups.ask('', ended)
  }

  /** Finished work must not be lost because the store is away for a moment. */
  async #commit(ended: readonly EndedTabCall[]): Promise<readonly (AnsweredTabRow | null)[]> {
    const { store, seal, clock, timers, isAbandoned } = this.#parts
    const untilMs = clock.now() + TRY_MS
    for (;;) {
      try {
        return await store.commit(ended, seal)
      } catch (error) {
        if (!(error instanceof ClaimsAway) || clock.now() >= untilMs || isAbandoned()) throw error
        await new Promise<void>((resolve) => timers.after(RETRY_MS, resolve))
      }
    }
  }
}
