import type { Clock, Timers } from '../../../../consensus/chain/ports.ts'
import { ClaimsAway } from '../../claim-store.ts'
import type { AnsweredTabRow, EndedTabCall, SealCall, TabStore } from './tab-store.ts'

/** Most calls of one group. */
export const GROUP_MAX = 256
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

interface Waiting {
  readonly ended: EndedTabCall
  readonly resolve: (answered: AnsweredTabRow | null) => void
  readonly reject: (error: unknown) => void
}

/**
 * Writes the ends of calls in groups. No timer gathers them: the next group leaves when the last is on disk, so a lone call waits for
 * nothing, and a busy node writes seldom.
 */
export class CommitGroups {
  readonly #parts: CommitParts
  #waiting: Waiting[] = []
  #isWriting = false

  constructor(parts: CommitParts) {
    this.#parts = parts
  }

  /** Resolves with the answer once it is on disk; with null if the call is with another replica by now. Throws {@link ClaimsAway} if the store stays away. */
  add(ended: EndedTabCall): Promise<AnsweredTabRow | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ended, resolve, reject })
      if (!this.#isWriting) void this.#write()
    })
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    // Calls that end in this turn of the event loop belong to the first group.
    await null
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, GROUP_MAX)
      try {
        const answers = await this.#commit(group.map(({ ended }) => ended))
        for (const [i, { resolve }] of group.entries()) resolve(answers[i] ?? null)
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.#isWriting = false
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
